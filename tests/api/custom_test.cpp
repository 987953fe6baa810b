// Operators and delegates of the application's.
#include <cstring>
#include <string>

#include "operators.h"

namespace {

// Runs programs::one_operator with this operator on a [2, 3] array.
Outcome run_operator(pteron_status (*body)(void*, pteron_call*), void* context = nullptr,
                     const pteron_threads* threads = nullptr) {
  WithOperators with({make_operator("test::op.out", "T>T", body, context)});
  with.options.thread_pool = threads;
  const programs::File file = programs::one_operator();
  const ProgramHandle program = open(file, &with.options);
  const MethodHandle method = load(program);
  Floats x{{1, 2, 3, 4, 5, 6}, {2, 3}};
  return run(method, {x.value()});
}

TEST(Operator, RunsInAProgram) {
  const WithOperators with({twice_operator()});
  const programs::File file = programs::one_operator();
  const ProgramHandle program = open(file, &with.options);
  const MethodHandle method = load(program);
  for (const int64_t rows : {2, 4, 1}) {
    Floats x{std::vector<float>(static_cast<size_t>(rows) * 3, 4), {rows, 3}};
    expect_ok(run(method, {x.value()}));
    const Floats out = output(method);
    EXPECT_EQ(out.shape, x.shape);
    EXPECT_EQ(out.data, std::vector<float>(x.data.size(), 8));
  }
}

TEST(Operator, ReplacesOneOfTheLibrarys) {
  const WithOperators with({make_operator("aten::add.out", "TTS>T", [](void*, pteron_call* call) {
    return pteron_call_fail(call, "mine ran");
  })});
  const programs::File file = programs::add();
  const ProgramHandle program = open(file, &with.options);
  const MethodHandle method = load(program);
  Floats x{{1, 2, 3, 4, 5, 6}, {2, 3}};
  expect_failure(run(method, {x.value(), x.value()}), PTERON_FAILED, {"mine ran"});
}

struct Seen {
  int calls = 0;
  std::string text;
};

TEST(Operator, SeesArgumentsOfEveryKind) {
  Seen seen;
  const WithOperators with({make_operator(
      "test::kinds.out", programs::kKindsSignature,
      [](void* context, pteron_call* call) -> pteron_status {
        ++static_cast<Seen*>(context)->calls;
        EXPECT_EQ(pteron_call_argument_count(call), 17u);
        std::vector<pteron_value> a(17);
        for (size_t i = 0; i < a.size(); ++i)
          EXPECT_EQ(pteron_call_argument(call, i, &a[i]), PTERON_OK);
        EXPECT_EQ(pteron_call_argument(call, 17, &a[0]), PTERON_INVALID_ARGUMENT);
        EXPECT_EQ(pteron_call_argument(call, 0, nullptr), PTERON_INVALID_ARGUMENT);
        EXPECT_EQ(floats(a[0])[1], 6);
        EXPECT_EQ(a[1].kind, PTERON_KIND_NONE);
        EXPECT_EQ(a[2].as.real, 0.5);
        EXPECT_EQ(a[3].kind, PTERON_KIND_NONE);
        EXPECT_EQ(a[4].as.integer, 7);
        EXPECT_EQ(a[5].as.real, 0.5);
        EXPECT_EQ(a[6].kind, PTERON_KIND_BOOL);
        EXPECT_EQ(a[6].as.boolean, 1);
        EXPECT_EQ(a[7].kind, PTERON_KIND_INT_LIST);
        EXPECT_EQ(a[7].as.list.count, 2u);
        EXPECT_EQ(static_cast<const int64_t*>(a[7].as.list.items)[1], 7);
        EXPECT_EQ(a[8].kind, PTERON_KIND_DOUBLE_LIST);
        EXPECT_EQ(static_cast<const double*>(a[8].as.list.items)[1], -2.5);
        EXPECT_EQ(a[9].kind, PTERON_KIND_BOOL_LIST);
        EXPECT_EQ(a[9].as.list.count, 3u);
        EXPECT_EQ(static_cast<const uint8_t*>(a[9].as.list.items)[1], 0);
        EXPECT_EQ(a[10].kind, PTERON_KIND_TENSOR_LIST);
        EXPECT_EQ(a[10].as.list.count, 2u);
        EXPECT_EQ(floats(static_cast<const pteron_value*>(a[10].as.list.items)[1])[0], 5);
        EXPECT_EQ(a[11].kind, PTERON_KIND_TENSOR_LIST);
        EXPECT_EQ(a[11].as.list.count, 3u);
        EXPECT_EQ(static_cast<const pteron_value*>(a[11].as.list.items)[1].kind, PTERON_KIND_NONE);
        EXPECT_EQ(static_cast<const pteron_value*>(a[11].as.list.items)[2].kind, PTERON_KIND_NONE);
        EXPECT_STREQ(a[12].as.string, "text");
        auto* out = static_cast<float*>(a[13].as.tensor.data);
        out[0] = 10;
        out[1] = 20;
        pteron_value scalar{};
        scalar.kind = PTERON_KIND_INT;
        scalar.as.integer = 41;
        EXPECT_EQ(pteron_call_set_scalar(call, 14, &scalar), PTERON_OK);
        EXPECT_NE(pteron_call_set_scalar(call, 15, &scalar), PTERON_OK);  // A double is wanted.
        EXPECT_EQ(pteron_call_set_scalar(call, 17, &scalar), PTERON_INVALID_ARGUMENT);
        scalar.kind = PTERON_KIND_DOUBLE;
        scalar.as.real = 4.25;
        EXPECT_EQ(pteron_call_set_scalar(call, 15, &scalar), PTERON_OK);
        scalar.kind = PTERON_KIND_BOOL;
        scalar.as.boolean = 1;
        EXPECT_EQ(pteron_call_set_scalar(call, 16, &scalar), PTERON_OK);
        return PTERON_OK;
      },
      &seen)});
  const programs::File file = programs::kinds();
  const ProgramHandle program = open(file, &with.options);
  const MethodHandle method = load(program);
  Floats x{{5, 6}, {2}};
  expect_ok(run(method, {x.value()}));
  EXPECT_EQ(seen.calls, 1);
  EXPECT_EQ(output(method, 0).data, (std::vector<float>{10, 20}));
  pteron_value value;
  const auto get = [&](size_t index) {
    expect_ok(call([&](pteron_error** error) {
      return pteron_method_get_output(method.get(), index, &value, error);
    }));
    return value;
  };
  EXPECT_EQ(get(1).as.integer, 41);
  EXPECT_EQ(get(2).as.real, 4.25);
  EXPECT_EQ(get(3).as.boolean, 1);
}

TEST(Operator, FailsWithItsOwnTextAndPlace) {
  expect_failure(run_operator([](void*, pteron_call* call) {
                   return pteron_call_fail(call, "the moon is full");
                 }),
                 PTERON_FAILED, {"forward", "instruction 0", "test::op.out", "the moon is full"});
  expect_failure(run_operator([](void*, pteron_call* call) {
                   pteron_call_fail(call, "wrong dtype");
                   return PTERON_INVALID_ARGUMENT;
                 }),
                 PTERON_INVALID_ARGUMENT, {"wrong dtype"});
  expect_failure(run_operator([](void*, pteron_call*) { return PTERON_UNSUPPORTED; }),
                 PTERON_UNSUPPORTED, {"test::op.out", "status 5"});
}

TEST(Operator, CannotMakeAnOutputLargerThanPlanned) {
  expect_failure(run_operator([](void*, pteron_call* call) {
                   const int64_t shape[] = {5, 3};
                   return pteron_call_resize(call, 1, shape, 2);
                 }),
                 PTERON_INVALID_ARGUMENT, {"test::op.out", "[5, 3]"});
  expect_ok(run_operator([](void*, pteron_call* call) {
    const int64_t shape[] = {4, 3};
    EXPECT_EQ(pteron_call_resize(call, 2, shape, 2), PTERON_INVALID_ARGUMENT);
    EXPECT_EQ(pteron_call_resize(call, 1, nullptr, 2), PTERON_INVALID_ARGUMENT);
    EXPECT_EQ(pteron_call_resize(call, 1, shape, -1), PTERON_INVALID_ARGUMENT);
    return pteron_call_resize(call, 1, shape, 2);
  }));
}

TEST(Operator, HasScratchMemory) {
  expect_ok(run_operator([](void*, pteron_call* call) {
    auto* a = static_cast<char*>(pteron_call_scratch(call, 1000));
    auto* b = static_cast<char*>(pteron_call_scratch(call, 0));
    EXPECT_NE(a, nullptr);
    EXPECT_NE(b, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(a) % 64, 0u);
    std::memset(a, 1, 1000);
    EXPECT_EQ(pteron_call_scratch(call, SIZE_MAX / 2), nullptr);
    return PTERON_OK;
  }));
}

// Counts, and calls the ranges one after another.
struct Pool {
  int calls = 0;
  size_t grain_seen = 0;
  pteron_threads threads = PTERON_INIT(pteron_threads);

  Pool() {
    threads.context = this;
    threads.parallel_for = [](void* context, size_t count, size_t grain,
                              void (*body)(void*, size_t, size_t), void* argument) {
      auto& pool = *static_cast<Pool*>(context);
      ++pool.calls;
      pool.grain_seen = grain;
      for (size_t begin = 0; begin < count; begin += 100)
        body(argument, begin, std::min<size_t>(begin + 100, count));
    };
  }
};

TEST(Operator, RunsOnTheApplicationsThreads) {
  Pool pool;
  const auto body = [](void* context, pteron_call* call) {
    std::vector<int> seen(1000);
    pteron_call_parallel_for(
        call, seen.size(), 10,
        [](void* argument, size_t begin, size_t end) {
          for (size_t i = begin; i < end; ++i) ++static_cast<int*>(argument)[i];
        },
        seen.data());
    *static_cast<bool*>(context) = seen == std::vector<int>(1000, 1);
    return PTERON_OK;
  };
  bool once_each = false;
  expect_ok(run_operator(body, &once_each, &pool.threads));
  EXPECT_TRUE(once_each);
  EXPECT_EQ(pool.calls, 1);
  EXPECT_EQ(pool.grain_seen, 10u);
  once_each = false;
  expect_ok(run_operator(body, &once_each));  // Without threads.
  EXPECT_TRUE(once_each);
}

TEST(Operator, IsCheckedWhenTheProgramIsOpened) {
  const programs::File file = programs::one_operator();
  const auto open_with = [&](pteron_operator op) {
    const WithOperators with({op});
    ProgramHandle program;
    return try_open(file, &with.options, &program);
  };
  pteron_operator op = twice_operator();
  op.run = nullptr;
  expect_failure(open_with(op), PTERON_INVALID_ARGUMENT, {"run"});
  op = twice_operator();
  op.name = nullptr;
  expect_failure(open_with(op), PTERON_INVALID_ARGUMENT, {"name"});
  op = twice_operator();
  op.signature = "T?T";
  expect_failure(open_with(op), PTERON_INVALID_ARGUMENT, {"test::op.out", "T?T"});
  op = twice_operator();
  op.struct_size = 0;
  expect_failure(open_with(op), PTERON_INVALID_ARGUMENT, {"pteron_operator"});
  const WithOperators twice_the_same({twice_operator(), twice_operator()});
  ProgramHandle program;
  expect_failure(try_open(file, &twice_the_same.options, &program), PTERON_INVALID_ARGUMENT,
                 {"test::op.out", "twice"});
}

TEST(Operator, WithAnotherSignatureThanTheProgramsIsRefusedAtLoad) {
  const WithOperators with({make_operator("test::op.out", "TT>T", twice)});
  const programs::File file = programs::one_operator();
  const ProgramHandle program = open(file, &with.options);
  MethodHandle method;
  expect_failure(try_load(program, nullptr, nullptr, &method), PTERON_MALFORMED, {"test::op.out"});
}

// Multiplies by the number of its handle, and keeps books.
struct TestBackend {
  int inits = 0;
  int destroys = 0;
  int fail_at_init = -1;
  size_t inputs = 1;
  bool fails_at_run = false;
  std::string payload_seen;
  std::string mode_seen;

  pteron_delegate c_delegate() {
    pteron_delegate delegate = PTERON_INIT(pteron_delegate);
    delegate.id = "TestBackend";
    delegate.context = this;
    delegate.init = [](void* context, pteron_call* call, const void* payload, size_t size,
                       size_t specs, const char* const* keys, const void* const* values,
                       const size_t* sizes, void** handle, size_t* input_count) {
      auto& self = *static_cast<TestBackend*>(context);
      if (self.inits++ == self.fail_at_init) return pteron_call_fail(call, "no room on the chip");
      EXPECT_EQ(pteron_call_argument_count(call), 2u);
      self.payload_seen.assign(static_cast<const char*>(payload), size);
      EXPECT_EQ(specs, 1u);
      EXPECT_STREQ(keys[0], "mode");
      self.mode_seen.assign(static_cast<const char*>(values[0]), sizes[0]);
      pteron_value x;
      EXPECT_EQ(pteron_call_argument(call, 0, &x), PTERON_OK);
      EXPECT_EQ(x.as.tensor.rank, 2);
      *handle = &self;
      *input_count = self.inputs;
      return PTERON_OK;
    };
    delegate.run = [](void* context, void* handle, pteron_call* call) {
      EXPECT_EQ(context, handle);
      if (static_cast<TestBackend*>(context)->fails_at_run)
        return pteron_call_fail(call, "the chip is hot");
      return twice(nullptr, call);
    };
    delegate.destroy = [](void* context, void* handle) {
      EXPECT_EQ(context, handle);
      ++static_cast<TestBackend*>(context)->destroys;
    };
    return delegate;
  }
};

struct WithDelegate {
  explicit WithDelegate(TestBackend& backend) : delegate(backend.c_delegate()) {
    options.delegates = &delegate;
    options.delegate_count = 1;
  }
  pteron_delegate delegate;
  pteron_program_options options = PTERON_INIT(pteron_program_options);
};

TEST(Delegate, RunsInAProgramAndIsDestroyedOnceForEachHandle) {
  TestBackend backend;
  const WithDelegate with(backend);
  const programs::File file = programs::delegated();
  {
    const ProgramHandle program = open(file, &with.options);
    const MethodHandle method = load(program);
    const MethodHandle other = load(program, "other");
    EXPECT_EQ(backend.inits, 3);
    EXPECT_EQ(backend.payload_seen, "payload");
    EXPECT_EQ(backend.mode_seen, "fast");
    Floats x{{1, 2, 3}, {1, 3}};
    expect_ok(run(method, {x.value()}));
    EXPECT_EQ(output(method).data, (std::vector<float>{2, 4, 6}));
    expect_ok(run(other, {x.value()}));
    EXPECT_EQ(output(other).data, (std::vector<float>{4, 8, 12}));
    EXPECT_EQ(output(other).shape, (std::vector<int64_t>{1, 3}));
    char* json = nullptr;
    expect_ok(call(
        [&](pteron_error** error) { return pteron_method_execution(method.get(), &json, error); }));
    const StringHandle owner(json);
    EXPECT_NE(std::string(json).find("TestBackend"), std::string::npos);
    EXPECT_EQ(backend.destroys, 0);
  }
  EXPECT_EQ(backend.destroys, 3);
}

TEST(Delegate, FailsWithItsOwnTextAndPlace) {
  TestBackend backend;
  backend.fail_at_init = 1;
  const WithDelegate with(backend);
  const programs::File file = programs::delegated();
  {
    const ProgramHandle program = open(file, &with.options);
    MethodHandle method;
    expect_failure(try_load(program, "other", nullptr, &method), PTERON_FAILED,
                   {"other", "instruction 1", "TestBackend", "no room on the chip"});
    EXPECT_EQ(backend.destroys, 1);  // Of the first call, whose init had succeeded.
    method = load(program, "forward");
    Floats x{{1, 2, 3}, {1, 3}};
    backend.fails_at_run = true;
    expect_failure(run(method, {x.value()}), PTERON_FAILED,
                   {"forward", "instruction 0", "TestBackend", "the chip is hot"});
    backend.fails_at_run = false;
    expect_ok(run(method, {x.value()}));
  }
  EXPECT_EQ(backend.destroys, 2);
}

TEST(Delegate, ThatClaimsMoreInputsThanThereAreIsRefused) {
  TestBackend backend;
  backend.inputs = 3;
  const WithDelegate with(backend);
  const programs::File file = programs::delegated();
  const ProgramHandle program = open(file, &with.options);
  MethodHandle method;
  expect_failure(try_load(program, "forward", nullptr, &method), PTERON_INVALID_ARGUMENT,
                 {"TestBackend", "3"});
  EXPECT_EQ(backend.destroys, 1);
}

TEST(Delegate, IsCheckedWhenTheProgramIsOpened) {
  TestBackend backend;
  WithDelegate with(backend);
  const programs::File file = programs::delegated();
  ProgramHandle program;
  with.delegate.init = nullptr;
  expect_failure(try_open(file, &with.options, &program), PTERON_INVALID_ARGUMENT, {"init"});
  with.delegate = backend.c_delegate();
  with.delegate.id = nullptr;
  expect_failure(try_open(file, &with.options, &program), PTERON_INVALID_ARGUMENT, {"id"});
  with.delegate = backend.c_delegate();
  with.delegate.struct_size = 3;
  expect_failure(try_open(file, &with.options, &program), PTERON_INVALID_ARGUMENT,
                 {"pteron_delegate"});
}

}  // namespace
