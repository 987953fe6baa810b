// Running methods: inputs, outputs, bindings, state, threads.
#include <atomic>
#include <cstring>
#include <thread>

#include "operators.h"

namespace {

pteron_value scalar(int64_t value) {
  pteron_value out{};
  out.kind = PTERON_KIND_INT;
  out.as.integer = value;
  return out;
}
pteron_value scalar(double value) {
  pteron_value out{};
  out.kind = PTERON_KIND_DOUBLE;
  out.as.real = value;
  return out;
}
pteron_value scalar(bool value) {
  pteron_value out{};
  out.kind = PTERON_KIND_BOOL;
  out.as.boolean = value;
  return out;
}
pteron_value scalar(const char* value) {
  pteron_value out{};
  out.kind = PTERON_KIND_STRING;
  out.as.string = value;
  return out;
}

TEST(Specs, SayWhatAMethodTakes) {
  const programs::File file = programs::add_dynamic();
  const ProgramHandle program = open(file);
  const MethodHandle method = load(program);
  ASSERT_EQ(pteron_method_input_count(method.get()), 2u);
  ASSERT_EQ(pteron_method_output_count(method.get()), 1u);
  pteron_spec spec = PTERON_INIT(pteron_spec);
  expect_ok(call([&](pteron_error** error) {
    return pteron_method_input_spec(method.get(), 1, &spec, error);
  }));
  EXPECT_STREQ(spec.name, "input1");
  EXPECT_EQ(spec.kind, PTERON_KIND_TENSOR);
  EXPECT_EQ(spec.dtype, PTERON_FLOAT32);
  ASSERT_EQ(spec.rank, 2);
  EXPECT_EQ(spec.shape[0], 4);
  EXPECT_EQ(spec.dim_order[1], 1);
  EXPECT_EQ(spec.dynamic, 1);
  expect_failure(call([&](pteron_error** error) {
                   return pteron_method_output_spec(method.get(), 1, &spec, error);
                 }),
                 PTERON_INVALID_ARGUMENT, {"no output 1", "it has 1"});
  expect_failure(call([&](pteron_error** error) {
                   return pteron_method_state_spec(method.get(), 0, &spec, error);
                 }),
                 PTERON_INVALID_ARGUMENT, {"no state 0"});
}

TEST(Specs, OfAnEarlierVersionGetNoMoreThanTheyHaveRoomFor) {
  const programs::File file = programs::add();
  const ProgramHandle program = open(file);
  const MethodHandle method = load(program);
  pteron_spec spec;
  std::memset(static_cast<void*>(&spec), 0x5a, sizeof(spec));
  spec.struct_size = offsetof(pteron_spec, kind);
  expect_ok(call([&](pteron_error** error) {
    return pteron_method_input_spec(method.get(), 0, &spec, error);
  }));
  EXPECT_STREQ(spec.name, "input0");
  EXPECT_EQ(spec.struct_size, offsetof(pteron_spec, kind));
  EXPECT_EQ(spec.kind, 0x5a5a5a5a);
}

TEST(Run, SaysHowManyInputsItTakes) {
  const programs::File file = programs::add();
  const ProgramHandle program = open(file);
  const MethodHandle method = load(program);
  Floats x{{1, 2, 3, 4, 5, 6}, {2, 3}};
  expect_failure(run(method, {x.value()}), PTERON_INVALID_ARGUMENT,
                 {"forward", "takes 2 inputs, got 1", "input0 float32 [2, 3]"});
  expect_failure(run(method, {}), PTERON_INVALID_ARGUMENT, {"takes 2 inputs, got 0"});
  expect_failure(run(method, {x.value(), x.value(), x.value()}), PTERON_INVALID_ARGUMENT,
                 {"takes 2 inputs, got 3"});
  expect_failure(call([&](pteron_error** error) {
                   return pteron_method_run(method.get(), nullptr, 2, error);
                 }),
                 PTERON_INVALID_ARGUMENT, {"inputs"});
  // Nothing is lost.
  expect_ok(run(method, {x.value(), x.value()}));
  EXPECT_EQ(output(method).data, (std::vector<float>{2, 4, 6, 8, 10, 12}));
}

TEST(Run, RefusesStridesThatLeadFurtherThanMemoryCanBe) {
  const programs::File file = programs::add();
  const ProgramHandle program = open(file);
  const MethodHandle method = load(program);
  Floats x{{1, 2, 3, 4, 5, 6}, {2, 3}};
  pteron_value far = x.value();
  for (const auto& [rows, columns] : {std::pair{INT64_MAX, int64_t{4}},
                                      {INT64_MIN, int64_t{4}},
                                      {int64_t{4}, INT64_MAX},
                                      {int64_t{4}, INT64_MIN / 2},
                                      {INT64_MAX / 3, INT64_MAX / 3}}) {
    const int64_t strides[] = {rows, columns};
    far.as.tensor.strides = strides;
    expect_failure(run(method, {x.value(), far}), PTERON_INVALID_ARGUMENT, {"input 1", "strides"});
  }
  expect_ok(run(method, {x.value(), x.value()}));
}

TEST(Run, NamesAnInputOfTheWrongDTypeShapeOrKind) {
  const programs::File file = programs::add();
  const ProgramHandle program = open(file);
  const MethodHandle method = load(program);
  Floats x{{1, 2, 3, 4, 5, 6}, {2, 3}};
  pteron_value wrong = x.value();
  wrong.as.tensor.dtype = PTERON_INT32;
  expect_failure(run(method, {x.value(), wrong}), PTERON_INVALID_ARGUMENT,
                 {"input 1", "int32", "float32 [2, 3]"});
  wrong.as.tensor.dtype = 8;
  expect_failure(run(method, {wrong, x.value()}), PTERON_INVALID_ARGUMENT, {"input 0", "8"});
  Floats transposed{{1, 2, 3, 4, 5, 6}, {3, 2}};
  expect_failure(run(method, {transposed.value(), x.value()}), PTERON_INVALID_ARGUMENT,
                 {"input 0", "[3, 2]", "[2, 3]"});
  wrong = x.value();
  wrong.as.tensor.rank = PTERON_MAX_RANK + 1;
  expect_failure(run(method, {x.value(), wrong}), PTERON_INVALID_ARGUMENT, {"rank 17"});
  wrong.as.tensor.rank = -1;
  expect_failure(run(method, {x.value(), wrong}), PTERON_INVALID_ARGUMENT, {"rank -1"});
  wrong = x.value();
  wrong.as.tensor.shape = nullptr;
  expect_failure(run(method, {x.value(), wrong}), PTERON_INVALID_ARGUMENT, {"no shape"});
  wrong = x.value();
  wrong.as.tensor.data = nullptr;
  expect_failure(run(method, {x.value(), wrong}), PTERON_INVALID_ARGUMENT, {"null"});
  expect_failure(run(method, {x.value(), scalar(int64_t{1})}), PTERON_INVALID_ARGUMENT,
                 {"input 1", "the int 1"});
  wrong.kind = PTERON_KIND_INT_LIST;
  expect_failure(run(method, {x.value(), wrong}), PTERON_INVALID_ARGUMENT, {"kind 6"});
  wrong.kind = 77;
  expect_failure(run(method, {x.value(), wrong}), PTERON_INVALID_ARGUMENT, {"kind 77"});
  expect_ok(run(method, {x.value(), x.value()}));
}

TEST(Run, TakesTheScalarsTheProgramWasTracedWith) {
  const programs::File file = programs::scalars();
  const ProgramHandle program = open(file);
  const MethodHandle method = load(program);
  Floats x{{1, 2, 3}, {3}};
  const pteron_value none{};
  std::vector<pteron_value> inputs = {x.value(), scalar(int64_t{3}), scalar(2.5), scalar(true),
                                      none,      scalar("text")};
  expect_ok(run(method, inputs));
  EXPECT_EQ(output(method).data, x.data);
  const auto with = [&](size_t index, pteron_value value) {
    std::vector<pteron_value> changed = inputs;
    changed[index] = value;
    return run(method, changed);
  };
  expect_failure(with(1, scalar(int64_t{4})), PTERON_INVALID_ARGUMENT, {"input 1", "the int 3"});
  expect_failure(with(2, scalar(3.5)), PTERON_INVALID_ARGUMENT, {"input 2", "2.5"});
  expect_failure(with(3, scalar(false)), PTERON_INVALID_ARGUMENT, {"input 3", "true"});
  expect_failure(with(4, scalar(false)), PTERON_INVALID_ARGUMENT, {"input 4", "none"});
  expect_failure(with(5, scalar("other")), PTERON_INVALID_ARGUMENT, {"input 5", "text"});
  expect_failure(with(5, scalar(static_cast<const char*>(nullptr))), PTERON_INVALID_ARGUMENT,
                 {"null"});
}

TEST(Run, TakesAnyStrides) {
  const programs::File file = programs::add();
  const ProgramHandle program = open(file);
  const MethodHandle method = load(program);
  // The transpose of a [3, 2] array, and one row for both rows, backwards.
  Floats columns{{1, 4, 2, 5, 3, 6}, {2, 3}};
  const int64_t transposed[] = {4, 8};
  Floats row{{30, 20, 10}, {2, 3}};
  const int64_t backwards[] = {0, -4};
  pteron_value x = columns.value();
  x.as.tensor.strides = transposed;
  pteron_value y = row.value();
  y.as.tensor.data = row.data.data() + 2;
  y.as.tensor.strides = backwards;
  expect_ok(run(method, {x, y}));
  EXPECT_EQ(output(method).data, (std::vector<float>{11, 22, 33, 14, 25, 36}));
}

TEST(Run, ResizesDynamicOutputsAndSaysTheBounds) {
  const programs::File file = programs::add_dynamic();
  const ProgramHandle program = open(file);
  const MethodHandle method = load(program);
  for (int64_t rows : {4, 1, 3, 0, 2}) {
    const std::vector<float> ones(static_cast<size_t>(rows) * 3, 1);
    Floats x{ones, {rows, 3}};
    expect_ok(run(method, {x.value(), x.value()}));
    const Floats out = output(method);
    EXPECT_EQ(out.shape, x.shape);
    EXPECT_EQ(out.data, std::vector<float>(ones.size(), 2));
  }
  Floats big{std::vector<float>(15), {5, 3}};
  expect_failure(run(method, {big.value(), big.value()}), PTERON_INVALID_ARGUMENT,
                 {"[5, 3]", "<=4"});
}

TEST(Run, ShapesThatAnOperatorRefusesAreWrongUseAndItNamesItsArguments) {
  const programs::File file = programs::add_dynamic();
  const ProgramHandle program = open(file);
  const MethodHandle method = load(program);
  Floats two{std::vector<float>(6), {2, 3}};
  Floats three{std::vector<float>(9), {3, 3}};
  expect_failure(run(method, {two.value(), three.value()}), PTERON_INVALID_ARGUMENT,
                 {"aten::add.out", "argument 0 (float32 [2, 3])", "argument 1 (float32 [3, 3])"});
  expect_ok(run(method, {two.value(), two.value()}));
}

TEST(Bind, BorrowsInputsUntilBoundAgain) {
  const programs::File file = programs::add();
  const ProgramHandle program = open(file);
  const MethodHandle method = load(program);
  Floats x{{1, 2, 3, 4, 5, 6}, {2, 3}};
  Floats y{{10, 10, 10, 10, 10, 10}, {2, 3}};
  expect_failure(execute(method), PTERON_INVALID_ARGUMENT, {"input 0", "not bound"});
  expect_ok(bind_input(method, 0, x.value()));
  expect_failure(execute(method), PTERON_INVALID_ARGUMENT, {"input 1", "not bound"});
  expect_ok(bind_input(method, 1, y.value()));
  expect_ok(execute(method));
  EXPECT_EQ(output(method).data[0], 11);
  x.data[0] = 5;  // The memory is read at each execute.
  expect_ok(execute(method));
  EXPECT_EQ(output(method).data[0], 15);
  // A failed bind leaves the old one.
  Floats wrong{{1}, {1}};
  expect_failure(bind_input(method, 0, wrong.value()), PTERON_INVALID_ARGUMENT, {"[1]"});
  expect_ok(execute(method));
  EXPECT_EQ(output(method).data[0], 15);
  // A run with inputs of its own leaves the bindings.
  expect_ok(run(method, {y.value(), y.value()}));
  EXPECT_EQ(output(method).data[0], 20);
  expect_ok(execute(method));
  EXPECT_EQ(output(method).data[0], 15);
  expect_ok(bind_input(method, 0, y.value()));
  expect_ok(execute(method));
  EXPECT_EQ(output(method).data[0], 20);
  expect_failure(bind_input(method, 2, y.value()), PTERON_INVALID_ARGUMENT, {"no input 2"});
}

TEST(Bind, WritesOutputsWhereTheCallerWants) {
  const programs::File file = programs::add();
  const ProgramHandle program = open(file);
  const MethodHandle method = load(program);
  Floats x{{1, 2, 3, 4, 5, 6}, {2, 3}};
  Floats out{{0, 0, 0, 0, 0, 0}, {2, 3}};
  const auto bind_output = [&](const pteron_value* value) {
    return call([&](pteron_error** error) {
      return pteron_method_bind_output(method.get(), 0, value, error);
    });
  };
  const pteron_value target = out.value();
  expect_ok(bind_output(&target));
  expect_ok(run(method, {x.value(), x.value()}));
  EXPECT_EQ(out.data, (std::vector<float>{2, 4, 6, 8, 10, 12}));
  pteron_value seen;
  expect_ok(call([&](pteron_error** error) {
    return pteron_method_get_output(method.get(), 0, &seen, error);
  }));
  EXPECT_EQ(seen.as.tensor.data, out.data.data());
  // Back to the method's own memory.
  expect_ok(bind_output(nullptr));
  std::fill(out.data.begin(), out.data.end(), 0.0F);
  expect_ok(run(method, {x.value(), x.value()}));
  EXPECT_EQ(out.data, std::vector<float>(6, 0));
  EXPECT_EQ(output(method).data[5], 12);

  Floats wrong{{0, 0}, {2}};
  pteron_value value = wrong.value();
  expect_failure(bind_output(&value), PTERON_INVALID_ARGUMENT, {"output 0", "[2]"});
  value = out.value();
  value.as.tensor.dtype = PTERON_FLOAT64;
  expect_failure(bind_output(&value), PTERON_INVALID_ARGUMENT, {"output 0", "float64"});
  const int64_t strides[] = {4, 8};
  value = out.value();
  value.as.tensor.strides = strides;
  expect_failure(bind_output(&value), PTERON_INVALID_ARGUMENT, {"output 0", "row-major"});
}

TEST(Output, IsThereAfterASuccessfulRunOnly) {
  const programs::File file = programs::add();
  const ProgramHandle program = open(file);
  const MethodHandle method = load(program);
  pteron_value value;
  const auto get = [&](size_t index) {
    return call([&](pteron_error** error) {
      return pteron_method_get_output(method.get(), index, &value, error);
    });
  };
  expect_failure(get(0), PTERON_INVALID_ARGUMENT, {"forward"});
  Floats x{{1, 2, 3, 4, 5, 6}, {2, 3}};
  expect_ok(run(method, {x.value(), x.value()}));
  expect_ok(get(0));
  expect_failure(get(1), PTERON_INVALID_ARGUMENT, {"1"});
  expect_failure(call([&](pteron_error** error) {
                   return pteron_method_get_output(method.get(), 0, nullptr, error);
                 }),
                 PTERON_INVALID_ARGUMENT, {"value"});
}

TEST(Method, OfNothingIsRefusedEverywhere) {
  pteron_spec spec = PTERON_INIT(pteron_spec);
  pteron_value value{};
  char* json = nullptr;
  const std::vector<Outcome> outcomes = {
      call([&](pteron_error** e) { return pteron_method_input_spec(nullptr, 0, &spec, e); }),
      call([&](pteron_error** e) { return pteron_method_output_spec(nullptr, 0, &spec, e); }),
      call([&](pteron_error** e) { return pteron_method_state_spec(nullptr, 0, &spec, e); }),
      call([&](pteron_error** e) { return pteron_method_bind_input(nullptr, 0, &value, e); }),
      call([&](pteron_error** e) { return pteron_method_bind_output(nullptr, 0, &value, e); }),
      call([&](pteron_error** e) { return pteron_method_execute(nullptr, e); }),
      call([&](pteron_error** e) { return pteron_method_run(nullptr, &value, 1, e); }),
      call([&](pteron_error** e) { return pteron_method_announce(nullptr, e); }),
      call([&](pteron_error** e) { return pteron_method_start(nullptr, e); }),
      call([&](pteron_error** e) { return pteron_method_wait(nullptr, e); }),
      call([&](pteron_error** e) { return pteron_method_get_output(nullptr, 0, &value, e); }),
      call([&](pteron_error** e) { return pteron_method_get_state(nullptr, 0, &value, e); }),
      call([&](pteron_error** e) { return pteron_method_set_state(nullptr, 0, &value, e); }),
      call([&](pteron_error** e) { return pteron_method_reset_state(nullptr, e); }),
      call([&](pteron_error** e) { return pteron_method_execution(nullptr, &json, e); }),
      call([&](pteron_error** e) { return pteron_method_profile(nullptr, &json, e); }),
  };
  for (const Outcome& outcome : outcomes)
    expect_failure(outcome, PTERON_INVALID_ARGUMENT, {"method is null"});
  EXPECT_EQ(pteron_method_input_count(nullptr), 0u);
  EXPECT_EQ(pteron_method_output_count(nullptr), 0u);
  EXPECT_EQ(pteron_method_state_count(nullptr), 0u);
  pteron_method_free(nullptr);
  pteron_method_cancel(nullptr);
}

TEST(State, IsKeptReadSetAndReset) {
  const WithOperators with({accumulate_operator()});
  const programs::File file = programs::state();
  const ProgramHandle program = open(file, &with.options);
  const MethodHandle method = load(program, "first");
  ASSERT_EQ(pteron_method_state_count(method.get()), 1u);
  Floats x{{1, 1, 1}, {3}};
  expect_ok(run(method, {x.value()}));
  EXPECT_EQ(output(method).data, (std::vector<float>{2, 3, 4}));
  expect_ok(run(method, {x.value()}));
  EXPECT_EQ(output(method).data, (std::vector<float>{3, 4, 5}));

  pteron_value value;
  expect_ok(call([&](pteron_error** error) {
    return pteron_method_get_state(method.get(), 0, &value, error);
  }));
  EXPECT_EQ(floats_of(value).data, (std::vector<float>{3, 4, 5}));
  const auto set = [&](const pteron_value& to) {
    return call(
        [&](pteron_error** error) { return pteron_method_set_state(method.get(), 0, &to, error); });
  };
  Floats hundred{{100, 200, 300}, {3}};
  expect_ok(set(hundred.value()));
  expect_ok(run(method, {x.value()}));
  EXPECT_EQ(output(method).data, (std::vector<float>{101, 201, 301}));
  Floats wrong{{1, 2}, {2}};
  expect_failure(set(wrong.value()), PTERON_INVALID_ARGUMENT, {"[2]"});
  expect_failure(call([&](pteron_error** error) {
                   return pteron_method_get_state(method.get(), 1, &value, error);
                 }),
                 PTERON_INVALID_ARGUMENT, {"1"});
  expect_ok(
      call([&](pteron_error** error) { return pteron_method_reset_state(method.get(), error); }));
  expect_ok(run(method, {x.value()}));
  EXPECT_EQ(output(method).data, (std::vector<float>{2, 3, 4}));
}

TEST(State, IsAMethodsOwnUnlessShared) {
  const WithOperators with({accumulate_operator()});
  const programs::File file = programs::state();
  const ProgramHandle program = open(file, &with.options);
  MethodHandle first = load(program, "first");
  const MethodHandle alone = load(program, "second");
  const MethodHandle sharing = load(program, "second", first.get());
  Floats x{{1, 1, 1}, {3}};
  expect_ok(run(first, {x.value()}));
  expect_ok(run(alone, {x.value()}));
  EXPECT_EQ(output(alone).data[0], 2);
  expect_ok(run(sharing, {x.value()}));
  EXPECT_EQ(output(sharing).data[0], 3);
  // A method that joins late does not undo what has changed.
  const MethodHandle late = load(program, "first", sharing.get());
  expect_ok(run(late, {x.value()}));
  EXPECT_EQ(output(late).data[0], 4);
  first.reset();
  expect_ok(run(sharing, {x.value()}));
  EXPECT_EQ(output(sharing).data[0], 5);
}

TEST(State, IsSharedWithinAProgramOnly) {
  const WithOperators with({accumulate_operator()});
  const programs::File file = programs::state();
  const ProgramHandle program = open(file, &with.options);
  const ProgramHandle other = open(file, &with.options);
  const MethodHandle first = load(program, "first");
  MethodHandle method;
  expect_failure(try_load(other, "second", first.get(), &method), PTERON_INVALID_ARGUMENT,
                 {"same program"});
  Floats x{{1, 1, 1}, {3}};
  expect_ok(run(first, {x.value()}));  // It was given back.
}

TEST(Busy, IsTheAnswerWhileAnotherThreadRunsTheMethod) {
  Gate gate;
  const WithOperators with({gate.op()});
  const programs::File file = programs::one_operator();
  const ProgramHandle program = open(file, &with.options);
  const MethodHandle method = load(program);
  Floats x{{1, 2, 3}, {1, 3}};
  expect_ok(bind_input(method, 0, x.value()));
  std::thread runner([&] { expect_ok(execute(method)); });
  gate.wait_until_entered();
  pteron_value value = x.value();
  char* json = nullptr;
  const std::vector<Outcome> outcomes = {
      execute(method),
      run(method, {x.value()}),
      bind_input(method, 0, value),
      call([&](pteron_error** e) { return pteron_method_start(method.get(), e); }),
      call([&](pteron_error** e) { return pteron_method_get_output(method.get(), 0, &value, e); }),
      call([&](pteron_error** e) { return pteron_method_reset_state(method.get(), e); }),
      call([&](pteron_error** e) { return pteron_method_profile(method.get(), &json, e); }),
      call([&](pteron_error** e) { return pteron_method_execution(method.get(), &json, e); }),
  };
  for (const Outcome& outcome : outcomes) expect_failure(outcome, PTERON_BUSY, {"forward"});
  gate.open();
  runner.join();
  EXPECT_EQ(output(method).data, (std::vector<float>{2, 4, 6}));
  expect_ok(execute(method));
}

TEST(Busy, IncludesMethodsThatShareState) {
  Gate gate;
  const WithOperators with({gate.op()});
  const programs::File file = programs::one_operator();
  const ProgramHandle program = open(file, &with.options);
  const MethodHandle method = load(program);
  const MethodHandle sharing = load(program, nullptr, method.get());
  const MethodHandle other = load(program);
  Floats x{{1, 2, 3}, {1, 3}};
  std::thread runner([&] { expect_ok(run(method, {x.value()})); });
  gate.wait_until_entered();
  expect_failure(run(sharing, {x.value()}), PTERON_BUSY);
  MethodHandle joining;
  expect_failure(try_load(program, nullptr, method.get(), &joining), PTERON_BUSY, {"forward"});
  expect_ok(bind_input(other, 0, x.value()));  // It shares nothing.
  gate.open();
  runner.join();
  expect_ok(run(sharing, {x.value()}));
}

TEST(Free, WaitsForACallOnAnotherThread) {
  for (int round = 0; round < 20; ++round) {
    Gate gate;
    const WithOperators with({gate.op()});
    const programs::File file = programs::one_operator();
    const ProgramHandle program = open(file, &with.options);
    MethodHandle method = load(program);
    pteron_method* raw = method.get();
    Floats x{{1, 2, 3}, {1, 3}};
    const pteron_value value = x.value();
    std::atomic<pteron_status> status{PTERON_INTERNAL};
    std::thread runner([&] { status = pteron_method_run(raw, &value, 1, nullptr); });
    gate.wait_until_entered();
    std::thread opener([&] { gate.open(); });
    method.reset();
    runner.join();
    opener.join();
    EXPECT_EQ(status, PTERON_OK);
  }
}

TEST(Start, RunsOnAThreadOfTheMethodsUntilWait) {
  Gate gate;
  const WithOperators with({gate.op()});
  const programs::File file = programs::one_operator();
  const ProgramHandle program = open(file, &with.options);
  const MethodHandle method = load(program);
  expect_failure(wait(method), PTERON_INVALID_ARGUMENT, {"not started"});
  Floats x{{1, 2, 3}, {1, 3}};
  expect_ok(bind_input(method, 0, x.value()));
  expect_ok(start(method));
  gate.wait_until_entered();
  expect_failure(execute(method), PTERON_BUSY, {"pteron_method_start"});
  expect_failure(start(method), PTERON_BUSY);
  gate.open();
  expect_ok(wait(method));
  EXPECT_EQ(output(method).data, (std::vector<float>{2, 4, 6}));
  expect_failure(wait(method), PTERON_INVALID_ARGUMENT, {"not started"});
  // The same thread serves again; wait may come from another one.
  for (int i = 0; i < 100; ++i) {
    x.data[0] = static_cast<float>(i);
    expect_ok(start(method));
    std::thread([&] { expect_ok(wait(method)); }).join();
    EXPECT_EQ(output(method).data[0], 2 * static_cast<float>(i));
  }
}

TEST(Start, ReportsAtWaitWhatExecuteWouldHave) {
  const WithOperators with({make_operator("test::op.out", "T>T", [](void*, pteron_call* call) {
    return pteron_call_fail(call, "the moon is full");
  })});
  const programs::File file = programs::one_operator();
  const ProgramHandle program = open(file, &with.options);
  const MethodHandle method = load(program);
  expect_ok(start(method));
  expect_failure(wait(method), PTERON_INVALID_ARGUMENT, {"not bound"});
  Floats x{{1, 2, 3}, {1, 3}};
  expect_ok(bind_input(method, 0, x.value()));
  expect_ok(start(method));
  expect_failure(wait(method), PTERON_FAILED, {"test::op.out", "the moon is full"});
}

TEST(Cancel, MakesTheRunThatWasStartedFailAndTheNextOneWorks) {
  Gate gate;
  const WithOperators with({gate.op()});
  const programs::File file = programs::one_operator();
  const ProgramHandle program = open(file, &with.options);
  const MethodHandle method = load(program);
  Floats x{{1, 2, 3}, {1, 3}};
  expect_ok(bind_input(method, 0, x.value()));
  expect_ok(start(method));
  gate.wait_until_entered();
  std::thread([&] { pteron_method_cancel(method.get()); }).join();
  gate.open();
  pteron_value value;
  expect_failure(wait(method), PTERON_CANCELLED, {"forward", "the run was cancelled"});
  expect_failure(
      call([&](pteron_error** e) { return pteron_method_get_output(method.get(), 0, &value, e); }),
      PTERON_INVALID_ARGUMENT);
  expect_ok(execute(method));
  EXPECT_EQ(output(method).data, (std::vector<float>{2, 4, 6}));
  pteron_method_cancel(method.get());  // Nothing runs.
  expect_ok(execute(method));
  // From start on, even if the method's thread is not there yet.
  for (int i = 0; i < 50; ++i) {
    expect_ok(start(method));
    pteron_method_cancel(method.get());
    const Outcome outcome = wait(method);
    if (outcome.status != PTERON_OK) expect_failure(outcome, PTERON_CANCELLED);
  }
  expect_ok(execute(method));
}

TEST(Cancel, ReachesACallThatWasAnnouncedAndNoLaterOne) {
  const WithOperators with({twice_operator()});
  const programs::File file = programs::one_operator();
  const ProgramHandle program = open(file, &with.options);
  const MethodHandle method = load(program);
  Floats x{{1, 2, 3}, {1, 3}};
  Floats wrong{{1, 2, 3, 4}, {1, 4}};
  const auto announce = [&] {
    expect_ok(call([&](pteron_error** e) { return pteron_method_announce(method.get(), e); }));
  };
  announce();
  pteron_method_cancel(method.get());
  expect_failure(run(method, {x.value()}), PTERON_CANCELLED, {"the run was cancelled"});
  expect_ok(run(method, {x.value()}));
  // Over with a call that is refused before it runs, too.
  announce();
  expect_failure(run(method, {wrong.value()}), PTERON_INVALID_ARGUMENT,
                 {"input 0 \"input0\"", "[1, 4]"});
  pteron_method_cancel(method.get());
  expect_ok(run(method, {x.value()}));
  announce();
  expect_failure(run(method, {}), PTERON_INVALID_ARGUMENT, {"takes 1 input"});
  pteron_method_cancel(method.get());
  expect_ok(run(method, {x.value()}));
}

TEST(Start, IsWaitedForByFree) {
  for (int round = 0; round < 20; ++round) {
    Gate gate;
    const WithOperators with({gate.op()});
    const programs::File file = programs::one_operator();
    const ProgramHandle program = open(file, &with.options);
    MethodHandle method = load(program);
    const MethodHandle sharing = load(program, nullptr, method.get());
    Floats x{{1, 2, 3}, {1, 3}};
    expect_ok(bind_input(method, 0, x.value()));
    expect_ok(call([&](pteron_error** e) { return pteron_method_start(method.get(), e); }));
    std::thread opener([&] { gate.open(); });
    method.reset();
    opener.join();
    expect_ok(run(sharing, {x.value()}));  // It was given back.
  }
}

TEST(Threads, EachRunItsOwnMethodOfOneProgram) {
  const WithOperators with({twice_operator()});
  const programs::File file = programs::one_operator();
  const ProgramHandle program = open(file, &with.options);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const MethodHandle method = load(program);
      for (int i = 0; i < 200; ++i) {
        const auto base = static_cast<float>(1000 * t + i);
        Floats x{{base, base + 1, base + 2}, {1, 3}};
        expect_ok(run(method, {x.value()}));
        EXPECT_EQ(output(method).data, (std::vector<float>{2 * base, 2 * base + 2, 2 * base + 4}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Threads, ThatShareAMethodAreRightOrBusy) {
  const WithOperators with({twice_operator()});
  const programs::File file = programs::one_operator();
  const ProgramHandle program = open(file, &with.options);
  const MethodHandle method = load(program);
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      Floats x{{1, 2, 3}, {1, 3}};
      const pteron_value value = x.value();
      for (int i = 0; i < 500; ++i) {
        const pteron_status status = pteron_method_run(method.get(), &value, 1, nullptr);
        EXPECT_TRUE(status == PTERON_OK || status == PTERON_BUSY);
        done += status == PTERON_OK;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(done, 0);
}

}  // namespace
