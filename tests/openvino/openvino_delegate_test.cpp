// The OpenVINO delegate under real methods, on the fake OpenVINO: conversions, shapes, devices, and
// every kind of failure. A process has one OpenVINO, so ctest gives each test a process of its own.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/shared_library.h"
#include "fake/fake_openvino.h"
#include "openvino/openvino.h"
#include "runtime/program_maker.h"

namespace pteron::test {
namespace {

constexpr const char* kLibrary = PTERON_FAKE_OPENVINO;

class Fake {
 public:
  Fake() : library_(SharedLibrary::open(kLibrary)) {
    EXPECT_TRUE(library_.ok()) << library_.error().message;
  }
  void script(const std::string& text) const {
    const char* wrong = find<fake_script_t>("fake_script")(text.c_str());
    EXPECT_EQ(wrong, nullptr) << wrong;
  }
  long long count(const char* what) const { return find<fake_count_t>("fake_count")(what); }
  std::string log() const { return find<fake_log_t>("fake_log")(); }

 private:
  template <typename Function>
  Function* find(const char* name) const {
    return library_->find<Function>(name);
  }
  Result<SharedLibrary> library_;
};

OpenvinoOptions on_device(const char* device) {
  OpenvinoOptions options;
  options.device = device;
  return options;
}

OpenvinoOptions in_precision(Precision precision) {
  OpenvinoOptions options;
  options.precision = precision;
  return options;
}

class OpenvinoDelegate : public testing::Test {
 protected:
  // A method of one delegate call, whose blob is this text.
  Result<std::unique_ptr<Method>> load(PlanMaker& maker, std::vector<ValueIndex> inputs,
                                       std::vector<ValueIndex> outputs, const std::string& blob,
                                       OpenvinoOptions options = {}) {
    options.library = kLibrary;
    std::vector<ValueIndex> args = inputs;
    args.insert(args.end(), outputs.begin(), outputs.end());
    maker.call_delegate("OpenvinoBackend", args, "FAKEBLOB\n" + blob);
    maker.inputs(inputs).outputs(outputs);
    RuntimeOptions runtime;
    runtime.delegates.push_back(make_openvino_delegate(std::move(options)));
    return load_method(maker, std::move(runtime));
  }

  // x: float32 [2, 3] to y, one more.
  Result<std::unique_ptr<Method>> load_simple(OpenvinoOptions options = {}) {
    PlanMaker maker;
    const ValueIndex x = maker.planned({2, 3});
    const ValueIndex y = maker.planned({2, 3});
    return load(maker, {x}, {y}, kAddOne, std::move(options));
  }

  void expect_runs(Method& method) {
    auto input = floats({2, 3}, {1, 2, 3, 4, 5, 6});
    const HostValue values[] = {input.host()};
    const auto ran = method.run(values);
    ASSERT_TRUE(ran.ok()) << ran.error().message;
    EXPECT_EQ(output(method), (std::vector<float>{2, 3, 4, 5, 6, 7}));
  }

  template <typename T>
  void expect_error(const Result<T>& result, Code wanted,
                    std::initializer_list<const char*> texts) {
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, wanted) << result.error().message;
    for (const char* text : texts) {
      EXPECT_NE(result.error().message.find(text), std::string::npos) << result.error().message;
    }
  }

  static constexpr const char* kAddOne = "input f32 2,3 x\noutput f32 2,3 y\nop add_one\n";
  Fake fake_;
};

TEST_F(OpenvinoDelegate, RunsAndFreesAllThatItMade) {
  {
    const auto method = load_simple();
    ASSERT_TRUE(method.ok()) << method.error().message;
    for (int i = 0; i < 3; ++i) expect_runs(**method);
    EXPECT_EQ(fake_.count("ov_core_import_model"), 1);
  }
  for (const char* kind : {"live compiled_model", "live infer_request", "live tensor", "live port",
                           "live shape", "live partial_shape", "live string", "bad_frees"}) {
    EXPECT_EQ(fake_.count(kind), 0) << kind;
  }
}

TEST_F(OpenvinoDelegate, SetsATensorOnceWhileItsMemoryStays) {
  const auto method = load_simple();
  ASSERT_TRUE(method.ok());
  auto input = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  ASSERT_TRUE((*method)->bind_input(0, input.host()).ok());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE((*method)->execute().ok());
  EXPECT_EQ(fake_.count("ov_infer_request_set_input_tensor_by_index"), 1);
  EXPECT_EQ(fake_.count("ov_infer_request_set_output_tensor_by_index"), 1);
}

TEST_F(OpenvinoDelegate, AsksForTheProgramsPrecisionWhereTheDeviceHasIt) {
  ASSERT_TRUE(load_simple().ok());
  EXPECT_NE(fake_.log().find("EXECUTION_MODE_HINT=ACCURACY"), std::string::npos) << fake_.log();
  EXPECT_NE(fake_.log().find("INFERENCE_PRECISION_HINT=f32"), std::string::npos) << fake_.log();
}

TEST_F(OpenvinoDelegate, AsksADeviceWithoutFp32ForAccuracyAlone) {
  fake_.script("device NPU FP16,INT8,EXPORT_IMPORT A neural processor\n");
  ASSERT_TRUE(load_simple(on_device("npu")).ok());
  EXPECT_NE(fake_.log().find("set NPU EXECUTION_MODE_HINT=ACCURACY"), std::string::npos)
      << fake_.log();
  EXPECT_EQ(fake_.log().find("INFERENCE_PRECISION_HINT"), std::string::npos) << fake_.log();
}

TEST_F(OpenvinoDelegate, AsksNoPrecisionOfADriverThatLacksTheWords) {
  fake_.script(
      "device NPU FP16,EXPORT_IMPORT A neural processor\n"
      "without NPU EXECUTION_MODE_HINT\n");
  ASSERT_TRUE(load_simple(on_device("NPU")).ok());
  EXPECT_EQ(fake_.log().find("set NPU EXECUTION_MODE_HINT"), std::string::npos) << fake_.log();
  OpenvinoOptions asked = on_device("NPU");
  asked.config = {{"EXECUTION_MODE_HINT", "ACCURACY"}};
  expect_error(load_simple(asked), Code::InvalidArgument, {"EXECUTION_MODE_HINT"});
}

TEST_F(OpenvinoDelegate, FastAsksForNoPrecision) {
  ASSERT_TRUE(load_simple(in_precision(Precision::Fast)).ok());
  EXPECT_EQ(fake_.log().find("ACCURACY"), std::string::npos) << fake_.log();
  EXPECT_EQ(fake_.log().find("INFERENCE_PRECISION_HINT"), std::string::npos) << fake_.log();
}

TEST_F(OpenvinoDelegate, RefusesAPrecisionThatTheDeviceCannotCompute) {
  expect_error(load_simple(in_precision(Precision::F16)), Code::InvalidArgument, {"f16", "BF16"});
}

TEST_F(OpenvinoDelegate, RefusesAnUnknownPropertyAndKeepsNoCoreForIt) {
  OpenvinoOptions options;
  options.config = {{"NO_SUCH_KEY", "1"}};
  expect_error(load_simple(options), Code::InvalidArgument, {"NO_SUCH_KEY=1"});
  EXPECT_EQ(fake_.count("live core"), 0);
  const auto method = load_simple();
  ASSERT_TRUE(method.ok()) << method.error().message;
  expect_runs(**method);
}

TEST_F(OpenvinoDelegate, NamesTheDevicesWhereTheOneAskedForIsNotThere) {
  expect_error(load_simple(on_device("GPU.3")), Code::Missing, {"GPU.3", "CPU"});
}

TEST_F(OpenvinoDelegate, RefusesTheDevicesThatImportNoBlob) {
  for (const char* device : {"AUTO", "AUTO:GPU,CPU", "HETERO:GPU,CPU", "MULTI:CPU", "BATCH:CPU"}) {
    expect_error(load_simple(on_device(device)), Code::Unsupported, {device, "CPU"});
  }
}

TEST_F(OpenvinoDelegate, LoadsNoOpenvinoForDeviceNone) {
  expect_error(load_simple(on_device("none")), Code::Missing, {"device=none"});
  EXPECT_EQ(fake_.count("ov_core_create"), 0);
}

TEST_F(OpenvinoDelegate, GivesTheDevicesOwnWordsWhenItRefusesABlob) {
  fake_.script(
      "device NPU FP16,EXPORT_IMPORT A neural processor\nrefuse NPU blob of another driver "
      "version\n");
  expect_error(load_simple(on_device("NPU")), Code::Unsupported,
               {"NPU", "driver", "blob of another driver version", "export"});
}

TEST_F(OpenvinoDelegate, ReportsEachStatusOfAFailedRunAndRunsAgain) {
  const auto method = load_simple();
  ASSERT_TRUE(method.ok());
  auto input = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const HostValue values[] = {input.host()};
  for (int status = -1; status >= -17; --status) {
    fake_.script("fail ov_infer_request_infer " + std::to_string(status) +
                 " 0 1 out of patience\n");
    const std::string number = "status " + std::to_string(status);
    expect_error((*method)->run(values), Code::Failed, {"out of patience", number.c_str()});
    expect_runs(**method);
  }
}

TEST_F(OpenvinoDelegate, ReportsEachStatusOfEachCallAtLoadAndLoadsAgain) {
  int round = 0;
  for (const char* function :
       {"ov_core_create", "ov_core_get_property", "ov_core_set_property", "ov_core_import_model",
        "ov_compiled_model_inputs_size", "ov_compiled_model_outputs_size",
        "ov_compiled_model_input_by_index", "ov_compiled_model_output_by_index",
        "ov_port_get_element_type", "ov_port_get_partial_shape",
        "ov_compiled_model_create_infer_request"}) {
    for (int status = -1; status >= -17; --status) {
      const std::string which = std::string(function) + " " + std::to_string(status);
      fake_.script("fail " + which + " 0 1 it is Monday\n");
      OpenvinoOptions options;
      options.threads = ++round;  // A core of its own: one that was made before is used again.
      const auto failed = load_simple(options);
      ASSERT_FALSE(failed.ok()) << which;
      EXPECT_NE(failed.error().message.find("it is Monday"), std::string::npos)
          << failed.error().message;
      const auto method = load_simple(options);
      ASSERT_TRUE(method.ok()) << which << ": " << method.error().message;
      expect_runs(**method);
    }
  }
  EXPECT_EQ(fake_.count("live compiled_model"), 0);
  EXPECT_EQ(fake_.count("live port"), 0);
  EXPECT_EQ(fake_.count("bad_frees"), 0);
}

TEST_F(OpenvinoDelegate, RefusesADynamicInputOfAnotherSizeThanAFixedPort) {
  PlanMaker maker;
  const ValueIndex x = maker.dynamic(maker.planned({4, 3}));
  const ValueIndex y = maker.planned({4, 3});
  const auto method = load(maker, {x}, {y}, "input f32 4,3 x\noutput f32 4,3 y\nop copy\n");
  ASSERT_TRUE(method.ok()) << method.error().message;
  // The same address each time, so that only the size tells the runs apart.
  auto whole = floats({4, 3}, std::vector<float>(12, 1));
  const HostValue full[] = {whole.host()};
  ASSERT_TRUE((*method)->run(full).ok());
  auto part = whole.view();
  const int64_t shape[] = {2, 3};
  part.shape = shape;
  const HostValue smaller[] = {part};
  expect_error((*method)->run(smaller), Code::InvalidArgument, {"[2, 3]", "4, 3"});
  EXPECT_TRUE((*method)->run(full).ok());
}

TEST_F(OpenvinoDelegate, GivesADynamicOutputTheShapeOfAFixedPort) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({2, 3});
  const ValueIndex y = maker.dynamic(maker.planned({8, 3}));
  const auto method = load(maker, {x}, {y}, "input f32 2,3 x\noutput f32 2,3 y\nop copy\n");
  // The program says up to 8 rows, and the model always makes 2.
  ASSERT_TRUE(method.ok()) << method.error().message;
  auto input = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const HostValue values[] = {input.host()};
  const auto ran = (*method)->run(values);
  ASSERT_TRUE(ran.ok()) << ran.error().message;
  EXPECT_EQ(output_shape(**method), (std::vector<int64_t>{2, 3}));
}

TEST_F(OpenvinoDelegate, GivesADynamicOutputTheShapeThatTheModelMade) {
  PlanMaker maker;
  const ValueIndex x = maker.dynamic(maker.planned({8, 3}));
  const ValueIndex y = maker.dynamic(maker.planned({8, 3}));
  const auto method = load(maker, {x}, {y}, "input f32 ?,3 x\noutput f32 ?,3 y\nop add_one\n");
  ASSERT_TRUE(method.ok()) << method.error().message;
  for (const int64_t rows : {2, 8, 1, 2}) {
    auto input = floats({rows, 3}, std::vector<float>(static_cast<size_t>(rows * 3), 1));
    const HostValue values[] = {input.host()};
    ASSERT_TRUE((*method)->run(values).ok());
    EXPECT_EQ(output_shape(**method), (std::vector<int64_t>{rows, 3}));
    EXPECT_EQ(output(**method), std::vector<float>(static_cast<size_t>(rows * 3), 2));
  }
}

TEST_F(OpenvinoDelegate, RefusesAResultThatIsLargerThanTheProgramsBound) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({2, 3});
  const ValueIndex y = maker.dynamic(maker.planned({4, 3}));
  const auto method = load(maker, {x}, {y}, "input f32 2,3 x\noutput f32 ?,3 y\nop fill 5,3 7\n");
  ASSERT_TRUE(method.ok()) << method.error().message;
  auto input = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const HostValue values[] = {input.host()};
  expect_error((*method)->run(values), Code::Failed, {"[5, 3]"});
}

TEST_F(OpenvinoDelegate, ConvertsInt64ToInt32AndRefusesWhatDoesNotFit) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({2}, DType::Int64);
  const ValueIndex y = maker.planned({2}, DType::Int64);
  const auto method = load(maker, {x}, {y}, "input i32 2 x\noutput i32 2 y\nop copy\n");
  ASSERT_TRUE(method.ok()) << method.error().message;
  Array<int64_t> small{{-5, 2147483647}, {2}, DType::Int64};
  const HostValue fits[] = {small.host()};
  ASSERT_TRUE((*method)->run(fits).ok());
  const auto result = std::get<ArrayView>(*(*method)->output(0));
  EXPECT_EQ(static_cast<const int64_t*>(result.data)[1], 2147483647);
  Array<int64_t> large{{1, 2147483648}, {2}, DType::Int64};
  const HostValue too_large[] = {large.host()};
  expect_error((*method)->run(too_large), Code::InvalidArgument,
               {"input 0", "element 1", "2147483648"});
  EXPECT_TRUE((*method)->run(fits).ok());
}

TEST_F(OpenvinoDelegate, ReadsAndWritesChannelsLast) {
  PlanMaker maker;
  const ValueIndex x = maker.channels_last(maker.planned({1, 2, 2, 2}));
  const ValueIndex y = maker.channels_last(maker.planned({1, 2, 2, 2}));
  const auto method = load(maker, {x}, {y}, "input f32 1,2,2,2 x\noutput f32 1,2,2,2 y\nop copy\n");
  ASSERT_TRUE(method.ok()) << method.error().message;
  auto input = floats({1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const HostValue values[] = {input.host()};
  ASSERT_TRUE((*method)->run(values).ok());
  EXPECT_EQ(output(**method), input.values);
}

TEST_F(OpenvinoDelegate, TakesScalarsAndEmptyTensors) {
  PlanMaker scalar;
  const ValueIndex x = scalar.planned({});
  const ValueIndex y = scalar.planned({});
  const auto zero_dim =
      load(scalar, {x}, {y}, "input f32 scalar x\noutput f32 scalar y\nop add_one\n");
  ASSERT_TRUE(zero_dim.ok()) << zero_dim.error().message;
  auto one = floats({}, {1});
  const HostValue values[] = {one.host()};
  ASSERT_TRUE((*zero_dim)->run(values).ok());
  EXPECT_EQ(output(**zero_dim), std::vector<float>{2});

  PlanMaker none;
  const ValueIndex a = none.planned({0, 3});
  const ValueIndex b = none.planned({0, 3});
  const auto empty = load(none, {a}, {b}, "input f32 0,3 x\noutput f32 0,3 y\nop copy\n");
  ASSERT_TRUE(empty.ok()) << empty.error().message;
  auto nothing = floats({0, 3}, {});
  const HostValue no_values[] = {nothing.host()};
  const auto ran = (*empty)->run(no_values);
  EXPECT_TRUE(ran.ok()) << ran.error().message;
}

TEST_F(OpenvinoDelegate, RefusesABlobThatGivesFloatForInt8) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({4});
  const ValueIndex y = maker.planned({4}, DType::Int8);
  expect_error(load(maker, {x}, {y}, "input f32 4 x\noutput f32 4 y\nop copy\n"), Code::Unsupported,
               {"output 0", "float32", "int8", "wrong in itself"});
}

TEST_F(OpenvinoDelegate, RefusesPortsThatDoNotFitTheProgram) {
  PlanMaker shapes;
  const ValueIndex x = shapes.planned({2, 3});
  const ValueIndex y = shapes.planned({2, 3});
  expect_error(load(shapes, {x}, {y}, "input f32 2,4 x\noutput f32 2,3 y\nop fill 2,3 0\n"),
               Code::Malformed, {"input 0", "[2, 4]", "[2, 3]"});
  PlanMaker counts;
  const ValueIndex a = counts.planned({2, 3});
  const ValueIndex b = counts.planned({2, 3});
  expect_error(
      load(counts, {a}, {b}, "input f32 2,3 x\ninput f32 2,3 z\noutput f32 2,3 y\nop add\n"),
      Code::Malformed, {"2 inputs", "2 arguments"});
}

TEST_F(OpenvinoDelegate, SaysThatADamagedBlobIsDamaged) {
  for (const std::string& blob :
       {std::string(), std::string("\x30\0\0\0\0\0\0\0garbage", 15), std::string("RR_UPCVO"),
        "<?xml version=\"1.0\"?>" + std::string(60, ' ')}) {
    PlanMaker maker;
    const ValueIndex x = maker.planned({2, 3});
    const ValueIndex y = maker.planned({2, 3});
    maker.call_delegate("OpenvinoBackend", {x, y}, blob);
    maker.inputs({x}).outputs({y});
    RuntimeOptions runtime;
    OpenvinoOptions options;
    options.library = kLibrary;
    runtime.delegates.push_back(make_openvino_delegate(options));
    const auto failed = load_method(maker, std::move(runtime));
    ASSERT_FALSE(failed.ok()) << blob;
    EXPECT_EQ(failed.error().code, Code::Malformed) << failed.error().message;
    EXPECT_NE(failed.error().message.find("damaged"), std::string::npos) << failed.error().message;
  }
}

}  // namespace
}  // namespace pteron::test
