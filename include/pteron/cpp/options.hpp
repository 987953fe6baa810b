// How a program is opened, with operators and delegates of the application's.
// Part of pteron.hpp, which is what to include.
#ifndef PTERON_CPP_OPTIONS_HPP
#define PTERON_CPP_OPTIONS_HPP

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "pteron/cpp/error.hpp"
#include "pteron/cpp/value.hpp"
#include "pteron/pteron.h"

namespace pteron {
inline namespace abi1 {

// The call of an operator: its arguments, inputs first, then outputs. Valid during the call.
class Call {
 public:
  explicit Call(pteron_call* call) : call_(call) {}

  size_t size() const { return pteron_call_argument_count(call_); }
  ValueView operator[](size_t index) const {
    pteron_value value;
    if (pteron_call_argument(call_, index, &value) != PTERON_OK)
      detail::fail("it has no argument " + std::to_string(index));
    return ValueView(value);
  }
  // Gives an output tensor its shape; throws if that exceeds what the program planned.
  Tensor resize(size_t index, const Shape& shape) {
    expect(pteron_call_resize(call_, index, shape.data(), static_cast<int32_t>(shape.rank())),
           "an output cannot have the shape " + shape.text());
    return (*this)[index].tensor();
  }
  // Sets an output scalar.
  void set(size_t index, const Value& value) {
    const pteron_value scalar = value.c_value();
    expect(pteron_call_set_scalar(call_, index, &scalar), "an output scalar of another kind");
  }
  // Memory for this call, aligned to 64 bytes.
  template <typename T>
  Span<T> scratch(size_t count) {
    void* memory =
        count <= SIZE_MAX / sizeof(T) ? pteron_call_scratch(call_, count * sizeof(T)) : nullptr;
    if (memory == nullptr) throw Error(PTERON_RESOURCE_LIMIT, "no memory for scratch");
    return {static_cast<T*>(memory), count};
  }
  // Calls body(begin, end) on ranges that cover [0, count) once, on the application's threads where
  // it gave some. The body must not throw.
  template <typename Body>
  void parallel_for(size_t count, size_t grain, Body&& body) {
    using B = std::remove_reference_t<Body>;
    pteron_call_parallel_for(
        call_, count, grain,
        [](void* argument, size_t begin, size_t end) { (*static_cast<B*>(argument))(begin, end); },
        const_cast<void*>(static_cast<const void*>(&body)));
  }
  pteron_call* c_call() const { return call_; }

 private:
  static void expect(pteron_status status, const std::string& reason) {
    if (status != PTERON_OK) throw detail::Reported(status, reason);
  }
  pteron_call* call_;
};

enum class Precision : int32_t {
  Program = PTERON_PRECISION_PROGRAM,
  Fast = PTERON_PRECISION_FAST,
  F32 = PTERON_PRECISION_F32,
  F16 = PTERON_PRECISION_F16,
  BF16 = PTERON_PRECISION_BF16,
};
enum class Hint : int32_t { Latency = PTERON_HINT_LATENCY, Throughput = PTERON_HINT_THROUGHPUT };
enum class Accelerate : int32_t {
  Auto = PTERON_ACCELERATE_AUTO,
  On = PTERON_ACCELERATE_ON,
  Off = PTERON_ACCELERATE_OFF,
};

// How a program is opened; pteron_program_options in pteron.h explains each.
//   pteron::Program program("model.pte", pteron::Options().device("GPU").threads(4));
class Options {
 public:
  Options& device(std::string name) { return set(device_, std::move(name)); }
  Options& openvino(std::string path) { return set(openvino_, std::move(path)); }
  Options& cache_dir(std::string path) { return set(cache_dir_, std::move(path)); }
  Options& precision(Precision precision) {
    return set(plain_.precision, static_cast<int32_t>(precision));
  }
  Options& hint(Hint hint) { return set(plain_.hint, static_cast<int32_t>(hint)); }
  Options& accelerate(Accelerate when) {
    return set(plain_.accelerate, static_cast<int32_t>(when));
  }
  Options& threads(int count) { return set(plain_.threads, static_cast<int32_t>(count)); }
  Options& copy_file(bool copy = true) { return set(plain_.copy_file, copy ? 1 : 0); }
  Options& profile(bool profile = true) { return set(plain_.profile, profile ? 1 : 0); }
  Options& memory_limit(uint64_t bytes) { return set(plain_.memory_limit, bytes); }
  Options& instruction_limit(uint64_t count) { return set(plain_.instruction_limit, count); }
  Options& time_limit(double seconds) { return set(plain_.time_limit, seconds); }
  // An OpenVINO property of the device.
  Options& config(std::string key, std::string value) {
    config_.emplace_back(std::move(key), std::move(value));
    return *this;
  }
  // A .ptd file; once for each.
  Options& weights(std::string path) {
    weights_.push_back(std::move(path));
    return *this;
  }
  // Their contexts must outlive the program and its methods.
  Options& allocator(const pteron_allocator& allocator) {
    allocator_ = std::make_shared<pteron_allocator>(allocator);
    return *this;
  }
  Options& thread_pool(const pteron_threads& threads) {
    thread_pool_ = std::make_shared<pteron_threads>(threads);
    return *this;
  }
  Options& add(const pteron_operator& definition) {
    operators_.push_back({definition, {definition.name, definition.signature}, nullptr});
    return *this;
  }
  Options& add(const pteron_delegate& delegate) {
    delegates_.push_back({delegate, delegate.id});
    return *this;
  }
  // An operator that is a function object; what it throws becomes the error of the run. Signature:
  // see pteron_operator. Methods that run at the same time call it at the same time.
  //   options.add_operator("my_ops::scale.out", "TD>T", [](pteron::Call& call) { ... });
  Options& add_operator(std::string name, std::string signature,
                        std::function<void(Call&)> function) {
    auto kept = std::make_shared<const std::function<void(Call&)>>(std::move(function));
    pteron_operator definition{};
    definition.struct_size = sizeof(definition);
    definition.context = const_cast<void*>(static_cast<const void*>(kept.get()));
    definition.run = &Options::run_function;
    operators_.push_back({definition, {std::move(name), std::move(signature)}, std::move(kept)});
    return *this;
  }

 private:
  friend class Program;
  friend std::string devices(const Options& options);
  friend std::string doctor(const Options& options);

  struct Operator {
    pteron_operator definition;
    std::pair<std::string, std::string> texts;  // Name and signature.
    std::shared_ptr<const void> function;
  };
  struct Delegate {
    pteron_delegate definition;
    std::string id;
  };

  template <typename T>
  Options& set(T& field, T value) {
    field = std::move(value);
    return *this;
  }

  // Whatever is thrown stays on this side of the C interface.
  static pteron_status run_function(void* context, pteron_call* call) noexcept {
    try {
      Call typed(call);
      (*static_cast<const std::function<void(Call&)>*>(context))(typed);
      return PTERON_OK;
    } catch (const detail::Reported& error) {
      return error.status();
    } catch (const Error& error) {
      pteron_call_fail(call, error.what());
      return error.status();
    } catch (const std::exception& error) {
      return pteron_call_fail(call, error.what());
    } catch (...) {
      return pteron_call_fail(call, "it threw something that is no std::exception");
    }
  }

  // Calls function(options) with the C interface's form of these, which lives that long.
  template <typename Function>
  auto with_c_options(Function&& function) const {
    pteron_program_options options = plain_;
    const auto text = [](const std::string& value) {
      return value.empty() ? nullptr : value.c_str();
    };
    options.device = text(device_);
    options.openvino = text(openvino_);
    options.cache_dir = text(cache_dir_);
    std::vector<const char*> keys, values, weights;
    for (const auto& pair : config_) {
      keys.push_back(pair.first.c_str());
      values.push_back(pair.second.c_str());
    }
    for (const std::string& path : weights_) weights.push_back(path.c_str());
    std::vector<pteron_operator> operators;
    for (const Operator& op : operators_) {
      operators.push_back(op.definition);
      operators.back().name = op.texts.first.c_str();
      operators.back().signature = op.texts.second.c_str();
    }
    std::vector<pteron_delegate> delegates;
    for (const Delegate& delegate : delegates_) {
      delegates.push_back(delegate.definition);
      delegates.back().id = delegate.id.c_str();
    }
    options.config_keys = keys.data();
    options.config_values = values.data();
    options.config_count = keys.size();
    options.weights = weights.data();
    options.weights_count = weights.size();
    options.allocator = allocator_.get();
    options.thread_pool = thread_pool_.get();
    options.operators = operators.data();
    options.operator_count = operators.size();
    options.delegates = delegates.data();
    options.delegate_count = delegates.size();
    return function(static_cast<const pteron_program_options*>(&options));
  }

  // The operators' function objects, for those who outlive these options.
  std::vector<std::shared_ptr<const void>> functions() const {
    std::vector<std::shared_ptr<const void>> functions;
    for (const Operator& op : operators_) {
      if (op.function) functions.push_back(op.function);
    }
    return functions;
  }

  pteron_program_options plain_ = PTERON_INIT(pteron_program_options);
  std::string device_, openvino_, cache_dir_;
  std::vector<std::pair<std::string, std::string>> config_;
  std::vector<std::string> weights_;
  std::shared_ptr<pteron_allocator> allocator_;
  std::shared_ptr<pteron_threads> thread_pool_;
  std::vector<Operator> operators_;
  std::vector<Delegate> delegates_;
};

}  // namespace abi1
}  // namespace pteron

#endif
