// Options: struct sizes of other versions, ranges, the application's memory and threads.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <thread>

#include "operators.h"
#include "support.h"

namespace {

// A later version's options: a field more than this one knows.
struct LaterOptions {
  pteron_program_options known;
  uint64_t added;
};

Outcome open_with(const void* options) {
  const programs::File file = programs::add();
  ProgramHandle program;
  return try_open(file, static_cast<const pteron_program_options*>(options), &program);
}

TEST(Options, OfALaterVersionAreTakenIfTheirNewFieldsAreZero) {
  LaterOptions options{PTERON_INIT(pteron_program_options), 0};
  options.known.struct_size = sizeof(LaterOptions);
  expect_ok(open_with(&options));
}

TEST(Options, OfALaterVersionAreRefusedIfANewFieldIsSet) {
  LaterOptions options{PTERON_INIT(pteron_program_options), 1};
  options.known.struct_size = sizeof(LaterOptions);
  expect_failure(
      open_with(&options), PTERON_INVALID_ARGUMENT,
      {"pteron_program_options", std::to_string(sizeof(pteron_program_options)), pteron_version()});
}

TEST(Options, OfAnEarlierVersionHaveDefaultsForWhatTheyLack) {
  // What lies behind a shorter struct is not the library's to read.
  pteron_program_options options;
  std::memset(static_cast<void*>(&options), 0xff, sizeof(options));
  const size_t shorter = offsetof(pteron_program_options, weights);
  std::memset(static_cast<void*>(&options), 0, shorter);
  options.struct_size = shorter;
  expect_ok(open_with(&options));
}

TEST(Options, WithoutASizeAreRefused) {
  pteron_program_options options = PTERON_INIT(pteron_program_options);
  for (const size_t size : {size_t{0}, size_t{4}, sizeof(options) + 1, size_t{1} << 40}) {
    options.struct_size = size;
    expect_failure(open_with(&options), PTERON_INVALID_ARGUMENT,
                   {"pteron_program_options.struct_size", std::to_string(size), "PTERON_INIT"});
  }
  const programs::File file = programs::add();
  const ProgramHandle program = open(file);
  pteron_method_options load_options{};
  pteron_method* method = nullptr;
  expect_failure(call([&](pteron_error** error) {
                   return pteron_method_load(program.get(), nullptr, &load_options, &method, error);
                 }),
                 PTERON_INVALID_ARGUMENT, {"pteron_method_options"});
  const MethodHandle loaded = load(program);
  pteron_spec spec{};
  expect_failure(call([&](pteron_error** error) {
                   return pteron_method_input_spec(loaded.get(), 0, &spec, error);
                 }),
                 PTERON_INVALID_ARGUMENT, {"pteron_spec"});
}

TEST(Options, OutOfRangeAreNamed) {
  const auto with = [](auto set) {
    pteron_program_options options = PTERON_INIT(pteron_program_options);
    set(options);
    return open_with(&options);
  };
  using Options = pteron_program_options;
  expect_failure(with([](Options& o) { o.precision = 5; }), PTERON_INVALID_ARGUMENT, {"precision"});
  expect_failure(with([](Options& o) { o.hint = -1; }), PTERON_INVALID_ARGUMENT, {"hint"});
  expect_failure(with([](Options& o) { o.threads = -1; }), PTERON_INVALID_ARGUMENT, {"threads"});
  expect_failure(with([](Options& o) { o.copy_file = 2; }), PTERON_INVALID_ARGUMENT, {"copy_file"});
  expect_failure(with([](Options& o) { o.profile = 2; }), PTERON_INVALID_ARGUMENT, {"profile"});
  expect_failure(with([](Options& o) { o.accelerate = 3; }), PTERON_INVALID_ARGUMENT,
                 {"accelerate"});
  expect_failure(with([](Options& o) { o.config_count = 1; }), PTERON_INVALID_ARGUMENT, {"config"});
  expect_failure(with([](Options& o) { o.weights_count = 1; }), PTERON_INVALID_ARGUMENT,
                 {"weights"});
  expect_failure(with([](Options& o) { o.operator_count = 1; }), PTERON_INVALID_ARGUMENT,
                 {"operators"});
  expect_failure(with([](Options& o) { o.delegate_count = 1; }), PTERON_INVALID_ARGUMENT,
                 {"delegates"});
}

TEST(Options, NameAWeightsFileThatIsNotThere) {
  pteron_program_options options = PTERON_INIT(pteron_program_options);
  const char* paths[] = {"no/such/weights.ptd"};
  options.weights = paths;
  options.weights_count = 1;
  expect_failure(open_with(&options), PTERON_IO, {"no/such/weights.ptd"});
}

TEST(Options, LimitPlannedMemory) {
  pteron_program_options options = PTERON_INIT(pteron_program_options);
  options.memory_limit = 100;
  const programs::File file = programs::add();
  ProgramHandle program;
  Outcome outcome = try_open(file, &options, &program);
  if (outcome.status == PTERON_OK) {
    MethodHandle method;
    outcome = try_load(program, nullptr, nullptr, &method);
  }
  expect_failure(outcome, PTERON_RESOURCE_LIMIT, {"100", "raise memory_limit"});
  options.memory_limit = 1 << 20;
  const ProgramHandle raised = open(file, &options);
  const MethodHandle method = load(raised);
  Floats x{{1, 2, 3, 4, 5, 6}, {2, 3}};
  expect_ok(run(method, {x.value(), x.value()}));
}

// What a stranger's file plans is not allocated, however much it is.
TEST(Options, PlannedMemoryHasALimitOfItsOwn) {
  const programs::File file = programs::planning(uint64_t{1} << 34);
  ProgramHandle program;
  expect_failure(try_open(file, nullptr, &program), PTERON_RESOURCE_LIMIT,
                 {"limit of 8589934592 bytes", "17179869184", "raise memory_limit"});
  // As much as the caller allows, where the system gives it, or out of memory; never an end.
  pteron_program_options options = PTERON_INIT(pteron_program_options);
  options.memory_limit = uint64_t{1} << 35;
  const ProgramHandle raised = open(file, &options);
  MethodHandle method;
  const Outcome loaded = try_load(raised, nullptr, nullptr, &method);
  if (loaded.status != PTERON_OK) expect_failure(loaded, PTERON_RESOURCE_LIMIT, {"memory"});
}

TEST(Options, LimitInstructions) {
  pteron_program_options options = PTERON_INIT(pteron_program_options);
  options.instruction_limit = 1;
  const programs::File file = programs::add();
  const ProgramHandle program = open(file, &options);
  const MethodHandle method = load(program);
  Floats x{{1, 2, 3, 4, 5, 6}, {2, 3}};
  expect_ok(run(method, {x.value(), x.value()}));  // It has one.
}

TEST(Options, LimitTheTimeOfARun) {
  const WithOperators with({make_operator(
      "test::op.out", "T>T",
      [](void*, pteron_call* call) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return twice(nullptr, call);
      },
      nullptr)});
  pteron_program_options options = with.options;
  options.time_limit = 0.01;
  const programs::File file = programs::one_operator();
  Floats x{{1, 2, 3}, {1, 3}};
  const ProgramHandle short_time = open(file, &options);
  const MethodHandle late = load(short_time);
  expect_failure(run(late, {x.value()}), PTERON_CANCELLED, {"0.01 s", "raise time_limit"});
  options.time_limit = 100;
  const ProgramHandle long_time = open(file, &options);
  const MethodHandle method = load(long_time);
  expect_ok(run(method, {x.value()}));
  for (const double wrong : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
    options.time_limit = wrong;
    ProgramHandle program;
    expect_failure(try_open(file, &options, &program), PTERON_INVALID_ARGUMENT,
                   {"time_limit", "seconds"});
  }
}

// Counts what is given out, checks what comes back, and can refuse.
class CountingAllocator {
 public:
  pteron_allocator c_allocator() {
    pteron_allocator allocator = PTERON_INIT(pteron_allocator);
    allocator.context = this;
    allocator.allocate = [](void* context, size_t size, size_t alignment) {
      return static_cast<CountingAllocator*>(context)->allocate(size, alignment);
    };
    allocator.deallocate = [](void* context, void* data, size_t size) {
      static_cast<CountingAllocator*>(context)->deallocate(data, size);
    };
    return allocator;
  }

  size_t live() {
    const std::lock_guard lock(mutex_);
    return blocks_.size();
  }
  size_t allocations = 0;
  size_t refuse_from = SIZE_MAX;  // The allocation that is the first to be refused.

 private:
  void* allocate(size_t size, size_t alignment) {
    const std::lock_guard lock(mutex_);
    EXPECT_GT(size, 0u);
    EXPECT_GE(alignment, 1u);
    if (allocations++ >= refuse_from) return nullptr;
    void* data = ::operator new(size, std::align_val_t(alignment));
    blocks_[data] = {size, alignment};
    return data;
  }
  void deallocate(void* data, size_t size) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(data);
    ASSERT_NE(found, blocks_.end());
    EXPECT_EQ(found->second.first, size);
    ::operator delete(data, std::align_val_t(found->second.second));
    blocks_.erase(found);
  }

  std::mutex mutex_;
  std::map<void*, std::pair<size_t, size_t>> blocks_;
};

TEST(Allocator, GivesPlannedMemoryAndGetsAllOfItBack) {
  CountingAllocator counting;
  const pteron_allocator allocator = counting.c_allocator();
  pteron_program_options options = PTERON_INIT(pteron_program_options);
  options.allocator = &allocator;
  const programs::File file = programs::add();
  {
    const ProgramHandle program = open(file, &options);
    const MethodHandle method = load(program);
    EXPECT_GT(counting.live(), 0u);
    Floats x{{1, 2, 3, 4, 5, 6}, {2, 3}};
    for (int i = 0; i < 3; ++i) expect_ok(run(method, {x.value(), x.value()}));
    EXPECT_EQ(output(method).data[0], 2);
  }
  EXPECT_EQ(counting.live(), 0u);
}

TEST(Allocator, ThatRefusesMakesAResourceLimitAndLosesNothing) {
  for (size_t refuse_from = 0;; ++refuse_from) {
    CountingAllocator counting;
    counting.refuse_from = refuse_from;
    const pteron_allocator allocator = counting.c_allocator();
    pteron_program_options options = PTERON_INIT(pteron_program_options);
    options.allocator = &allocator;
    const programs::File file = programs::add();
    {
      const ProgramHandle program = open(file, &options);
      MethodHandle method;
      const Outcome outcome = try_load(program, nullptr, nullptr, &method);
      if (outcome.status == PTERON_OK) {
        EXPECT_GT(refuse_from, 0u);
        return;
      }
      expect_failure(outcome, PTERON_RESOURCE_LIMIT, {"out of memory"});
    }
    EXPECT_EQ(counting.live(), 0u);
  }
}

TEST(Allocator, NeedsBothFunctions) {
  CountingAllocator counting;
  pteron_allocator allocator = counting.c_allocator();
  allocator.deallocate = nullptr;
  pteron_program_options options = PTERON_INIT(pteron_program_options);
  options.allocator = &allocator;
  expect_failure(open_with(&options), PTERON_INVALID_ARGUMENT, {"deallocate"});
  allocator = counting.c_allocator();
  allocator.struct_size = 0;
  expect_failure(open_with(&options), PTERON_INVALID_ARGUMENT, {"pteron_allocator"});
}

TEST(Threads, NeedTheirFunction) {
  pteron_threads threads = PTERON_INIT(pteron_threads);
  pteron_program_options options = PTERON_INIT(pteron_program_options);
  options.thread_pool = &threads;
  expect_failure(open_with(&options), PTERON_INVALID_ARGUMENT, {"parallel_for"});
}

}  // namespace
