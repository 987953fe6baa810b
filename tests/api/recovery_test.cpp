// Nothing is lost by a call that failed: the method, the program and the process go on working.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <utility>

#include "base/set_environment.h"
#include "support.h"

namespace {

namespace fs = std::filesystem;

constexpr const char* kAddOne = "FAKEBLOB\ninput f32 2,3 x\noutput f32 2,3 y\nop add_one\n";

Floats six(float first = 1) {
  Floats floats{{}, {2, 3}};
  for (int i = 0; i < 6; ++i) floats.data.push_back(first + static_cast<float>(i));
  return floats;
}

class RecoveryOfAMethod : public testing::Test {
 protected:
  RecoveryOfAMethod() : file_(programs::add()), program_(open(file_)), method_(load(program_)) {
    expect_ok(bind_input(method_, 0, x_.value()));
    expect_ok(bind_input(method_, 1, y_.value()));
  }

  // Both what was bound before and inputs of the call's own are computed rightly.
  void expect_works() {
    expect_ok(execute(method_));
    EXPECT_EQ(output(method_).data, (std::vector<float>{11, 13, 15, 17, 19, 21}));
    Floats other = six(100);
    expect_ok(run(method_, {x_.value(), other.value()}));
    EXPECT_EQ(output(method_).data, (std::vector<float>{101, 103, 105, 107, 109, 111}));
  }

  void expect_refused_and_works(const Outcome& outcome, const std::vector<std::string>& texts) {
    expect_failure(outcome, PTERON_INVALID_ARGUMENT, texts);
    expect_works();
  }

  programs::File file_;
  ProgramHandle program_;
  MethodHandle method_;
  Floats x_ = six();
  Floats y_ = six(10);
};

TEST_F(RecoveryOfAMethod, AfterAWrongNumberOfInputs) {
  const std::vector<pteron_value> three(3, x_.value());
  for (const size_t count : {size_t{0}, size_t{1}, size_t{3}}) {
    const std::vector<pteron_value> inputs(three.begin(),
                                           three.begin() + static_cast<std::ptrdiff_t>(count));
    expect_refused_and_works(run(method_, inputs), {"2", std::to_string(count)});
  }
}

TEST_F(RecoveryOfAMethod, AfterWrongInputs) {
  const int64_t shape[] = {2, 3};
  const int64_t large[] = {3, 3};
  const int64_t negative[] = {-2, 3};
  float* data = x_.data.data();
  pteron_value integer{};
  integer.kind = PTERON_KIND_INT;
  pteron_value no_dtype = pteron_tensor_value(data, PTERON_FLOAT32, 2, shape);
  no_dtype.as.tensor.dtype = 99;
  pteron_value no_kind{};
  no_kind.kind = 99;
  const std::pair<pteron_value, std::string> wrong[] = {
      {pteron_tensor_value(data, PTERON_INT64, 2, shape), "int64"},
      {no_dtype, "99"},
      {pteron_tensor_value(data, PTERON_FLOAT32, 1, shape), "[2]"},
      {pteron_tensor_value(data, PTERON_FLOAT32, 2, large), "[3, 3]"},
      {pteron_tensor_value(data, PTERON_FLOAT32, 2, negative), "-2"},
      {pteron_tensor_value(data, PTERON_FLOAT32, -1, shape), "-1"},
      {pteron_tensor_value(data, PTERON_FLOAT32, 99, shape), "99"},
      {pteron_tensor_value(nullptr, PTERON_FLOAT32, 2, shape), "input"},
      {pteron_tensor_value(data, PTERON_FLOAT32, 2, nullptr), "input"},
      {integer, "int"},
      {pteron_value{}, "none"},
      {no_kind, "99"}};
  for (const auto& [value, text] : wrong) {
    SCOPED_TRACE(text);
    expect_refused_and_works(bind_input(method_, 0, value), {"input 0", text});
    // The good input before the wrong one is not kept either.
    Floats other = six(1000);
    expect_refused_and_works(run(method_, {other.value(), value}), {"input 1", text});
  }
}

TEST_F(RecoveryOfAMethod, AfterIndicesOutOfRangeAndCallsOutOfTurn) {
  const pteron_value x = x_.value();
  pteron_value got{};
  pteron_spec spec = PTERON_INIT(pteron_spec);
  char* json = nullptr;
  pteron_method* method = method_.get();
  const std::function<pteron_status(pteron_error**)> calls[] = {
      [&](pteron_error** e) { return pteron_method_bind_input(method, 2, &x, e); },
      [&](pteron_error** e) { return pteron_method_bind_output(method, 1, &x, e); },
      [&](pteron_error** e) { return pteron_method_get_output(method, 1, &got, e); },
      [&](pteron_error** e) { return pteron_method_input_spec(method, 2, &spec, e); },
      [&](pteron_error** e) { return pteron_method_output_spec(method, SIZE_MAX, &spec, e); },
      [&](pteron_error** e) { return pteron_method_state_spec(method, 0, &spec, e); },
      [&](pteron_error** e) { return pteron_method_get_state(method, 0, &got, e); },
      [&](pteron_error** e) { return pteron_method_set_state(method, 0, &x, e); },
      [&](pteron_error** e) { return pteron_method_wait(method, e); },
      [&](pteron_error** e) { return pteron_method_profile(method, &json, e); }};
  for (const auto& function : calls) expect_refused_and_works(call(function), {});
  EXPECT_EQ(json, nullptr);
}

TEST_F(RecoveryOfAMethod, AfterAnOutputThatDoesNotFit) {
  std::vector<double> doubles(6);
  const int64_t shape[] = {2, 3};
  const int64_t small[] = {1, 3};
  for (const pteron_value& value : {pteron_tensor_value(doubles.data(), PTERON_FLOAT64, 2, shape),
                                    pteron_tensor_value(doubles.data(), PTERON_FLOAT32, 2, small),
                                    pteron_tensor_value(nullptr, PTERON_FLOAT32, 2, shape)}) {
    expect_refused_and_works(call([&](pteron_error** error) {
                               return pteron_method_bind_output(method_.get(), 0, &value, error);
                             }),
                             {"output 0"});
  }
}

TEST_F(RecoveryOfAMethod, OfOneThatWasStartedAfterCallsThatFoundItBusy) {
  expect_ok(call([&](pteron_error** e) { return pteron_method_start(method_.get(), e); }));
  expect_failure(execute(method_), PTERON_BUSY);
  expect_failure(bind_input(method_, 0, x_.value()), PTERON_BUSY);
  expect_failure(call([&](pteron_error** e) { return pteron_method_start(method_.get(), e); }),
                 PTERON_BUSY);
  expect_ok(call([&](pteron_error** e) { return pteron_method_wait(method_.get(), e); }));
  expect_works();
}

TEST_F(RecoveryOfAMethod, AfterTheProgramFailedToLoadAnother) {
  MethodHandle other;
  expect_failure(try_load(program_, "backward", nullptr, &other), PTERON_INVALID_ARGUMENT,
                 {"backward", "forward"});
  const ProgramHandle stranger = open(file_);
  const MethodHandle strange = load(stranger);
  expect_failure(try_load(program_, nullptr, strange.get(), &other), PTERON_INVALID_ARGUMENT);
  expect_works();
  other = load(program_);
  Floats x = six();
  expect_ok(run(other, {x.value(), x.value()}));
}

pteron_status add_hundred(void* calls, pteron_call* call) {
  if (++*static_cast<int*>(calls) == 1) return pteron_call_fail(call, "only this once");
  pteron_value in;
  pteron_value out;
  if (pteron_call_argument(call, 0, &in) != PTERON_OK) return PTERON_INTERNAL;
  if (pteron_call_argument(call, 1, &out) != PTERON_OK) return PTERON_INTERNAL;
  for (int i = 0; i < 6; ++i)
    static_cast<float*>(out.as.tensor.data)[i] =
        static_cast<const float*>(in.as.tensor.data)[i] + 100;
  return PTERON_OK;
}

TEST(Recovery, OfAMethodWhoseOperatorFailedOnce) {
  int calls = 0;
  pteron_operator op = PTERON_INIT(pteron_operator);
  op.name = "test::op.out";
  op.signature = "T>T";
  op.context = &calls;
  op.run = add_hundred;
  pteron_program_options options = PTERON_INIT(pteron_program_options);
  options.operators = &op;
  options.operator_count = 1;
  const programs::File file = programs::one_operator();
  const ProgramHandle program = open(file, &options);
  const MethodHandle method = load(program);
  Floats x = six();
  expect_failure(run(method, {x.value()}), PTERON_FAILED, {"test::op.out", "only this once"});
  pteron_value none{};
  EXPECT_NE(pteron_method_get_output(method.get(), 0, &none, nullptr), PTERON_OK);
  expect_ok(run(method, {x.value()}));
  EXPECT_EQ(output(method).data[0], 101);
}

TEST(Recovery, OfAProgramThatLacksOperatorsAndADelegateAllOfThemNamed) {
  const programs::File file = programs::lacking();
  const ProgramHandle program = open(file);
  for (int i = 0; i < 2; ++i) {
    MethodHandle method;
    expect_failure(try_load(program, nullptr, nullptr, &method), PTERON_MISSING,
                   {"test::first.out", "test::second.out", "TestBackend"});
    EXPECT_EQ(method, nullptr);
    char* json = nullptr;
    expect_ok(call([&](pteron_error** e) { return pteron_program_info(program.get(), &json, e); }));
    pteron_string_free(json);
  }
}

TEST(Recovery, OfWeightsThatWereMissingAtFirst) {
  const std::string folder = std::string(PTERON_GOLDEN_DIR) + "/portable/models__ModuleLinear_ptd/";
  const std::string path = folder + "model.pte";
  const std::string right = folder + "_default_external_constant.ptd";
  const std::string wrong = std::string(PTERON_GOLDEN_DIR) +
                            "/portable/models__ModuleAddMul_ptd/_default_external_constant.ptd";
  const auto load_with = [&](std::vector<const char*> weights) {
    pteron_program_options options = PTERON_INIT(pteron_program_options);
    options.weights = weights.data();
    options.weights_count = weights.size();
    pteron_program* opened = nullptr;
    Outcome outcome = call([&](pteron_error** error) {
      return pteron_program_open(path.c_str(), &options, &opened, error);
    });
    const ProgramHandle program(opened);
    MethodHandle method;
    if (outcome.status == PTERON_OK) outcome = try_load(program, nullptr, nullptr, &method);
    return outcome;
  };
  expect_failure(load_with({}), PTERON_MISSING, {"weight"});
  expect_failure(load_with({wrong.c_str()}), PTERON_MISSING, {"weight"});
  expect_failure(load_with({path.c_str()}), PTERON_MALFORMED, {path});
  expect_failure(load_with({right.c_str(), "no/such.ptd"}), PTERON_IO, {"no/such.ptd"});
  expect_ok(load_with({right.c_str()}));
}

// One test: a process loads OpenVINO once.
TEST(Recovery, OfAProcessAfterEachWayToLackOpenvinoAndAFailedRun) {
  const fs::path folder = fs::path(testing::TempDir()) / "pteron_recovery";
  fs::remove_all(folder);
  fs::create_directories(folder / "empty");
  fs::create_directories(folder / "text");
  std::ofstream(folder / "text" / "libopenvino_c.so.2541") << "no library";
  std::ofstream(folder / "script") << "fail ov_infer_request_infer -1 0 1 a wire came off\n";
  pteron::test::set_environment("FAKE_OPENVINO_SCRIPT", (folder / "script").string());

  const programs::File file = programs::openvino(kAddOne);
  const programs::File damaged = programs::openvino("no blob");
  const programs::File portable = programs::add();
  Floats x = six();
  const auto try_openvino = [&](const programs::File& bytes, const std::string& openvino,
                                const char* device = nullptr) {
    pteron_program_options options = PTERON_INIT(pteron_program_options);
    options.openvino = openvino.c_str();
    options.device = device;
    ProgramHandle program;
    MethodHandle method;
    expect_ok(try_open(bytes, &options, &program));
    const Outcome outcome = try_load(program, nullptr, nullptr, &method);
    EXPECT_EQ(outcome.status == PTERON_OK, method != nullptr);
    // What needs no OpenVINO does not miss it.
    const ProgramHandle other = open(portable, &options);
    const MethodHandle sum = load(other);
    expect_ok(run(sum, {x.value(), x.value()}));
    EXPECT_EQ(output(sum).data[5], 12);
    return outcome;
  };
  const std::string fakes = PTERON_FAKE_OPENVINO_DIR;
  const std::string good = fakes + "/good";
  expect_failure(try_openvino(file, (folder / "absent").string()), PTERON_MISSING, {"absent"});
  expect_failure(try_openvino(file, (folder / "empty").string()), PTERON_MISSING, {"empty"});
  expect_failure(try_openvino(file, (folder / "text").string()), PTERON_MISSING, {"text"});
  expect_failure(try_openvino(file, fakes + "/old"), PTERON_MISSING, {"2025.0", "2025.1"});
  expect_failure(try_openvino(file, good, "none"), PTERON_MISSING, {"OpenvinoBackend"});
  expect_failure(try_openvino(file, good, "NPU"), PTERON_MISSING, {"NPU", "CPU"});
  EXPECT_NE(try_openvino(damaged, good).status, PTERON_OK);
  expect_ok(try_openvino(file, good));

  pteron_program_options options = PTERON_INIT(pteron_program_options);
  options.openvino = good.c_str();
  const ProgramHandle program = open(file, &options);
  const MethodHandle method = load(program);
  expect_failure(run(method, {x.value()}), PTERON_FAILED, {"a wire came off"});
  expect_ok(run(method, {x.value()}));
  EXPECT_EQ(output(method).data, six(2).data);
  fs::remove_all(folder);
}

// A file may say anything in a compile spec.
TEST(Recovery, OfDevicesOfAnyBytes) {
  const std::string good = std::string(PTERON_FAKE_OPENVINO_DIR) + "/good";
  pteron_program_options options = PTERON_INIT(pteron_program_options);
  options.openvino = good.c_str();
  const std::vector<std::vector<std::string>> wrong = {
      {"CPU\nset"}, {"../CPU"},      {std::string("C\0PU", 4)}, {std::string(1 << 20, 'C')},
      {"\xff\xfe"}, {"CPU:0,CPU:1"}, {"\x1b[31mCPU"},           {"GPU", "NPU"}};
  for (const auto& devices : wrong) {
    const programs::File file = programs::openvino(kAddOne, devices);
    const ProgramHandle program = open(file, &options);
    MethodHandle method;
    const Outcome outcome = try_load(program, nullptr, nullptr, &method);
    EXPECT_NE(outcome.status, PTERON_OK) << devices[0].substr(0, 20);
    EXPECT_LT(outcome.message.size(), 4096u);
  }
  for (const std::string& device : {std::string("CPU"), std::string("CPU\0", 4), std::string()}) {
    const programs::File file = programs::openvino(kAddOne, {device});
    const ProgramHandle program = open(file, &options);
    const MethodHandle method = load(program);
    Floats x = six();
    expect_ok(run(method, {x.value()}));
  }
}

}  // namespace
