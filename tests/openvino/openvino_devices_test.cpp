// Devices and the doctor's report, on the fake OpenVINO and on made-up machines.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/paths.h"
#include "base/shared_library.h"
#include "base/temp_folder.h"
#include "fake/fake_openvino.h"
#include "openvino/core.h"
#include "openvino/device_problems.h"
#include "openvino/openvino.h"
#include "openvino/search.h"
#include "openvino/status.h"

namespace pteron {
namespace {

namespace fs = std::filesystem;
constexpr const char* kLibrary = PTERON_FAKE_OPENVINO;

void script(const char* text) {
  const auto library = SharedLibrary::open(kLibrary);
  ASSERT_TRUE(library.ok()) << library.error().message;
  const char* wrong = library->find<fake_script_t>("fake_script")(text);
  ASSERT_EQ(wrong, nullptr) << wrong;
}

const DeviceReport* find(const OpenvinoReport& report, const std::string& name) {
  for (const DeviceReport& device : report.devices) {
    if (device.name == name) return &device;
  }
  return nullptr;
}

bool mentions(const std::vector<std::string>& texts, std::initializer_list<const char*> parts) {
  for (const std::string& text : texts) {
    bool all = true;
    for (const char* part : parts) all = all && text.find(part) != std::string::npos;
    if (all) return true;
  }
  return false;
}

TEST(OpenvinoDevices, TellsNameCapabilitiesAndMemory) {
  script("device GPU.1 FP32,FP16,EXPORT_IMPORT A graphics card\n");
  const auto report = list_devices(kLibrary);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_TRUE(report->ok);
  EXPECT_EQ(path_from_utf8(report->library), fs::path(kLibrary));
  const DeviceReport* gpu = find(*report, "GPU.1");
  ASSERT_NE(gpu, nullptr);
  EXPECT_EQ(gpu->full_name, "A graphics card");
  EXPECT_EQ(gpu->capabilities, (std::vector<std::string>{"FP32", "FP16", "EXPORT_IMPORT"}));
  EXPECT_EQ(gpu->memory_bytes, 8589934592);
  const DeviceReport* cpu = find(*report, "CPU");
  ASSERT_NE(cpu, nullptr);
  EXPECT_EQ(cpu->memory_bytes, 0);
}

TEST(OpenvinoDevices, KeepsABrokenDevicesReasonBesideTheOthers) {
  script(
      "device GPU FP32 A graphics card\n"
      "fail ov_core_get_property -1 0 1 this CPU is on strike\n");
  const OpenvinoReport report = inspect_openvino(kLibrary);
  EXPECT_TRUE(report.ok);  // The GPU is usable.
  const DeviceReport* cpu = find(report, "CPU");
  ASSERT_NE(cpu, nullptr);
  EXPECT_NE(cpu->error.find("on strike"), std::string::npos) << cpu->error;
  EXPECT_TRUE(mentions(report.problems, {"CPU", "on strike"}));
  ASSERT_NE(find(report, "GPU"), nullptr);
  EXPECT_EQ(find(report, "GPU")->error, "");
}

TEST(OpenvinoDevices, SaysWhenNoDeviceIsUsable) {
  script("remove CPU\n");
  const OpenvinoReport report = inspect_openvino(kLibrary);
  EXPECT_FALSE(report.ok);
  EXPECT_TRUE(mentions(report.problems, {"no usable device"}));
  EXPECT_TRUE(
      mentions(report.problems, {kThisOs == Os::Windows ? "openvino_intel_cpu_plugin.dll beside"
                                                        : "libopenvino_intel_cpu_plugin.so beside",
                                 "missing or broken", "install OpenVINO anew"}));
}

TEST(OpenvinoDevices, IsNotContentWithAnInstallationThatReadsNoModel) {
  script("fail ov_core_read_model_from_memory_buffer -1 0 0 Unable to read the model\n");
  const OpenvinoReport report = inspect_openvino(kLibrary);
  EXPECT_FALSE(report.ok);
  EXPECT_TRUE(mentions(report.problems,
                       {"openvino_ir_frontend", "install OpenVINO anew", "Unable to read"}));
  ASSERT_NE(find(report, "CPU"), nullptr);
  EXPECT_EQ(find(report, "CPU")->error, "");
}

TEST(OpenvinoDevices, ReportsThatDevicesCannotBeListed) {
  script("fail ov_core_get_available_devices -1 0 0 out of order\n");
  const OpenvinoReport report = inspect_openvino(kLibrary);
  EXPECT_FALSE(report.ok);
  EXPECT_TRUE(mentions(report.problems, {"out of order"}));
  EXPECT_FALSE(list_devices(kLibrary).ok());
}

TEST(OpenvinoDevices, SpellsADevicesNameAsOpenvinoDoes) {
  EXPECT_EQ(normalize_device(" gpu.1\t"), "GPU.1");
  EXPECT_EQ(normalize_device("Cpu"), "CPU");
  EXPECT_EQ(normalize_device(" \t "), "");
}

#ifndef _WIN32  // These look for Linux's drivers.
TEST(MissingDevices, NamesEverythingThatAPlainContainerLacks) {
  const TempFolder root;
  const auto problems = explain_missing_devices({}, root.path(), false);
  EXPECT_TRUE(mentions(problems, {"no GPU", "/dev/dri", "--device", "OpenCL", "intel-opencl-icd"}));
  EXPECT_TRUE(mentions(problems, {"no NPU", "/dev/accel", "--device", "libze_loader.so.1"}));
  EXPECT_EQ(problems.size(), 2u);
}

TEST(MissingDevices, SaysNothingOfListedDevicesAndNothingWithoutAReason) {
  const TempFolder root;
  DeviceReport gpu;
  gpu.name = "GPU.0";
  fs::create_directories(root / "dev" / "accel");
  std::ofstream(root / "dev" / "accel" / "accel0");
  EXPECT_TRUE(explain_missing_devices({gpu}, root.path(), true).empty());
  // One that is listed but cannot be used counts as missing.
  gpu.error = "its plugin does not load";
  EXPECT_EQ(explain_missing_devices({gpu}, root.path(), true).size(), 1u);
}

TEST(MissingDevices, NamesANodeThatMayNotBeOpened) {
  const TempFolder root;
  fs::create_directories(root / "etc" / "OpenCL" / "vendors");
  std::ofstream(root / "etc" / "OpenCL" / "vendors" / "intel.icd");
  fs::create_directories(root / "dev" / "dri");
  EXPECT_TRUE(mentions(explain_missing_devices({}, root.path(), true), {"no renderD*"}));
  // A folder cannot be opened as a file by anyone, not even by root.
  fs::create_directories(root / "dev" / "dri" / "renderD128");
  const auto problems = explain_missing_devices({}, root.path(), true);
  EXPECT_TRUE(mentions(problems, {"no GPU", "/dev/dri/renderD128", "cannot be opened", "group"}));
}
#endif

TEST(PrintableText, IsOneLineOfUtf8WhateverComes) {
  EXPECT_EQ(printable("a\n\n  b\t"), "a b");
  EXPECT_EQ(printable("gr\xc3\xbc\xc3\x9f \xe4\xbd\xa0"), "gr\xc3\xbc\xc3\x9f \xe4\xbd\xa0");
  EXPECT_EQ(printable("\x1b[2J"), "[2J");
  EXPECT_EQ(printable("a\xff\xc3"), "a??");
  EXPECT_EQ(printable("\xc0\xaf\xed\xa0\x80\xc2\x9b"), "???????");
  EXPECT_EQ(printable("\xf5\x80\x80\x80\x7f"), "?????");
  const std::string cut = printable(std::string(999, 'x') + "\xe4\xbd\xa0");
  EXPECT_EQ(cut, std::string(999, 'x') + "...");
}

}  // namespace
}  // namespace pteron
