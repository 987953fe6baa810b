// The delegate on real versions of OpenVINO, each where the environment says that it is
// (PTERON_TEST_OPENVINO_2025_4_1 and so on), on the CPU: options in force, refusals, damaged blobs.
// The values that programs compute are tests/golden's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/paths.h"
#include "base/process.h"
#include "base/shared_library.h"
#include "openvino/library.h"
#include "openvino/needs.h"
#include "openvino/openvino.h"
#include "program/decode.h"
#include "runtime/program_maker.h"

namespace pteron {
namespace {

Program open_model(const std::string& name) {
  auto file = open_file(std::string(PTERON_TEST_DATA) + "/models/" + name + ".pte", false);
  EXPECT_TRUE(file.ok()) << file.error().message;
  auto program = decode_program(*std::move(file));
  EXPECT_TRUE(program.ok()) << program.error().message;
  return *std::move(program);
}

using Compiled = Result<std::shared_ptr<CompiledDelegate>>;

Compiled compile(const Program& program, const DelegateDef& def, OpenvinoOptions options) {
  return make_openvino_delegate(std::move(options))->compile({def, program, "forward"});
}
Compiled compile(const Program& program, OpenvinoOptions options) {
  return compile(program, program.plans.at(0).delegates.at(0), std::move(options));
}

OpenvinoOptions from(const char* place) {
  OpenvinoOptions options;
  options.library = place;
  return options;
}

std::string value_of(const std::vector<std::pair<std::string, std::string>>& pairs,
                     const std::string& key) {
  for (const auto& [name, value] : pairs) {
    if (name == key) return value;
  }
  return "(none)";
}

void expect_error(const Compiled& compiled, Code wanted, std::initializer_list<const char*> texts) {
  ASSERT_FALSE(compiled.ok());
  EXPECT_EQ(compiled.error().code, wanted) << compiled.error().message;
  for (const char* text : texts) {
    EXPECT_NE(compiled.error().message.find(text), std::string::npos) << compiled.error().message;
  }
}

TEST(RealDelegate, AnImportedBlobObeysTheOptions) {
  NEEDS("2025_4_1", place);
  const Program program = open_model("lstm_openvino");
  OpenvinoOptions options = from(place);
  options.threads = 1;
  options.hint = Hint::Throughput;
  const auto compiled = compile(program, options);
  ASSERT_TRUE(compiled.ok()) << compiled.error().message;
  const ExecutionReport report = (*compiled)->report();
  EXPECT_EQ(report.precision, "f32");
  EXPECT_EQ(report.device, "CPU");
  EXPECT_EQ(report.ran_by, "OpenVINO 2025.4.1");
  EXPECT_EQ(value_of(report.properties, "EXECUTION_MODE_HINT"), "ACCURACY");
  EXPECT_EQ(value_of(report.properties, "INFERENCE_NUM_THREADS"), "1");
  EXPECT_EQ(value_of(report.properties, "ENABLE_CPU_PINNING"), "NO");
  EXPECT_EQ(value_of(report.properties, "PERFORMANCE_HINT"), "THROUGHPUT");
  EXPECT_NE(value_of(report.properties, "EXECUTION_DEVICES").find("CPU"), std::string::npos);
  EXPECT_EQ(value_of(report.requested, "INFERENCE_PRECISION_HINT"), "f32");
}

TEST(RealDelegate, NamesAWrongPropertyAndWorksAfterwards) {
  NEEDS("2025_4_1", place);
  const Program program = open_model("pnet_openvino");
  OpenvinoOptions unknown = from(place);
  unknown.config = {{"NO_SUCH_KEY", "1"}};
  expect_error(compile(program, unknown), Code::InvalidArgument, {"NO_SUCH_KEY=1", "says"});
  OpenvinoOptions value = from(place);
  value.config = {{"INFERENCE_NUM_THREADS", "many"}};
  expect_error(compile(program, value), Code::InvalidArgument, {"INFERENCE_NUM_THREADS=many"});
  EXPECT_TRUE(compile(program, from(place)).ok());
}

TEST(RealDelegate, SaysThatADamagedBlobIsDamaged) {
  NEEDS("2025_4_1", place);
  const Program program = open_model("pnet_openvino");
  const DelegateDef whole = program.plans.at(0).delegates.at(0);
  const auto expect_damaged = [&](std::vector<std::byte> bytes) {
    DelegateDef def = whole;
    def.payload = bytes;
    expect_error(compile(program, def, from(place)), Code::Malformed, {"damaged"});
  };
  const std::vector<std::byte> good(whole.payload.begin(), whole.payload.end());
  for (const size_t percent : {0, 10, 50, 99}) {
    // Below its header it may be any device's.
    std::vector<std::byte> cut(good.begin(),
                               good.begin() + static_cast<long>(good.size() * percent / 100));
    if (cut.empty() || cut.size() >= 48) expect_damaged(cut);
  }
  for (const size_t from_end : {2, 3, 4}) {  // The end of the obscured IR's last tag.
    std::vector<std::byte> changed = good;
    changed[changed.size() - from_end] ^= std::byte{0x40};
    expect_damaged(changed);
  }
  EXPECT_TRUE(compile(program, from(place)).ok());
}

TEST(RealDelegate, NamesDevicesWhereTheOneAskedForIsNotThere) {
  NEEDS("2025_4_1", place);
  const Program program = open_model("pnet_openvino");
  OpenvinoOptions options = from(place);
  options.device = "NPU";
  expect_error(compile(program, options), Code::Missing, {"NPU", "CPU"});
}

TEST(RealDelegate, OpenVino2026RefusesOlderBlobsAndNamesBothVersions) {
  NEEDS("2026_4_1", place);
  for (const char* model : {"lstm_openvino", "pnet_openvino", "crepe_openvino"}) {
    const Program program = open_model(model);
    expect_error(compile(program, from(place)), Code::Unsupported,
                 {"before 2026", "OpenVINO 2026.4.1", "export the model again", "magic"});
  }
}

TEST(RealDelegate, AnOlderReleaseIsBlamedForOperatorsThatItLacks) {
  NEEDS("2025_1_0", place);
  const Program program = open_model("pnet_openvino");
  expect_error(compile(program, from(place)), Code::Unsupported,
               {"not by OpenVINO 2025.1.0", "export the model again"});
}

// y = relu(x), and with_input: x itself too, compiled by the OpenVINO that will run it and written
// out as ExecuTorch's exporter does.
std::string blob_of_relu(const OpenvinoLibrary& ov, bool with_input = false) {
  const std::string port = "<port id=\"0\" precision=\"FP32\"><dim>2</dim><dim>3</dim></port>";
  const std::string ir =
      "<?xml version=\"1.0\"?><net name=\"relu\" version=\"11\"><layers>"
      "<layer id=\"0\" name=\"x\" type=\"Parameter\" version=\"opset1\">"
      "<data shape=\"2,3\" element_type=\"f32\"/><output>" +
      port +
      "</output></layer>"
      "<layer id=\"1\" name=\"y\" type=\"ReLU\" version=\"opset1\"><input>" +
      port + "</input><output>" +
      "<port id=\"1\" precision=\"FP32\"><dim>2</dim><dim>3</dim></port>" +
      "</output></layer>"
      "<layer id=\"2\" name=\"z\" type=\"Result\" version=\"opset1\"><input>" +
      port + "</input></layer>" +
      (with_input ? "<layer id=\"3\" name=\"same\" type=\"Result\" version=\"opset1\"><input>" +
                        port + "</input></layer>"
                  : "") +
      "</layers><edges>" +
      (with_input ? "<edge from-layer=\"0\" from-port=\"0\" to-layer=\"3\" to-port=\"0\"/>" : "") +
      "<edge from-layer=\"0\" from-port=\"0\" to-layer=\"1\" to-port=\"0\"/>"
      "<edge from-layer=\"1\" from-port=\"1\" to-layer=\"2\" to-port=\"0\"/>"
      "</edges></net>";
  // Functions that Pteron itself does without.
  using Status = ov::ov_status_e;
  const auto library = SharedLibrary::open(path_from_utf8(ov.file()));
  EXPECT_TRUE(library.ok()) << library.error().message;
  auto* const read =
      library->find<Status(const ov::ov_core_t*, const char*, size_t, const ov::ov_tensor_t*,
                           ov::ov_model_t**)>("ov_core_read_model_from_memory_buffer");
  auto* const compile =
      library->find<Status(const ov::ov_core_t*, const ov::ov_model_t*, const char*, size_t,
                           ov::ov_compiled_model_t**, ...)>("ov_core_compile_model");
  auto* const write = library->find<Status(const ov::ov_compiled_model_t*, const char*)>(
      "ov_compiled_model_export_model");
  ov::ov_core_t* core = nullptr;
  ov::ov_model_t* model = nullptr;
  ov::ov_compiled_model_t* compiled = nullptr;
  // OpenVINO itself takes the path in the system's encoding: no letters outside ASCII here.
  const std::string path =
      testing::TempDir() + "pteron_relu_" + std::to_string(process_id()) + ".blob";
  EXPECT_EQ(ov->ov_core_create(&core), Status::Ok);
  EXPECT_EQ(read(core, ir.c_str(), ir.size(), nullptr, &model), Status::Ok);
  EXPECT_EQ(compile(core, model, "CPU", 0, &compiled), Status::Ok);
  EXPECT_EQ(write(compiled, path.c_str()), Status::Ok);
  ov->ov_compiled_model_free(compiled);
  ov->ov_model_free(model);
  ov->ov_core_free(core);
  std::ifstream file(path, std::ios::binary);
  std::string blob(std::istreambuf_iterator<char>(file), {});
  file.close();
  std::filesystem::remove(path);
  return blob;
}

// Set as the output's, one memory would be the input's too, and the model's result lost.
void expect_input_as_output(const char* place) {
  const auto loaded = load_openvino(place);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  test::PlanMaker maker;
  const ValueIndex x = maker.planned({2, 3});
  const ValueIndex y = maker.planned({2, 3});
  const ValueIndex same = maker.planned({2, 3});
  maker.call_delegate("OpenvinoBackend", {x, y, same}, blob_of_relu(**loaded, true));
  maker.inputs({x}).outputs({y, same});
  RuntimeOptions runtime;
  runtime.delegates.push_back(make_openvino_delegate(from(place)));
  const auto method = test::load_method(maker, std::move(runtime));
  ASSERT_TRUE(method.ok()) << method.error().message;
  for (const float first : {-1.0F, 1.0F, 7.0F}) {
    auto input = test::floats({2, 3}, {first, 2, -3, 4, -5, 6});
    const HostValue values[] = {input.host()};
    const auto ran = (*method)->run(values);
    ASSERT_TRUE(ran.ok()) << ran.error().message;
    EXPECT_EQ(test::output(**method), (std::vector<float>{std::max(first, 0.0F), 2, 0, 4, 0, 6}));
    EXPECT_EQ(test::output(**method, 1), input.values);
  }
}

void expect_own_blob_runs(const char* place, const char* version) {
  const auto loaded = load_openvino(place);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  test::PlanMaker maker;
  const ValueIndex x = maker.planned({2, 3});
  const ValueIndex y = maker.planned({2, 3});
  maker.call_delegate("OpenvinoBackend", {x, y}, blob_of_relu(**loaded));
  maker.inputs({x}).outputs({y});
  RuntimeOptions runtime;
  runtime.delegates.push_back(make_openvino_delegate(from(place)));
  const auto method = test::load_method(maker, std::move(runtime));
  ASSERT_TRUE(method.ok()) << method.error().message;
  auto input = test::floats({2, 3}, {-1, 2, -3, 4, -5, 6});
  const HostValue values[] = {input.host()};
  for (int i = 0; i < 3; ++i) {
    const auto ran = (*method)->run(values);
    ASSERT_TRUE(ran.ok()) << ran.error().message;
    EXPECT_EQ(test::output(**method), (std::vector<float>{0, 2, 0, 4, 0, 6}));
  }
  EXPECT_EQ((*method)->execution().at(0).ran_by, std::string("OpenVINO ") + version);
  EXPECT_EQ((*method)->execution().at(0).precision, "f32");
}

TEST(RealDelegate, RunsABlobOf2025_1OnIt) {
  NEEDS("2025_1_0", place);
  expect_own_blob_runs(place, "2025.1.0");
}

TEST(RealDelegate, RunsABlobOf2025_4OnIt) {
  NEEDS("2025_4_1", place);
  expect_own_blob_runs(place, "2025.4.1");
}

TEST(RealDelegate, RunsABlobOf2026_4OnIt) {
  NEEDS("2026_4_1", place);
  expect_own_blob_runs(place, "2026.4.1");
}

TEST(RealDelegate, GivesAnInputThatComesOutUnchangedOn2025_1) {
  NEEDS("2025_1_0", place);
  expect_input_as_output(place);
}

TEST(RealDelegate, GivesAnInputThatComesOutUnchangedOn2025_4) {
  NEEDS("2025_4_1", place);
  expect_input_as_output(place);
}

TEST(RealDelegate, GivesAnInputThatComesOutUnchangedOn2026_4) {
  NEEDS("2026_4_1", place);
  expect_input_as_output(place);
}

}  // namespace
}  // namespace pteron
