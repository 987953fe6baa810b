// Operators and delegates that the tests bring.
#pragma once

#include <condition_variable>
#include <mutex>

#include "support.h"

// A pteron_program_options with operators.
struct WithOperators {
  explicit WithOperators(std::vector<pteron_operator> given) : operators(std::move(given)) {
    options.operators = operators.data();
    options.operator_count = operators.size();
  }
  std::vector<pteron_operator> operators;
  pteron_program_options options = PTERON_INIT(pteron_program_options);
};

inline pteron_operator make_operator(const char* name, const char* signature,
                                     pteron_status (*run)(void*, pteron_call*),
                                     void* context = nullptr) {
  pteron_operator op = PTERON_INIT(pteron_operator);
  op.name = name;
  op.signature = signature;
  op.run = run;
  op.context = context;
  return op;
}

inline const float* floats(const pteron_value& value) {
  return static_cast<const float*>(value.as.tensor.data);
}

// out = 2 x, in the shape of x.
inline pteron_status twice(void*, pteron_call* call) {
  pteron_value x;
  pteron_value out;
  if (pteron_call_argument(call, 0, &x) != PTERON_OK) return PTERON_INTERNAL;
  const pteron_status resized = pteron_call_resize(call, 1, x.as.tensor.shape, x.as.tensor.rank);
  if (resized != PTERON_OK) return resized;
  if (pteron_call_argument(call, 1, &out) != PTERON_OK) return PTERON_INTERNAL;
  size_t count = 1;
  for (int32_t i = 0; i < x.as.tensor.rank; ++i) count *= static_cast<size_t>(x.as.tensor.shape[i]);
  for (size_t i = 0; i < count; ++i) static_cast<float*>(out.as.tensor.data)[i] = 2 * floats(x)[i];
  return PTERON_OK;
}
inline pteron_operator twice_operator() { return make_operator("test::op.out", "T>T", twice); }

// state += x; out = state.
inline pteron_status accumulate(void*, pteron_call* call) {
  pteron_value state;
  pteron_value x;
  pteron_value out;
  if (pteron_call_argument(call, 0, &state) != PTERON_OK ||
      pteron_call_argument(call, 1, &x) != PTERON_OK ||
      pteron_call_argument(call, 2, &out) != PTERON_OK) {
    return PTERON_INTERNAL;
  }
  auto* sum = static_cast<float*>(state.as.tensor.data);
  for (size_t i = 0; i < 3; ++i) {
    sum[i] += floats(x)[i];
    static_cast<float*>(out.as.tensor.data)[i] = sum[i];
  }
  return PTERON_OK;
}
inline pteron_operator accumulate_operator() {
  return make_operator("test::accumulate.out", "MT>T", accumulate);
}

// An operator that waits, in the middle of a run, until it is let go.
class Gate {
 public:
  pteron_operator op() {
    return make_operator(
        "test::op.out", "T>T",
        [](void* context, pteron_call* call) {
          static_cast<Gate*>(context)->pass();
          return twice(nullptr, call);
        },
        this);
  }
  void wait_until_entered() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return entered_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  void pass() {
    std::unique_lock lock(mutex_);
    entered_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool entered_ = false;
  bool open_ = false;
};
