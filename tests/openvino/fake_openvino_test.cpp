// The fake OpenVINO against its own description: the library is opened and used as any program
// would.
#include "fake/fake_openvino.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "base/shared_library.h"
#include "openvino/types.h"

namespace {

using namespace pteron::ov;

struct Fake {
#define OV_REQUIRED(type, name, arguments) type(*name) arguments = nullptr;
#define OV_OPTIONAL OV_REQUIRED
  struct Table {
#include "openvino/functions.inc"
  } ov;
#undef OV_OPTIONAL
#undef OV_REQUIRED
  fake_reset_t* reset = nullptr;
  fake_script_t* script = nullptr;
  fake_count_t* count = nullptr;
  fake_log_t* log = nullptr;

  explicit Fake(const char* file) {
    const auto library = pteron::SharedLibrary::open(file);
    EXPECT_TRUE(library.ok()) << library.error().message;
    if (!library.ok()) return;
    const auto find = [&library](auto& function, const char* name) {
      using Function = std::remove_pointer_t<std::remove_reference_t<decltype(function)>>;
      function = library->find<Function>(name);
      EXPECT_NE(function, nullptr) << name;
    };
#define OV_REQUIRED(type, name, arguments) find(ov.name, #name);
#define OV_OPTIONAL OV_REQUIRED
#include "openvino/functions.inc"
#undef OV_OPTIONAL
#undef OV_REQUIRED
    find(reset, "fake_reset");
    find(script, "fake_script");
    find(count, "fake_count");
    find(log, "fake_log");
  }

  std::string last_error() const {
    const char* text = ov.ov_get_last_err_msg();
    const std::string copy = text;
    ov.ov_free(text);
    return copy;
  }
};

class FakeOpenvino : public testing::Test {
 protected:
  void SetUp() override {
    fake.reset();
    ASSERT_EQ(ov.ov_core_create(&core), ov_status_e::Ok);
  }
  void TearDown() override {
    ov.ov_infer_request_free(request);
    ov.ov_compiled_model_free(model);
    ov.ov_core_free(core);
    EXPECT_EQ(fake.count("live"), 0);
    EXPECT_EQ(fake.count("bad_frees"), 0);
  }

  ov_status_e import(const std::string& blob, const char* device = "CPU") {
    return ov.ov_core_import_model(core, blob.data(), blob.size(), device, &model);
  }
  void make_request(const std::string& blob) {
    ASSERT_EQ(import(blob), ov_status_e::Ok) << fake.last_error();
    ASSERT_EQ(ov.ov_compiled_model_create_infer_request(model, &request), ov_status_e::Ok);
  }
  ov_tensor_t* tensor(ov_element_type_e type, std::vector<int64_t> shape, void* data) {
    ov_tensor_t* made = nullptr;
    EXPECT_EQ(ov.ov_tensor_create_from_host_ptr(
                  type, {static_cast<int64_t>(shape.size()), shape.data()}, data, &made),
              ov_status_e::Ok);
    return made;
  }
  ov_status_e set_input(size_t index, ov_tensor_t* value) {
    const ov_status_e status = ov.ov_infer_request_set_input_tensor_by_index(request, index, value);
    ov.ov_tensor_free(value);
    return status;
  }

  Fake fake{PTERON_FAKE_OPENVINO};
  const Fake::Table& ov = fake.ov;
  ov_core_t* core = nullptr;
  ov_compiled_model_t* model = nullptr;
  ov_infer_request_t* request = nullptr;
};

TEST_F(FakeOpenvino, AddsOneToADynamicInputAndShapesTheOutput) {
  make_request("FAKEBLOB\ninput f32 ?,2 x\noutput f32 ?,2 y\nop add_one\n");
  float data[6] = {0, 1, 2, 3, 4, 5};
  ASSERT_EQ(set_input(0, tensor(ov_element_type_e::F32, {3, 2}, data)), ov_status_e::Ok);
  ASSERT_EQ(ov.ov_infer_request_infer(request), ov_status_e::Ok);
  ov_tensor_t* output = nullptr;
  ASSERT_EQ(ov.ov_infer_request_get_output_tensor_by_index(request, 0, &output), ov_status_e::Ok);
  ov_shape_t shape{};
  ASSERT_EQ(ov.ov_tensor_get_shape(output, &shape), ov_status_e::Ok);
  ASSERT_EQ(shape.rank, 2);
  EXPECT_EQ(shape.dims[0], 3);
  EXPECT_EQ(shape.dims[1], 2);
  void* result = nullptr;
  ASSERT_EQ(ov.ov_tensor_data(output, &result), ov_status_e::Ok);
  EXPECT_EQ(static_cast<float*>(result)[5], 6.0F);
  ov.ov_shape_free(&shape);
  ov.ov_tensor_free(output);
}

TEST_F(FakeOpenvino, WritesIntoAnOutputThatTheCallerLent) {
  make_request("FAKEBLOB\ninput i64 scalar\noutput i64 scalar\nop copy\n");
  int64_t in = 42;
  int64_t out = 0;
  ASSERT_EQ(set_input(0, tensor(ov_element_type_e::I64, {}, &in)), ov_status_e::Ok);
  ov_tensor_t* output = tensor(ov_element_type_e::I64, {}, &out);
  ASSERT_EQ(ov.ov_infer_request_set_output_tensor_by_index(request, 0, output), ov_status_e::Ok);
  ov.ov_tensor_free(output);
  ASSERT_EQ(ov.ov_infer_request_infer(request), ov_status_e::Ok);
  EXPECT_EQ(out, 42);
}

TEST_F(FakeOpenvino, RefusesAnOutputTooSmallForTheResult) {
  make_request("FAKEBLOB\noutput i32 ?\nop fill 3 7\n");
  int32_t out[2] = {0, 0};
  ov_tensor_t* output = tensor(ov_element_type_e::I32, {2}, out);
  ASSERT_EQ(ov.ov_infer_request_set_output_tensor_by_index(request, 0, output), ov_status_e::Ok);
  ov.ov_tensor_free(output);
  EXPECT_EQ(ov.ov_infer_request_infer(request), ov_status_e::GeneralError);
}

TEST_F(FakeOpenvino, RefusesATensorOfWrongTypeOrShape) {
  make_request("FAKEBLOB\ninput f32 2..4\noutput f32 ?\nop copy\n");
  float data[5] = {};
  EXPECT_EQ(set_input(0, tensor(ov_element_type_e::F32, {5}, data)), ov_status_e::GeneralError);
  EXPECT_EQ(set_input(0, tensor(ov_element_type_e::I32, {2}, data)), ov_status_e::GeneralError);
  EXPECT_EQ(set_input(1, tensor(ov_element_type_e::F32, {2}, data)), ov_status_e::GeneralError);
  EXPECT_EQ(set_input(0, tensor(ov_element_type_e::F32, {2}, data)), ov_status_e::Ok);
}

TEST_F(FakeOpenvino, RefusesWhatIsNoBlob) {
  const std::string good = "FAKEBLOB\ninput f32 4\noutput f32 4\nop copy\n";
  EXPECT_EQ(import(""), ov_status_e::GeneralError);
  EXPECT_EQ(import("RR_UPCVO"), ov_status_e::GeneralError);
  EXPECT_EQ(import("FAKEBLOB\ninput f32 4\noutput f32 4\nop sing\n"), ov_status_e::GeneralError);
  EXPECT_EQ(import("FAKEBLOB\ninput f32 99999999,99999999\nop copy\n"), ov_status_e::GeneralError);
  std::string many = "FAKEBLOB\n";
  for (int i = 0; i < 1000; ++i) many += "output u8 9999999\n";
  EXPECT_EQ(import(many + "op fail\n"), ov_status_e::GeneralError);
  for (size_t cut = 0; cut + 1 < good.size(); ++cut) {
    EXPECT_EQ(import(good.substr(0, cut)), ov_status_e::GeneralError) << cut;
  }
}

TEST_F(FakeOpenvino, SurvivesEveryChangedByteOfABlob) {
  const std::string good = "FAKEBLOB\ninput f32 2..4,? x\noutput f32 ?,? y\nop add_one\n";
  float data[4] = {};
  for (size_t at = 0; at < good.size(); ++at) {
    for (const int value : {0, 255, good[at] ^ 1, good[at] ^ 0x80, int{'9'}, int{','}, int{'\n'}}) {
      std::string changed = good;
      changed[at] = static_cast<char>(value);
      if (import(changed) != ov_status_e::Ok) continue;
      ASSERT_EQ(ov.ov_compiled_model_create_infer_request(model, &request), ov_status_e::Ok);
      set_input(0, tensor(ov_element_type_e::F32, {2, 2}, data));
      ov.ov_infer_request_infer(request);
      ov.ov_infer_request_free(request);
      ov.ov_compiled_model_free(model);
      request = nullptr;
      model = nullptr;
    }
  }
}

TEST_F(FakeOpenvino, TellsItsPorts) {
  ASSERT_EQ(import("FAKEBLOB\ninput bool 2..8,? named\noutput u8 ...\nop fill 1 1\n"),
            ov_status_e::Ok);
  ov_output_const_port_t* port = nullptr;
  ASSERT_EQ(ov.ov_compiled_model_input_by_index(model, 0, &port), ov_status_e::Ok);
  ov_element_type_e type{};
  ov_partial_shape_t shape{};
  char* name = nullptr;
  EXPECT_EQ(ov.ov_port_get_element_type(port, &type), ov_status_e::Ok);
  EXPECT_EQ(type, ov_element_type_e::Boolean);
  ASSERT_EQ(ov.ov_port_get_partial_shape(port, &shape), ov_status_e::Ok);
  EXPECT_EQ(shape.rank.min, 2);
  EXPECT_EQ(shape.rank.max, 2);
  EXPECT_EQ(shape.dims[0].min, 2);
  EXPECT_EQ(shape.dims[0].max, 8);
  EXPECT_EQ(shape.dims[1].max, -1);
  ASSERT_EQ(ov.ov_port_get_any_name(port, &name), ov_status_e::Ok);
  EXPECT_STREQ(name, "named");
  ov.ov_free(name);
  ov.ov_partial_shape_free(&shape);
  ov.ov_output_const_port_free(port);
  ASSERT_EQ(ov.ov_compiled_model_output_by_index(model, 0, &port), ov_status_e::Ok);
  ASSERT_EQ(ov.ov_port_get_partial_shape(port, &shape), ov_status_e::Ok);
  EXPECT_EQ(shape.rank.max, -1);
  EXPECT_EQ(ov.ov_port_get_any_name(port, &name), ov_status_e::GeneralError);
  ov.ov_output_const_port_free(port);
}

TEST_F(FakeOpenvino, FailsAsTheScriptSays) {
  EXPECT_EQ(fake.script("fail ov_core_import_model -5 1 2 no such thing"), nullptr);
  const std::string blob = "FAKEBLOB\noutput f32 1\nop fill 1 1\n";
  ASSERT_EQ(import(blob), ov_status_e::Ok);
  ov.ov_compiled_model_free(model);
  EXPECT_EQ(import(blob), ov_status_e::NotFound);
  EXPECT_EQ(fake.last_error(), "no such thing");
  EXPECT_EQ(import(blob), ov_status_e::NotFound);
  EXPECT_EQ(import(blob), ov_status_e::Ok);
  EXPECT_EQ(fake.count("ov_core_import_model"), 4);
}

TEST_F(FakeOpenvino, TellsWhatIsWrongWithAScript) {
  EXPECT_STREQ(fake.script("sing"), "unknown command: sing");
  EXPECT_NE(fake.script("remove TPU"), nullptr);
  EXPECT_EQ(fake.script("# nothing\n\n"), nullptr);
}

TEST_F(FakeOpenvino, TakesAnyPropertyUntilThePluginIsLoadedAndThenBreaks) {
  EXPECT_EQ(ov.ov_core_set_property(core, "CPU", "NUM_STRAMS", "1"), ov_status_e::Ok);
  EXPECT_EQ(import("FAKEBLOB\noutput f32 1\nop fill 1 1\n"), ov_status_e::GeneralError);
  EXPECT_NE(fake.last_error().find("Failed to create plugin"), std::string::npos);
}

TEST_F(FakeOpenvino, RefusesAWrongPropertyOnceThePluginIsLoaded) {
  char* value = nullptr;
  ASSERT_EQ(ov.ov_core_get_property(core, "CPU", "INFERENCE_PRECISION_HINT", &value),
            ov_status_e::Ok);
  EXPECT_STREQ(value, "bf16");
  ov.ov_free(value);
  EXPECT_EQ(ov.ov_core_set_property(core, "CPU", "NUM_STRAMS", "1"), ov_status_e::GeneralError);
  EXPECT_EQ(ov.ov_core_set_property(core, "CPU", "INFERENCE_NUM_THREADS", "-1"),
            ov_status_e::GeneralError);
  EXPECT_EQ(ov.ov_core_set_property(core, "CPU", "INFERENCE_PRECISION_HINT", "f32"),
            ov_status_e::Ok);
  ASSERT_EQ(import("FAKEBLOB\noutput f32 1\nop fill 1 1\n"), ov_status_e::Ok);
  ASSERT_EQ(ov.ov_compiled_model_get_property(model, "INFERENCE_PRECISION_HINT", &value),
            ov_status_e::Ok);
  EXPECT_STREQ(value, "f32");
  ov.ov_free(value);
}

TEST_F(FakeOpenvino, HasTheDevicesOfItsScript) {
  ASSERT_EQ(fake.script("device NPU FP16,INT8 A fake NPU\n"
                        "device GPU FP32,FP16 A fake GPU\n"
                        "refuse NPU made for another driver\n"
                        "broken GPU libOpenCL.so.1 is not there\n"),
            nullptr);
  ov_available_devices_t devices{};
  ASSERT_EQ(ov.ov_core_get_available_devices(core, &devices), ov_status_e::Ok);
  ASSERT_EQ(devices.size, 2U);
  EXPECT_STREQ(devices.devices[1], "NPU");
  ov.ov_available_devices_free(&devices);
  const std::string blob = "FAKEBLOB\noutput f32 1\nop fill 1 1\n";
  EXPECT_EQ(import(blob, "NPU"), ov_status_e::GeneralError);
  EXPECT_EQ(fake.last_error(), "made for another driver");
  EXPECT_EQ(import(blob, "GPU"), ov_status_e::GeneralError);
  EXPECT_EQ(import(blob, "cpu"), ov_status_e::GeneralError);
  EXPECT_EQ(import(blob, "AUTO:CPU"), ov_status_e::GeneralError);
  EXPECT_EQ(fake.last_error(), "Not Implemented");
  char* value = nullptr;
  ASSERT_EQ(ov.ov_core_get_property(core, "NPU", "OPTIMIZATION_CAPABILITIES", &value),
            ov_status_e::Ok);
  EXPECT_STREQ(value, "FP16 INT8");
  ov.ov_free(value);
}

TEST_F(FakeOpenvino, CountsTwoUsesOfOneRequestAtATime) {
  make_request("FAKEBLOB\noutput i64 scalar\nop count\n");
  ASSERT_EQ(fake.script("delay 200"), nullptr);
  ASSERT_EQ(ov.ov_infer_request_start_async(request), ov_status_e::Ok);
  EXPECT_EQ(ov.ov_infer_request_infer(request), ov_status_e::RequestBusy);
  EXPECT_EQ(fake.count("overlaps"), 1);
  EXPECT_EQ(ov.ov_infer_request_wait(request), ov_status_e::Ok);
}

TEST_F(FakeOpenvino, CancelsARunningRequest) {
  make_request("FAKEBLOB\noutput i64 scalar\nop count\n");
  ASSERT_EQ(fake.script("delay 60000"), nullptr);
  ASSERT_EQ(ov.ov_infer_request_start_async(request), ov_status_e::Ok);
  ASSERT_EQ(ov.ov_infer_request_cancel(request), ov_status_e::Ok);
  EXPECT_EQ(ov.ov_infer_request_wait(request), ov_status_e::InferCancelled);
}

TEST_F(FakeOpenvino, CountsWhatIsNotFreedAndWhatIsFreedTwice) {
  ov_core_t* other = nullptr;
  ASSERT_EQ(ov.ov_core_create(&other), ov_status_e::Ok);
  EXPECT_EQ(fake.count("live core"), 2);
  ov.ov_core_free(other);
  EXPECT_EQ(fake.count("live core"), 1);
  ov.ov_core_free(other);
  EXPECT_EQ(fake.count("bad_frees"), 1);
  ov.ov_core_free(core);
  core = nullptr;
  EXPECT_EQ(fake.count("live"), 0);
  fake.reset();
}

TEST_F(FakeOpenvino, ReadsABorrowedBlobAtEachRun) {
  ASSERT_EQ(fake.script("borrow-blobs"), nullptr);
  std::string blob = "FAKEBLOB\noutput f32 1\nop fill 1 1\n";
  make_request(blob);  // The copy that make_request got is the one lent: it must not be read now.
  ov.ov_infer_request_free(request);
  ov.ov_compiled_model_free(model);
  ASSERT_EQ(import(blob), ov_status_e::Ok);
  ASSERT_EQ(ov.ov_compiled_model_create_infer_request(model, &request), ov_status_e::Ok);
  EXPECT_EQ(ov.ov_infer_request_infer(request), ov_status_e::Ok);
  blob[0] = 'X';
  EXPECT_EQ(ov.ov_infer_request_infer(request), ov_status_e::GeneralError);
}

TEST_F(FakeOpenvino, CompilesWhatItRead) {
  const std::string text = "FAKEBLOB\noutput i64 scalar\nop count\n";
  ov_model_t* read = nullptr;
  ASSERT_EQ(
      ov.ov_core_read_model_from_memory_buffer(core, text.data(), text.size(), nullptr, &read),
      ov_status_e::Ok);
  EXPECT_EQ(ov.ov_core_compile_model(core, read, "CPU", 2, &model, "PERF_COUNT", "MAYBE"),
            ov_status_e::GeneralError);
  ASSERT_EQ(ov.ov_core_compile_model(core, read, "CPU", 2, &model, "PERF_COUNT", "YES"),
            ov_status_e::Ok);
  ov.ov_model_free(read);
  ASSERT_EQ(ov.ov_compiled_model_create_infer_request(model, &request), ov_status_e::Ok);
  ASSERT_EQ(ov.ov_infer_request_infer(request), ov_status_e::Ok);
  ov_profiling_info_list_t profile{};
  ASSERT_EQ(ov.ov_infer_request_get_profiling_info(request, &profile), ov_status_e::Ok);
  ASSERT_EQ(profile.size, 1U);
  EXPECT_STREQ(profile.profiling_infos[0].node_type, "count");
  ov.ov_profiling_info_list_free(&profile);
  EXPECT_STREQ(fake.log(),
               ("core\nread " + std::to_string(text.size()) + "\ncompile CPU\ncompile CPU\ninfer\n")
                   .c_str());
}

}  // namespace
