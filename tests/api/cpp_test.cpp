// The C++ header.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <thread>
#include <type_traits>

#include "programs.h"
#include "pteron/pteron.hpp"

namespace {

using programs::File;

pteron::Program open(const File& file, const pteron::Options& options = {}) {
  return pteron::Program(file.data(), file.size(), options);
}

void expect_error(const std::function<void()>& body, pteron_status status,
                  const std::vector<std::string>& texts = {}) {
  try {
    body();
    FAIL() << "nothing was thrown";
  } catch (const pteron::Error& error) {
    EXPECT_EQ(error.status(), status) << error.what();
    for (const std::string& text : texts)
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

static_assert(std::is_nothrow_move_constructible_v<pteron::Program>);
static_assert(std::is_nothrow_move_constructible_v<pteron::Method>);
static_assert(!std::is_copy_constructible_v<pteron::Program>);
static_assert(!std::is_copy_constructible_v<pteron::Method>);

// A pointer is no argument: it might be taken for a bool.
static_assert(!std::is_convertible_v<float*, pteron::Value>);
static_assert(std::is_convertible_v<float, pteron::Value>);
static_assert(std::is_convertible_v<std::string, pteron::Value>);

TEST(Cpp, RunsAProgram) {
  const File file = programs::add();
  const pteron::Program program = open(file);
  EXPECT_EQ(program.method_names(), std::vector<std::string>{"forward"});
  pteron::Method method = program.load("forward");
  const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  const std::array<float, 6> y = {10, 20, 30, 40, 50, 60};
  const pteron::Outputs out = method({pteron::tensor(x, {2, 3}), pteron::tensor(y, {2, 3})});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].data<float>()[5], 66);
  EXPECT_EQ(out[0].data<const float>()[0], 11);
  EXPECT_EQ(out[0].shape().to_vector(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(out[0].dtype(), pteron::DType::Float32);
  EXPECT_EQ(out[0].to_vector<float>(), (std::vector<float>{11, 22, 33, 44, 55, 66}));
  const auto span = method.output(0).tensor().span<const float>();
  EXPECT_EQ(span.size(), 6u);
}

TEST(Cpp, SeedsRandomOperators) {
  const File file = programs::random();
  const pteron::Program program = open(file);
  const auto numbers = [&](uint64_t seed) {
    pteron::Method method = program.load("forward", pteron::MethodOptions().seed(seed));
    const pteron::Outputs out = method({});
    return out[0].to_vector<float>();
  };
  EXPECT_EQ(numbers(7), numbers(7));
  EXPECT_NE(numbers(7), numbers(8));
}

TEST(Cpp, ThrowsWhatTheLibraryReports) {
  expect_error([] { pteron::Program program("no/such/model.pte"); }, PTERON_IO,
               {"no/such/model.pte"});
  const File file = programs::add();
  const pteron::Program program = open(file);
  expect_error([&] { program.load("backward"); }, PTERON_INVALID_ARGUMENT, {"backward"});
  pteron::Method method = program.load();
  const std::vector<float> x(6);
  expect_error([&] { method({pteron::tensor(x, {2, 3})}); }, PTERON_INVALID_ARGUMENT,
               {"takes 2 inputs, got 1"});
  expect_error([&] { method.output(0); }, PTERON_INVALID_ARGUMENT);
  expect_error([&] { method.profile(); }, PTERON_INVALID_ARGUMENT, {"profile"});
}

TEST(Cpp, ChecksAnArraysSizeAndDType) {
  const std::vector<float> x(6);
  expect_error([&] { pteron::tensor(x, {2, 4}); }, PTERON_INVALID_ARGUMENT, {"6", "[2, 4]"});
  expect_error([&] { pteron::tensor(x, {-2, -3}); }, PTERON_INVALID_ARGUMENT, {"negative"});
  expect_error([&] { pteron::Shape(std::vector<int64_t>(17, 1)); }, PTERON_INVALID_ARGUMENT,
               {"17"});
  const File file = programs::add();
  const pteron::Program program = open(file);
  pteron::Method method = program.load();
  const auto out = method({pteron::tensor(x, {2, 3}), pteron::tensor(x, {2, 3})});
  expect_error([&] { out[0].data<double>(); }, PTERON_INVALID_ARGUMENT, {"float32", "float64"});
  expect_error([&] { out[0].integer(); }, PTERON_INVALID_ARGUMENT, {"an int"});
  expect_error([&] { out[0].item<float>(); }, PTERON_INVALID_ARGUMENT, {"[2, 3]"});
  const std::vector<double> wrong(6);
  expect_error([&] { method({pteron::tensor(wrong, {2, 3}), pteron::tensor(x, {2, 3})}); },
               PTERON_INVALID_ARGUMENT, {"input 0", "float64"});
}

TEST(Cpp, KnowsTheDTypesOfCppTypes) {
  static_assert(pteron::dtype_of<bool>() == pteron::DType::Bool);
  static_assert(pteron::dtype_of<char>() ==
                (std::is_signed_v<char> ? pteron::DType::Int8 : pteron::DType::UInt8));
  static_assert(pteron::dtype_of<unsigned char>() == pteron::DType::UInt8);
  static_assert(pteron::dtype_of<int16_t>() == pteron::DType::Int16);
  static_assert(pteron::dtype_of<unsigned>() == pteron::DType::UInt32);
  static_assert(pteron::dtype_of<long long>() == pteron::DType::Int64);
  static_assert(pteron::dtype_of<const double>() == pteron::DType::Float64);
  static_assert(pteron::dtype_of<pteron::BFloat16>() == pteron::DType::BFloat16);
  EXPECT_STREQ(pteron::dtype_name(pteron::DType::Float8E5M2), "float8_e5m2");
  EXPECT_EQ(pteron::dtype_size(pteron::DType::Float64), 8u);
}

TEST(Cpp, DescribesInputsAndOutputs) {
  const File file = programs::add_dynamic();
  const pteron::Program program = open(file);
  const pteron::Method method = program.load();
  const std::vector<pteron::Spec> inputs = method.inputs();
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(inputs[1].name, "input1");
  EXPECT_EQ(inputs[1].kind, pteron::Kind::Tensor);
  EXPECT_EQ(inputs[1].dtype, pteron::DType::Float32);
  EXPECT_EQ(inputs[1].shape, (std::vector<int64_t>{4, 3}));
  EXPECT_EQ(inputs[1].dim_order, (std::vector<uint8_t>{0, 1}));
  EXPECT_TRUE(inputs[1].dynamic);
  EXPECT_EQ(method.outputs().size(), 1u);
  EXPECT_TRUE(method.states().empty());
  expect_error([&] { method.input_spec(2); }, PTERON_INVALID_ARGUMENT);
}

TEST(Cpp, TakesScalarsAndText) {
  const File file = programs::scalars();
  const pteron::Program program = open(file);
  pteron::Method method = program.load();
  const std::vector<float> x = {1, 2, 3};
  const size_t three = 3;
  method({pteron::tensor(x), 3, 2.5, true, nullptr, "text"});
  EXPECT_EQ(method.output(0).to_vector<float>(), x);
  method({pteron::tensor(x.data(), {three}), three, 2.5, true, {}, "text"});
  expect_error([&] { method({pteron::tensor(x), 4, 2.5, true, nullptr, "text"}); },
               PTERON_INVALID_ARGUMENT, {"input 1"});
}

// Outputs are views of their method's memory, and a temporary method is gone with its statement.
template <typename M, typename = void>
struct GivesOutputs : std::false_type {};
template <typename M>
struct GivesOutputs<M, std::void_t<decltype(std::declval<M>().execute())>> : std::true_type {};
template <typename M, typename = void>
struct Runs : std::false_type {};
template <typename M>
struct Runs<M, std::void_t<decltype(std::declval<M>()({}))>> : std::true_type {};
template <typename M, typename = void>
struct GivesState : std::false_type {};
template <typename M>
struct GivesState<M, std::void_t<decltype(std::declval<M>().state(0))>> : std::true_type {};
static_assert(GivesOutputs<pteron::Method&>::value && !GivesOutputs<pteron::Method>::value);
static_assert(Runs<pteron::Method&>::value && !Runs<pteron::Method>::value);
static_assert(GivesState<const pteron::Method&>::value && !GivesState<pteron::Method>::value);

TEST(Cpp, TakesStridesAndManyInputs) {
  const File file = programs::add();
  const pteron::Program program = open(file);
  pteron::Method method = program.load();
  std::vector<float> x = {1, 4, 2, 5, 3, 6};
  const pteron::Value transposed(x.data(), pteron::DType::Float32, {2, 3}, {4, 8});
  method.run({transposed, transposed});
  EXPECT_EQ(method.output(0).to_vector<float>(), (std::vector<float>{2, 4, 6, 8, 10, 12}));
  expect_error([&] { pteron::Value(x.data(), pteron::DType::Float32, {2, 3}, {4}); },
               PTERON_INVALID_ARGUMENT, {"1 stride for"});
  const std::vector<pteron::Value> many(12, transposed);
  expect_error([&] { method.run(many); }, PTERON_INVALID_ARGUMENT, {"got 12"});
}

TEST(Cpp, ReadsAViewInAnyMemoryOrder) {
  float memory[6] = {1, 4, 2, 5, 3, 6};
  const int64_t shape[] = {2, 3};
  const int64_t strides[] = {4, 8};
  pteron_value value = pteron_tensor_value(memory, PTERON_FLOAT32, 2, shape);
  value.as.tensor.strides = strides;
  const pteron::Tensor tensor(value.as.tensor);
  EXPECT_EQ(tensor.to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  expect_error([&] { tensor.data<float>(); }, PTERON_INVALID_ARGUMENT, {"row-major"});
  EXPECT_EQ(tensor.raw(), memory);
  EXPECT_EQ(tensor.strides()[1], 8);
}

TEST(Cpp, BindsAndRunsInTheBackground) {
  const File file = programs::add();
  const pteron::Program program = open(file);
  pteron::Method method = program.load();
  std::vector<float> x = {1, 2, 3, 4, 5, 6};
  std::vector<float> out(6);
  method.bind_input(0, pteron::tensor(x, {2, 3}));
  method.bind_input(1, pteron::tensor(x, {2, 3}));
  method.bind_output(0, out, {2, 3});
  method.execute();
  EXPECT_EQ(out, (std::vector<float>{2, 4, 6, 8, 10, 12}));
  x[0] = 50;
  method.start();
  expect_error([&] { method.execute(); }, PTERON_BUSY);
  method.wait();
  EXPECT_EQ(out[0], 100);
  method.unbind_output(0);
  x[0] = 7;
  EXPECT_EQ(method.execute()[0].data<float>()[0], 14);
  EXPECT_EQ(out[0], 100);
  method.bind_output(0, out.data(), {2, 3});
  method.execute();
  EXPECT_EQ(out[0], 14);
}

void accumulate(pteron::Call& call) {
  const pteron::Tensor state = call[0].tensor();
  for (size_t i = 0; i < state.size(); ++i) {
    state.data<float>()[i] += call[1].data<const float>()[i];
    call[2].data<float>()[i] = state.data<float>()[i];
  }
}

TEST(Cpp, KeepsStateAndSharesIt) {
  const File file = programs::state();
  const pteron::Program program =
      open(file, pteron::Options().add_operator("test::accumulate.out", "MT>T", accumulate));
  pteron::Method first = program.load("first");
  pteron::Method second = program.load("second", first);
  const std::vector<float> ones = {1, 1, 1};
  EXPECT_EQ(first({pteron::tensor(ones)})[0].to_vector<float>(), (std::vector<float>{2, 3, 4}));
  EXPECT_EQ(second({pteron::tensor(ones)})[0].to_vector<float>(), (std::vector<float>{3, 4, 5}));
  ASSERT_EQ(first.state_count(), 1u);
  EXPECT_EQ(first.state(0).to_vector<float>(), (std::vector<float>{3, 4, 5}));
  first.set_state(0, pteron::tensor(std::vector<float>{10, 20, 30}));
  EXPECT_EQ(second({pteron::tensor(ones)})[0].to_vector<float>(), (std::vector<float>{11, 21, 31}));
  second.reset_state();
  EXPECT_EQ(first({pteron::tensor(ones)})[0].to_vector<float>(), (std::vector<float>{2, 3, 4}));
  EXPECT_EQ(first.state_spec(0).shape, std::vector<int64_t>{3});
}

TEST(Cpp, OperatorsOutliveTheirProgram) {
  const File file = programs::one_operator();
  const auto calls = std::make_shared<int>(0);
  {
    auto load = [&] {
      const pteron::Program program = open(
          file, pteron::Options().add_operator("test::op.out", "T>T", [calls](pteron::Call& call) {
            ++*calls;
            const pteron::Tensor x = call[0].tensor();
            const pteron::Tensor out = call.resize(1, x.shape());
            const pteron::Span<float> twice = call.scratch<float>(x.size());
            call.parallel_for(x.size(), 1, [&](size_t begin, size_t end) {
              for (size_t i = begin; i < end; ++i) twice[i] = 2 * x.data<float>()[i];
            });
            std::copy(twice.begin(), twice.end(), out.data<float>());
          }));
      return program.load();
    };
    pteron::Method method = load();
    EXPECT_GT(calls.use_count(), 1);
    const std::vector<float> x = {1, 2, 3};
    EXPECT_EQ(method({pteron::tensor(x, {1, 3})})[0].to_vector<float>(),
              (std::vector<float>{2, 4, 6}));
    pteron::Method moved = std::move(method);
    method = std::move(moved);
    method({pteron::tensor(x, {1, 3})});
  }
  EXPECT_EQ(*calls, 2);
  EXPECT_EQ(calls.use_count(), 1);
}

TEST(Cpp, WhatAnOperatorThrowsIsTheErrorOfTheRun) {
  const File file = programs::one_operator();
  const auto run_with = [&](std::function<void(pteron::Call&)> body) {
    const pteron::Program program =
        open(file, pteron::Options().add_operator("test::op.out", "T>T", std::move(body)));
    pteron::Method method = program.load();
    const std::vector<float> x = {1, 2, 3};
    method({pteron::tensor(x, {1, 3})});
  };
  expect_error([&] { run_with([](pteron::Call&) { throw std::runtime_error("full moon"); }); },
               PTERON_FAILED, {"test::op.out", "full moon"});
  expect_error([&] { run_with([](pteron::Call&) { throw 5; }); }, PTERON_FAILED);
  expect_error(
      [&] { run_with([](pteron::Call&) { throw pteron::Error(PTERON_UNSUPPORTED, "not yet"); }); },
      PTERON_UNSUPPORTED, {"not yet"});
  expect_error([&] { run_with([](pteron::Call& call) { call.resize(1, {9, 9}); }); },
               PTERON_INVALID_ARGUMENT, {"[9, 9]", "<=4"});
  expect_error([&] { run_with([](pteron::Call& call) { call[2]; }); }, PTERON_INVALID_ARGUMENT,
               {"no argument 2"});
  expect_error([&] { run_with([](pteron::Call& call) { call[0].data<int>(); }); },
               PTERON_INVALID_ARGUMENT, {"int32"});
  expect_error([&] { run_with([](pteron::Call& call) { call.scratch<double>(SIZE_MAX / 16); }); },
               PTERON_RESOURCE_LIMIT);
}

TEST(Cpp, SeesArgumentsOfEveryKind) {
  const File file = programs::kinds();
  const pteron::Program program =
      open(file, pteron::Options().add_operator(
                     "test::kinds.out", programs::kKindsSignature, [](pteron::Call& call) {
                       EXPECT_EQ(call.size(), 17u);
                       EXPECT_TRUE(call[1].is_none());
                       EXPECT_EQ(call[2].real(), 0.5);
                       EXPECT_EQ(call[4].integer(), 7);
                       EXPECT_EQ(call[4].real(), 7.0);
                       EXPECT_TRUE(call[6].boolean());
                       EXPECT_EQ(call[7].ints().to_vector(), (std::vector<int64_t>{7, 7}));
                       EXPECT_EQ(call[8].doubles().to_vector(), (std::vector<double>{1.5, -2.5}));
                       EXPECT_EQ(call[9].bools().to_vector(), (std::vector<uint8_t>{1, 0, 1}));
                       EXPECT_EQ(call[10].list().size(), 2u);
                       EXPECT_EQ(call[10].list()[1].data<float>()[1], 6);
                       EXPECT_TRUE(call[11].list()[1].is_none());
                       EXPECT_EQ(call[12].string(), "text");
                       call[13].data<float>()[0] = 1;
                       call.set(14, 41);
                       EXPECT_THROW(call.set(15, 41), pteron::Error);
                       call.set(15, 4.25);
                       call.set(16, true);
                     }));
  pteron::Method method = program.load();
  const std::vector<float> x = {5, 6};
  const pteron::Outputs out = method({pteron::tensor(x)});
  EXPECT_EQ(out[1].integer(), 41);
  EXPECT_EQ(out[2].real(), 4.25);
  EXPECT_TRUE(out[3].boolean());
}

TEST(Cpp, OpensWithEveryOption) {
  const File file = programs::add();
  pteron::Options options;
  options.device("CPU")
      .openvino("")
      .cache_dir("")
      .precision(pteron::Precision::F32)
      .hint(pteron::Hint::Throughput)
      .threads(1)
      .copy_file()
      .profile()
      .memory_limit(1 << 20)
      .instruction_limit(10)
      .time_limit(100)
      .config("NUM_STREAMS", "1");
  const pteron::Program program = open(file, options);
  pteron::Method method = program.load();
  const std::vector<float> x(6);
  method({pteron::tensor(x, {2, 3}), pteron::tensor(x, {2, 3})});
  EXPECT_NE(method.profile().find("aten::add.out"), std::string::npos);
  EXPECT_NE(method.execution().find("kernels"), std::string::npos);
  EXPECT_NE(program.info().find("\"file_bytes\": " + std::to_string(file.size())),
            std::string::npos);
  expect_error([&] { open(file, pteron::Options().weights("no/such.ptd")); }, PTERON_IO,
               {"no/such.ptd"});
  expect_error([&] { open(file, pteron::Options().threads(-1)); }, PTERON_INVALID_ARGUMENT,
               {"threads"});
}

TEST(Cpp, ReportsACancelledRun) {
  const File file = programs::one_operator();
  pteron::Method* running = nullptr;
  pteron::Options options;
  options.add_operator("test::op.out", "T>T", [&](pteron::Call&) { running->cancel(); });
  pteron::Method method = open(file, options).load();
  running = &method;
  const std::vector<float> x(3);
  expect_error([&] { method({pteron::tensor(x, {1, 3})}); }, PTERON_CANCELLED, {"cancelled"});
}

TEST(Cpp, ExaminesTheMachine) {
  EXPECT_NE(pteron::doctor().find("\"format\": 1"), std::string::npos);
  EXPECT_EQ(pteron::version(), pteron_version());
  pteron::add_openvino_path("no/such/folder");
  expect_error([] { pteron::add_openvino_path(""); }, PTERON_INVALID_ARGUMENT);
  pteron::set_openvino_remedy("Ask the one who installs it.");
  pteron::set_openvino_remedy("");
}

}  // namespace
