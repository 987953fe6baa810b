// The delegate's border cases on the fake OpenVINO: runs that fail on the way, scalars, compile
// specs from hostile files, and whom a refusal blames. ctest gives each test a process of its own.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/shared_library.h"
#include "fake/fake_openvino.h"
#include "openvino/openvino.h"
#include "runtime/program_maker.h"

namespace pteron::test {
namespace {

constexpr const char* kGood = PTERON_FAKE_OPENVINO;
constexpr const char* kNewer = PTERON_NEWER_FAKE_OPENVINO;
constexpr const char* kAddOne = "FAKEBLOB\ninput f32 2,3 x\noutput f32 2,3 y\nop add_one\n";

class Fake {
 public:
  explicit Fake(const char* file) : library_(SharedLibrary::open(file)) {
    EXPECT_TRUE(library_.ok()) << library_.error().message;
  }
  void script(const std::string& text) const {
    const char* wrong = find<fake_script_t>("fake_script")(text.c_str());
    EXPECT_EQ(wrong, nullptr) << wrong;
  }
  std::string log() const { return find<fake_log_t>("fake_log")(); }
  long long count(const char* what) const { return find<fake_count_t>("fake_count")(what); }

 private:
  template <typename Function>
  Function* find(const char* name) const {
    return library_->find<Function>(name);
  }
  Result<SharedLibrary> library_;
};

Result<std::unique_ptr<Method>> load(PlanMaker& maker, std::vector<ValueIndex> inputs,
                                     std::vector<ValueIndex> outputs, const std::string& blob) {
  std::vector<ValueIndex> args = inputs;
  args.insert(args.end(), outputs.begin(), outputs.end());
  maker.call_delegate("OpenvinoBackend", args, "FAKEBLOB\n" + blob);
  maker.inputs(inputs).outputs(outputs);
  OpenvinoOptions options;
  options.library = kGood;
  RuntimeOptions runtime;
  runtime.delegates.push_back(make_openvino_delegate(options));
  return load_method(maker, std::move(runtime));
}

using Compiled = Result<std::shared_ptr<CompiledDelegate>>;

// Compiles a payload by itself, without a method.
Compiled compile(const std::string& payload, OpenvinoOptions options = {},
                 std::vector<std::pair<std::string, std::string>> specs = {}) {
  if (options.library.empty()) options.library = kGood;
  DelegateDef def;
  def.id = "OpenvinoBackend";
  def.payload = std::as_bytes(std::span(payload));
  for (const auto& [key, value] : specs)
    def.specs.push_back({key, std::as_bytes(std::span(value))});
  const Program program;
  return make_openvino_delegate(std::move(options))->compile({def, program, "forward"});
}

OpenvinoOptions on_device(const char* device) {
  OpenvinoOptions options;
  options.device = device;
  return options;
}

template <typename T>
void expect_error(const Result<T>& result, Code wanted, std::initializer_list<std::string> texts) {
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, wanted) << result.error().message;
  EXPECT_EQ(result.error().message.find('\n'), std::string::npos) << result.error().message;
  EXPECT_LT(result.error().message.size(), 2000u);
  for (const std::string& text : texts) {
    EXPECT_NE(result.error().message.find(text), std::string::npos) << result.error().message;
  }
}

const std::string* find(const std::vector<std::pair<std::string, std::string>>& pairs,
                        const std::string& key) {
  for (const auto& [name, value] : pairs) {
    if (name == key) return &value;
  }
  return nullptr;
}

std::vector<int64_t> integers(Method& method) {
  const auto view = std::get<ArrayView>(*method.output(0));
  const auto* data = static_cast<const int64_t*>(view.data);
  size_t count = 1;
  for (const int64_t size : view.shape) count *= static_cast<size_t>(size);
  return std::vector<int64_t>(data, data + count);
}

// ---- Runs

TEST(OpenvinoRequest, RunsRightAfterAFailedConversionOfAnotherShape) {
  PlanMaker maker;
  const ValueIndex x = maker.dynamic(maker.planned({4}, DType::Int64));
  const ValueIndex y = maker.dynamic(maker.planned({4}, DType::Int64));
  const auto method = load(maker, {x}, {y}, "input i32 ? x\noutput i32 ? y\nop add_one\n");
  ASSERT_TRUE(method.ok()) << method.error().message;
  Array<int64_t> four{{1, 2, 3, 4}, {4}, DType::Int64};
  Array<int64_t> bad{{1, int64_t{1} << 40}, {2}, DType::Int64};
  Array<int64_t> two{{7, 8}, {2}, DType::Int64};
  const HostValue first[] = {four.host()};
  ASSERT_TRUE((*method)->run(first).ok());
  const HostValue second[] = {bad.host()};
  expect_error((*method)->run(second), Code::InvalidArgument,
               {"input 0", "element 1", "1099511627776", "int32"});
  const HostValue third[] = {two.host()};
  ASSERT_TRUE((*method)->run(third).ok());
  EXPECT_EQ(output_shape(**method), (std::vector<int64_t>{2}));
  EXPECT_EQ(integers(**method), (std::vector<int64_t>{8, 9}));
}

TEST(OpenvinoRequest, RefusesAShapeOfAsManyElementsInAnotherOrder) {
  PlanMaker maker;
  const ValueIndex x = maker.dynamic(maker.planned({4, 4}));
  const ValueIndex y = maker.planned({4, 3});
  const auto method = load(maker, {x}, {y}, "input f32 4,3 x\noutput f32 4,3 y\nop copy\n");
  ASSERT_TRUE(method.ok()) << method.error().message;
  auto right = floats({4, 3}, std::vector<float>(12, 1));
  auto turned = floats({3, 4}, std::vector<float>(12, 1));
  const HostValue good[] = {right.host()};
  const HostValue bad[] = {turned.host()};
  ASSERT_TRUE((*method)->run(good).ok());
  expect_error((*method)->run(bad), Code::InvalidArgument, {"[3, 4]", "[4, 3]"});
  EXPECT_TRUE((*method)->run(good).ok());
}

TEST(OpenvinoRequest, SetsTheMemoryOfAConvertedOutputOnce) {
  const Fake fake(kGood);
  PlanMaker maker;
  const ValueIndex x = maker.planned({2}, DType::Int64);
  const ValueIndex y = maker.planned({2}, DType::Int64);
  const auto method = load(maker, {x}, {y}, "input i32 2 x\noutput i32 2 y\nop add_one\n");
  ASSERT_TRUE(method.ok()) << method.error().message;
  for (int64_t i = 0; i < 4; ++i) {
    Array<int64_t> in{{i, -i}, {2}, DType::Int64};
    const HostValue values[] = {in.host()};
    ASSERT_TRUE((*method)->run(values).ok());
    EXPECT_EQ(integers(**method), (std::vector<int64_t>{i + 1, 1 - i}));
  }
  EXPECT_EQ(fake.count("ov_infer_request_set_input_tensor_by_index"), 1);
  EXPECT_EQ(fake.count("ov_infer_request_set_output_tensor_by_index"), 1);
  EXPECT_EQ(fake.count("ov_infer_request_get_output_tensor_by_index"),
            1);  // Whether it is an input.
}

TEST(OpenvinoRequest, RecoversFromEachStatusOfEachCallOfARun) {
  const Fake fake(kGood);
  for (const char* function :
       {"ov_tensor_create_from_host_ptr", "ov_infer_request_set_input_tensor_by_index",
        "ov_infer_request_infer", "ov_infer_request_get_output_tensor_by_index", "ov_tensor_data",
        "ov_tensor_get_shape", "ov_tensor_get_element_type"}) {
    PlanMaker maker;
    const ValueIndex x = maker.dynamic(maker.planned({8, 3}));
    const ValueIndex y = maker.dynamic(maker.planned({8, 3}));
    const auto method = load(maker, {x}, {y}, "input f32 ?,3 x\noutput f32 ?,3 y\nop add_one\n");
    ASSERT_TRUE(method.ok()) << method.error().message;
    auto two = floats({2, 3}, {1, 2, 3, 4, 5, 6});
    auto one = floats({1, 3}, {7, 8, 9});
    const HostValue before[] = {two.host()};
    const HostValue after[] = {one.host()};
    for (int status = -1; status >= -17; --status) {
      const std::string which = std::string(function) + " " + std::to_string(status);
      ASSERT_TRUE((*method)->run(before).ok()) << which;
      fake.script("fail " + which + " 0 1 it is Monday\n");
      const auto failed = (*method)->run(after);
      ASSERT_FALSE(failed.ok()) << which;
      EXPECT_NE(failed.error().message.find("it is Monday"), std::string::npos);
      EXPECT_NE(failed.error().message.find("status " + std::to_string(status) + ")"),
                std::string::npos)
          << failed.error().message;
      ASSERT_TRUE((*method)->run(after).ok()) << which;
      EXPECT_EQ(output(**method), (std::vector<float>{8, 9, 10})) << which;
      EXPECT_EQ(output_shape(**method), (std::vector<int64_t>{1, 3})) << which;
    }
  }
  for (const char* kind :
       {"live infer_request", "live tensor", "live shape", "live compiled_model", "bad_frees"}) {
    EXPECT_EQ(fake.count(kind), 0) << kind;
  }
}

TEST(OpenvinoRequest, RecoversFromAFailureToLendAnOutputsMemory) {
  const Fake fake(kGood);
  PlanMaker maker;
  const ValueIndex x = maker.planned({2});
  const ValueIndex y = maker.planned({2});
  const auto method = load(maker, {x}, {y}, "input f32 2 x\noutput f32 2 y\nop add_one\n");
  ASSERT_TRUE(method.ok()) << method.error().message;
  auto in = floats({2}, {1, 2});
  const HostValue values[] = {in.host()};
  for (int status = -1; status >= -17; --status) {
    auto bound = floats({2}, {0, 0});
    ASSERT_TRUE((*method)->bind_output(0, bound.host()).ok());
    fake.script("fail ov_infer_request_set_output_tensor_by_index " + std::to_string(status) +
                " 0 1 it is Monday\n");
    EXPECT_FALSE((*method)->run(values).ok()) << status;
    ASSERT_TRUE((*method)->run(values).ok()) << status;
    EXPECT_EQ(bound.values, (std::vector<float>{2, 3})) << status;
    ASSERT_TRUE((*method)->bind_output(0, std::monostate()).ok());
    ASSERT_TRUE((*method)->run(values).ok()) << status;
  }
}

// Copies [2, 3] through a port of the same type.
void expect_copies(const char* type, DType dtype) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({2, 3}, dtype);
  const ValueIndex y = maker.planned({2, 3}, dtype);
  const std::string port = std::string(type) + " 2,3";
  const auto method =
      load(maker, {x}, {y}, "input " + port + " x\noutput " + port + " y\nop copy\n");
  ASSERT_TRUE(method.ok()) << method.error().message;
  std::vector<unsigned char> bytes(6 * dtype_size(dtype));
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<unsigned char>(dtype == DType::Bool ? i % 2 : 17 * i + 1);
  const std::vector<int64_t> shape = {2, 3};
  const HostValue values[] = {ArrayView{bytes.data(), dtype, shape, nullptr}};
  const auto ran = (*method)->run(values);
  ASSERT_TRUE(ran.ok()) << ran.error().message;
  EXPECT_EQ(
      std::memcmp(std::get<ArrayView>(*(*method)->output(0)).data, bytes.data(), bytes.size()), 0)
      << type;
}

// One inference of the fake's that takes five seconds, unless it is interrupted.
struct SlowRequest {
  explicit SlowRequest(double time_limit) {
    fake.script("delay 5000\n");
    PlanMaker maker;
    const ValueIndex x = maker.planned({2});
    const ValueIndex y = maker.planned({2});
    maker.call_delegate("OpenvinoBackend", {x, y},
                        "FAKEBLOB\ninput f32 2 x\noutput f32 2 y\nop add_one\n");
    maker.inputs({x}).outputs({y});
    OpenvinoOptions options;
    options.library = kGood;
    RuntimeOptions runtime;
    runtime.time_limit = time_limit;
    runtime.delegates.push_back(make_openvino_delegate(options));
    auto loaded = load_method(maker, std::move(runtime));
    EXPECT_TRUE(loaded.ok()) << message(loaded);
    method = *std::move(loaded);
    EXPECT_TRUE(method->bind_input(0, in.host()).ok());
  }
  // The same method gives right results, and no request was used while it ran.
  void expect_usable() {
    fake.script("delay 0\n");
    const auto result = method->execute();
    EXPECT_TRUE(result.ok()) << message(result);
    EXPECT_EQ(output(*method), (std::vector<float>{2, 3}));
    EXPECT_EQ(fake.count("overlaps"), 0);
  }

  const Fake fake{kGood};
  Array<float> in = floats({2}, {1, 2});
  std::unique_ptr<Method> method;
};

TEST(OpenvinoRequest, IsInterruptedWhenItsTimeIsOver) {
  SlowRequest slow(0.5);
  const auto start = std::chrono::steady_clock::now();
  const auto result = slow.method->execute();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
  expect_error(result, Code::Cancelled, {"OpenvinoBackend", "longer than its limit of 0.5 s"});
  slow.expect_usable();
}

TEST(OpenvinoRequest, IsInterruptedByAnotherThread) {
  SlowRequest slow(1000);
  for (const int after : {0, 1, 20}) {
    slow.method->announce();
    std::thread canceller([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(after));
      slow.method->cancel();
    });
    const auto start = std::chrono::steady_clock::now();
    const auto result = slow.method->execute();
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
    canceller.join();
    expect_error(result, Code::Cancelled, {"the run was cancelled"});
  }
  slow.expect_usable();
}

// OpenVINO's CPU has one tensor for an input and an output that is the same.
TEST(OpenvinoRequest, GivesAnInputThatComesOutUnchanged) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({2, 3});
  const ValueIndex n = maker.planned({2}, DType::Int64);
  const ValueIndex y = maker.planned({2, 3});
  const ValueIndex m = maker.planned({2}, DType::Int64);
  const auto method = load(maker, {x, n}, {y, m},
                           "input f32 2,3 x\ninput i32 2 n\noutput f32 2,3 y\noutput i32 2 m\n"
                           "op pass\n");
  ASSERT_TRUE(method.ok()) << method.error().message;
  for (int run = 0; run < 3; ++run) {
    const auto first = static_cast<float>(run);
    Array<float> in = floats({2, 3}, {first, 2, 3, 4, 5, 6});
    Array<int64_t> numbers{{run, 8}, {2}, DType::Int64};
    const HostValue inputs[] = {in.host(), numbers.host()};
    const auto ran = (*method)->run(inputs);
    ASSERT_TRUE(ran.ok()) << ran.error().message;
    EXPECT_EQ(output(**method), in.values);
    const HostValue view = *(*method)->output(1);
    const auto* got = static_cast<const int64_t*>(std::get<ArrayView>(view).data);
    EXPECT_EQ(std::vector<int64_t>(got, got + 2), numbers.values);
  }
}

TEST(OpenvinoRequest, WithoutALimitRunsOnItsCallersThread) {
  SlowRequest slow(0);
  slow.expect_usable();
  EXPECT_EQ(slow.fake.count("ov_infer_request_infer"), 1);
  EXPECT_EQ(slow.fake.count("ov_infer_request_start_async"), 0);
}

TEST(OpenvinoRequest, SaysWhatFailedAlsoWithinALimit) {
  SlowRequest slow(1000);
  slow.fake.script("delay 0\nfail ov_infer_request_start_async -1 0 1 no stream is left\n");
  expect_error(slow.method->execute(), Code::Failed, {"no stream is left"});
  slow.fake.script("fail ov_infer_request_wait -1 0 1 it broke\n");
  expect_error(slow.method->execute(), Code::Failed, {"it broke"});
}

TEST(OpenvinoRequest, CarriesEveryElementTypeAsItIs) {
  const std::pair<const char*, DType> types[] = {
      {"bool", DType::Bool},   {"bf16", DType::BFloat16}, {"f16", DType::Float16},
      {"f32", DType::Float32}, {"f64", DType::Float64},   {"i8", DType::Int8},
      {"i16", DType::Int16},   {"i32", DType::Int32},     {"i64", DType::Int64},
      {"u8", DType::UInt8},    {"u16", DType::UInt16},    {"u32", DType::UInt32},
      {"u64", DType::UInt64}};
  for (const auto& [type, dtype] : types) expect_copies(type, dtype);
}

TEST(OpenvinoRequest, ReadsTheCallersArrayInAnyStrides) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({2, 3});
  const ValueIndex y = maker.planned({2, 3});
  const auto method = load(maker, {x}, {y}, "input f32 2,3 x\noutput f32 2,3 y\nop add_one\n");
  ASSERT_TRUE(method.ok()) << method.error().message;
  std::vector<float> memory = {1, 2, 3, 4, 5, 6};
  const std::vector<int64_t> shape = {2, 3};
  const std::vector<int64_t> transposed = {4, 8};
  const std::vector<int64_t> repeated = {0, 4};
  const std::vector<int64_t> backwards = {12, -4};
  const HostValue views[] = {ArrayView{memory.data(), DType::Float32, shape, transposed.data()},
                             ArrayView{memory.data(), DType::Float32, shape, repeated.data()},
                             ArrayView{&memory[2], DType::Float32, shape, backwards.data()}};
  const std::vector<float> wanted[] = {{2, 4, 6, 3, 5, 7}, {2, 3, 4, 2, 3, 4}, {4, 3, 2, 7, 6, 5}};
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE((*method)->run(std::span(&views[i], 1)).ok());
    EXPECT_EQ(output(**method), wanted[i]);
  }
}

TEST(OpenvinoRequest, TakesOneChannelInEitherMemoryOrder) {
  for (const std::vector<int32_t>& sizes :
       {std::vector<int32_t>{1, 1, 2, 3}, std::vector<int32_t>{2, 3, 1, 1}}) {
    PlanMaker maker;
    const ValueIndex x = maker.channels_last(maker.planned(sizes));
    const ValueIndex y = maker.planned(sizes);
    const std::string port = sizes[0] == 1 ? "f32 1,1,2,3" : "f32 2,3,1,1";
    const auto method =
        load(maker, {x}, {y}, "input " + port + " x\noutput " + port + " y\nop copy\n");
    ASSERT_TRUE(method.ok()) << method.error().message;
    auto input = floats({sizes.begin(), sizes.end()}, {1, 2, 3, 4, 5, 6});
    const HostValue values[] = {input.host()};
    ASSERT_TRUE((*method)->run(values).ok());
    EXPECT_EQ(output(**method), input.values);
  }
}

TEST(OpenvinoRequest, GivesADynamicOutputOneShapeInItsOwnAndInTheCallersMemory) {
  PlanMaker maker;
  const ValueIndex x = maker.dynamic(maker.planned({8, 3}));
  const ValueIndex y = maker.dynamic(maker.planned({8, 3}));
  const auto method = load(maker, {x}, {y}, "input f32 ?,3 x\noutput f32 ?,3 y\nop add_one\n");
  ASSERT_TRUE(method.ok()) << method.error().message;
  auto bound = floats({8, 3}, std::vector<float>(24, -1));
  for (const bool binds : {false, true, false}) {
    ASSERT_TRUE((*method)->bind_output(0, binds ? bound.host() : HostValue(std::monostate())).ok());
    for (const int64_t rows : {2, 5, 0, 8}) {
      auto input = floats({rows, 3}, std::vector<float>(static_cast<size_t>(rows * 3), 1));
      const HostValue values[] = {input.host()};
      ASSERT_TRUE((*method)->run(values).ok()) << rows;
      EXPECT_EQ(output_shape(**method), (std::vector<int64_t>{rows, 3}));
      EXPECT_EQ(output(**method), std::vector<float>(static_cast<size_t>(rows * 3), 2));
    }
  }
}

TEST(OpenvinoRequest, TakesNoUint16ForBfloat16) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({2}, DType::BFloat16);
  const ValueIndex y = maker.planned({2}, DType::BFloat16);
  const auto method = load(maker, {x}, {y}, "input bf16 2 x\noutput bf16 2 y\nop copy\n");
  ASSERT_TRUE(method.ok()) << method.error().message;
  Array<uint16_t> bits{{1, 2}, {2}, DType::UInt16};
  const HostValue wrong[] = {bits.host()};
  expect_error((*method)->run(wrong), Code::InvalidArgument, {"input 0", "uint16", "bfloat16"});
  bits.dtype = DType::BFloat16;
  const HostValue right[] = {bits.host()};
  EXPECT_TRUE((*method)->run(right).ok());
}

TEST(OpenvinoRequest, GivesScalarsToPortsOfOneElement) {
  PlanMaker ints;
  const ValueIndex five = ints.integer(5);
  const ValueIndex y = ints.planned({}, DType::Int64);
  ints.call_delegate("OpenvinoBackend", {five, y},
                     "FAKEBLOB\ninput i32 1 x\noutput i32 scalar y\nop fill scalar 3\n");
  ints.outputs({y});
  PlanMaker reals;
  const ValueIndex half = reals.real(0.5);
  const ValueIndex z = reals.planned({});
  reals.call_delegate("OpenvinoBackend", {half, z},
                      "FAKEBLOB\ninput f32 scalar x\noutput f32 scalar y\nop add_one\n");
  reals.outputs({z});
  for (PlanMaker* maker : {&ints, &reals}) {
    OpenvinoOptions options;
    options.library = kGood;
    RuntimeOptions runtime;
    runtime.delegates.push_back(make_openvino_delegate(options));
    const auto method = load_method(*maker, std::move(runtime));
    ASSERT_TRUE(method.ok()) << method.error().message;
    ASSERT_TRUE((*method)->execute().ok());
    ASSERT_TRUE((*method)->execute().ok());
    if (maker == &reals)
      EXPECT_EQ(output(**method), std::vector<float>{1.5F});
    else
      EXPECT_EQ(integers(**method), std::vector<int64_t>{3});
  }
}

TEST(OpenvinoRequest, RefusesAtLoadAScalarThatThePortCannotHold) {
  PlanMaker maker;
  const ValueIndex half = maker.real(0.5);
  const ValueIndex y = maker.planned({});
  maker.call_delegate("OpenvinoBackend", {half, y},
                      "FAKEBLOB\ninput i64 1 x\noutput f32 scalar y\nop fill scalar 3\n");
  maker.outputs({y});
  OpenvinoOptions options;
  options.library = kGood;
  RuntimeOptions runtime;
  runtime.delegates.push_back(make_openvino_delegate(options));
  expect_error(load_method(maker, std::move(runtime)), Code::Unsupported, {"input 0", "int64"});
}

// ---- What is in force

TEST(OpenvinoOptionsInForce, ShowWhatWasAskedForBesideWhatIs) {
  const Fake fake(kGood);
  fake.script("device GPU FP32,FP16,EXPORT_IMPORT A graphics card\n");
  OpenvinoOptions options = on_device("gpu");
  options.threads = 3;
  const auto compiled = compile(kAddOne, options);
  ASSERT_TRUE(compiled.ok()) << compiled.error().message;
  const ExecutionReport report = (*compiled)->report();
  EXPECT_EQ(report.device, "GPU");
  EXPECT_EQ(report.precision, "f32");
  // A GPU has no such property: it was asked for, and is not in force.
  ASSERT_NE(find(report.requested, "INFERENCE_NUM_THREADS"), nullptr);
  EXPECT_EQ(*find(report.requested, "INFERENCE_NUM_THREADS"), "3");
  EXPECT_EQ(find(report.properties, "INFERENCE_NUM_THREADS"), nullptr);
}

TEST(OpenvinoOptionsInForce, TheCallersPropertiesWin) {
  OpenvinoOptions options;
  options.threads = 2;
  options.config = {{"ENABLE_CPU_PINNING", "YES"}, {"INFERENCE_PRECISION_HINT", "bf16"}};
  const auto compiled = compile(kAddOne, options);
  ASSERT_TRUE(compiled.ok()) << compiled.error().message;
  const ExecutionReport report = (*compiled)->report();
  EXPECT_EQ(report.precision, "bf16");
  EXPECT_EQ(*find(report.properties, "INFERENCE_NUM_THREADS"), "2");
  EXPECT_EQ(*find(report.properties, "ENABLE_CPU_PINNING"), "YES");
  EXPECT_EQ(*find(report.properties, "EXECUTION_MODE_HINT"), "ACCURACY");
}

// docs/decisions/shape_cache.md
TEST(OpenvinoOptionsInForce, TheCacheOfShapesIsOpenvinosUnlessTheCallerSetsIt) {
  const Fake fake(kGood);
  fake.script("property CPU CPU_RUNTIME_CACHE_CAPACITY 5000|100\n");
  ASSERT_TRUE(compile(kAddOne).ok());
  EXPECT_NE(fake.log().find("set CPU PERFORMANCE_HINT=LATENCY"), std::string::npos) << fake.log();
  EXPECT_EQ(fake.log().find("CACHE_CAPACITY"), std::string::npos) << fake.log();
  OpenvinoOptions options;
  options.config = {{"CPU_RUNTIME_CACHE_CAPACITY", "100"}};
  ASSERT_TRUE(compile(kAddOne, options).ok());
  EXPECT_NE(fake.log().find("set CPU CPU_RUNTIME_CACHE_CAPACITY=100"), std::string::npos)
      << fake.log();
}

TEST(OpenvinoOptionsInForce, ThreadsThatAreSetAreNotPinned) {
  OpenvinoOptions options;
  options.threads = 1;
  const auto compiled = compile(kAddOne, options);
  ASSERT_TRUE(compiled.ok()) << compiled.error().message;
  EXPECT_EQ(*find((*compiled)->report().properties, "ENABLE_CPU_PINNING"), "NO");
}

// ---- Compile specs from hostile files

TEST(OpenvinoCompileSpec, NamesTheDeviceWithOrWithoutItsNul) {
  for (const std::string& device : {std::string("CPU"), std::string("cpu\0", 4), std::string()}) {
    const auto compiled = compile(kAddOne, {}, {{"device", device}});
    ASSERT_TRUE(compiled.ok()) << compiled.error().message;
    EXPECT_EQ((*compiled)->report().device, "CPU");
  }
}

TEST(OpenvinoCompileSpec, RefusesWhatIsNoDevice) {
  for (const std::string& device :
       {std::string(size_t{1} << 20, 'C'), std::string("CPU\nGPU"), std::string("C\0PU", 4),
        std::string("\xff\x1b[2J"), std::string("../CPU"), std::string("%s%n")}) {
    expect_error(compile(kAddOne, {}, {{"device", device}}), Code::Malformed,
                 {"compile spec", "device", std::to_string(device.size()) + " bytes"});
  }
  expect_error(compile(kAddOne, {}, {{"device", ".."}}), Code::Missing, {"..", "CPU"});
  expect_error(compile(kAddOne, {}, {{"device", "CPU"}, {"device", "CPU"}}), Code::Malformed,
               {"twice"});
}

TEST(OpenvinoCompileSpec, GivesWayToTheCaller) {
  const auto compiled = compile(kAddOne, on_device(" cpu "), {{"device", "NPU"}});
  ASSERT_TRUE(compiled.ok()) << compiled.error().message;
  EXPECT_EQ((*compiled)->report().device, "CPU");
}

// ---- Refusals, and whom they blame

std::string bytes_of(uint64_t number) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &number, 8);
  return bytes;
}

std::string cpu_blob() {
  std::string blob;
  for (const uint64_t number : {48, 8, 56, 16, 72, 32}) blob += bytes_of(number);
  return blob + std::string(56, 'x');
}

std::string stamped_blob(const std::string& version) {
  const std::string stamp = "meta=1.0;ov=" + version + ";isa=Intel AVX2";
  return "RR_UPCVO" + std::string("\1\0\0\0", 4) + bytes_of(stamp.size()) + stamp + cpu_blob();
}

TEST(OpenvinoRefusal, NamesBothVersionsAndTheRemedy) {
  expect_error(compile(stamped_blob("2026.4.1")), Code::Unsupported,
               {"2026.4.1", "2025.4.1", "export the model again"});
}

TEST(OpenvinoRefusal, NamesBothVersionsWhereTheBlobHasNoStamp) {
  OpenvinoOptions options;
  options.library = kNewer;
  expect_error(compile(cpu_blob(), options), Code::Unsupported,
               {"before 2026", "2026.4.1", "export the model again"});
}

TEST(OpenvinoRefusal, BlamesTheCpuWhereTheVersionIsTheSame) {
  OpenvinoOptions options;
  options.library = kNewer;
  expect_error(compile(stamped_blob("2026.4.1"), options), Code::Unsupported,
               {"Intel AVX2", "this CPU", "export it again"});
}

TEST(OpenvinoRefusal, BlamesAnotherReleaseForOperatorSetsThatThisOneLacks) {
  const Fake fake(kGood);
  fake.script(
      "refuse CPU Cannot create Greater layer from unsupported opset: type_relaxed_opset1\n");
  expect_error(compile(cpu_blob()), Code::Unsupported,
               {"before 2026", "not by OpenVINO 2025.4.1", "export the model again"});
}

TEST(OpenvinoRefusal, BlamesDamageOtherwise) {
  const Fake fake(kGood);
  fake.script("refuse CPU Start-end tags mismatch at offset 832 \xff\xfe\n");
  expect_error(compile(cpu_blob()), Code::Malformed,
               {"damaged", "export the model again", "tags mismatch at offset 832 ??"});
}

TEST(OpenvinoRefusal, BlamesWantOfMemoryOrThreads) {
  const Fake fake(kGood);
  for (const char* words : {"std::bad_alloc", "Resource temporarily unavailable"}) {
    fake.script("refuse CPU Exception from plugin.cpp:73: " + std::string(words) + "\n");
    expect_error(compile(cpu_blob()), Code::ResourceLimit, {"not enough memory", "ulimit", words});
  }
}

TEST(OpenvinoRefusal, BlamesAnInstallationThatReadsNoModel) {
  const Fake fake(kGood);
  fake.script(
      "refuse CPU Unable to read the model\n"
      "fail ov_core_read_model_from_memory_buffer -1 0 0 no reader is left\n");
  expect_error(compile(cpu_blob()), Code::Missing,
               {"openvino_ir_frontend", "install OpenVINO anew", "no reader is left"});
}

TEST(OpenvinoRefusal, BlamesTheDriverInItsOwnWords) {
  const Fake fake(kGood);
  fake.script(
      "device NPU FP16,INT8,EXPORT_IMPORT A neural processor\n"
      "refuse NPU L0 pfnCreate2 result: ZE_RESULT_ERROR_UNSUPPORTED_VERSION, code 0x78000002\n");
  expect_error(compile("a blob of the NPU's", on_device("NPU")), Code::Unsupported,
               {"another NPU driver", "export it again", "0x78000002"});
}

TEST(OpenvinoRefusal, AsksForFixedShapesOnAnNpu) {
  const Fake fake(kGood);
  fake.script(
      "device NPU FP16,INT8,EXPORT_IMPORT A neural processor\n"
      "refuse NPU get_shape was called on a descriptor::Tensor with dynamic shape\n");
  expect_error(compile("a blob of the NPU's", on_device("NPU")), Code::Unsupported,
               {"NPU needs fixed shapes", "export the model again", "descriptor::Tensor"});
}

TEST(OpenvinoRefusal, SaysThatACpusModelIsNoModelForAnotherDevice) {
  const Fake fake(kGood);
  fake.script("device GPU.1 FP32,EXPORT_IMPORT A graphics card\n");
  expect_error(compile(cpu_blob(), on_device("gpu.1")), Code::Unsupported,
               {"for the CPU", "GPU.1"});
  expect_error(compile("a blob of the GPU's"), Code::Unsupported, {"not the CPU's"});
}

TEST(OpenvinoRefusal, KeepsThePluginsWordsWhenListingDevicesFailsToo) {
  const Fake fake(kGood);
  fake.script(
      "broken GPU no driver for the graphics card\n"
      "fail ov_core_get_available_devices -1 0 0 the list is lost\n");
  expect_error(compile(kAddOne, on_device("GPU")), Code::Missing,
               {"GPU", "no driver for the graphics card"});
}

}  // namespace
}  // namespace pteron::test
