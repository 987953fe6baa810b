#include "api/any_program.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <memory>
#include <new>
#include <optional>

#include "program/decode.h"
#include "pteron/pteron.h"

namespace pteron::test {
namespace {

constexpr double kMostSeconds = 2;  // Of the processor's time.

// Memory of exactly the size asked for, counted.
struct CountingAllocator {
  static void* allocate(void* context, size_t size, size_t alignment) {
    auto& self = *static_cast<CountingAllocator*>(context);
    self.largest = std::max(self.largest, size);
    if (size > self.limit - std::min(self.used, self.limit)) {
      self.exceeded = true;
      return nullptr;
    }
    self.used += size;
    return ::operator new(size, std::align_val_t(alignment));
  }
  static void deallocate(void* context, void* data, size_t size) {
    static_cast<CountingAllocator*>(context)->used -= size;
    ::operator delete(data, std::align_val_t(64));
  }

  size_t limit = 0;
  size_t used = 0;
  size_t largest = 0;
  bool exceeded = false;
};

// Bytes in memory of exactly their size.
struct Exact {
  explicit Exact(std::span<const std::byte> bytes)
      : memory(::operator new(bytes.size(), std::align_val_t{16})) {
    std::copy(bytes.begin(), bytes.end(), static_cast<std::byte*>(memory));
  }
  ~Exact() { ::operator delete(memory, std::align_val_t{16}); }
  Exact(const Exact&) = delete;
  Exact& operator=(const Exact&) = delete;

  void* memory;
};

struct FreeProgram {
  void operator()(pteron_program* program) const { pteron_program_free(program); }
};
struct FreeMethod {
  void operator()(pteron_method* method) const { pteron_method_free(method); }
};
using MethodPointer = std::unique_ptr<pteron_method, FreeMethod>;

// An input of the program's: zeros, or small numbers, whatever the element type.
class Input {
 public:
  Input(const pteron_spec& spec, bool zeros, bool smaller)
      : shape_(spec.shape, spec.shape + spec.rank) {
    if (spec.kind != PTERON_KIND_TENSOR) return;
    size_t count = 1;
    for (int64_t& size : shape_) {
      if (smaller && spec.dynamic) size = (size + 1) / 2;
      count *= static_cast<size_t>(size);
    }
    const auto dtype = static_cast<pteron_dtype>(spec.dtype);
    const size_t width = pteron_dtype_size(dtype);
    bytes_.resize(count * width);
    if (!zeros) fill(dtype, width);
    value_ = pteron_tensor_value(bytes_.data(), dtype, spec.rank, shape_.data());
  }

  // The scalar that the program was exported with, the only one that it takes.
  explicit Input(const ValueDef& def) {
    if (const auto* integer = std::get_if<int64_t>(&def)) {
      value_.kind = PTERON_KIND_INT;
      value_.as.integer = *integer;
    } else if (const auto* real = std::get_if<double>(&def)) {
      value_.kind = PTERON_KIND_DOUBLE;
      value_.as.real = *real;
    } else if (const auto* boolean = std::get_if<bool>(&def)) {
      value_.kind = PTERON_KIND_BOOL;
      value_.as.boolean = *boolean;
    } else if (const auto* text = std::get_if<std::string>(&def)) {
      text_ = *text;
      value_.kind = PTERON_KIND_STRING;
      value_.as.string = text_.c_str();
    }
  }
  Input(Input&&) = delete;

  pteron_value value() const { return value_; }

 private:
  void fill(pteron_dtype dtype, size_t width) {
    for (size_t i = 0; i < bytes_.size() / width; ++i) {
      const int number = static_cast<int>(i % 5) - 1;
      std::byte* const at = bytes_.data() + i * width;
      if (dtype == PTERON_FLOAT32) {
        const float real = 0.5F * static_cast<float>(number);
        std::memcpy(at, &real, width);
      } else if (dtype == PTERON_FLOAT64) {
        const double real = 0.5 * number;
        std::memcpy(at, &real, width);
      } else if (dtype == PTERON_BOOL) {
        *at = std::byte{i % 3 == 0};
      } else if (dtype == PTERON_FLOAT16 || dtype == PTERON_BFLOAT16) {
        const uint16_t half = dtype == PTERON_FLOAT16 ? 0x3c00 : 0x3f80;
        std::memcpy(at, &half, width);
      } else {
        const int64_t integer = number;
        std::memcpy(at, &integer, std::min(width, sizeof(integer)));
      }
    }
  }

  std::vector<int64_t> shape_;
  std::vector<std::byte> bytes_;
  std::string text_;
  pteron_value value_{};
};

class Session {
 public:
  explicit Session(const AnyProgramOptions& options) : options_(options) {
    // A method's own memory, and as much again for what a kernel needs while it runs; methods that
    // are loaded at the same time have their own.
    allocator_.limit = static_cast<size_t>(options.memory_limit) * 8;
  }

  Outcome run(std::span<const std::byte> bytes) {
    const std::clock_t start = std::clock();
    const Exact exact(bytes);
    bytes_ = {static_cast<const std::byte*>(exact.memory), bytes.size()};
    run_program();
    const double seconds =
        static_cast<double>(std::clock() - start) / static_cast<double>(CLOCKS_PER_SEC);
    if (seconds > kMostSeconds) problem("it took " + std::to_string(seconds) + " s");
    if (allocator_.exceeded || allocator_.largest > options_.memory_limit) {
      problem("it asked for " + std::to_string(allocator_.largest) + " bytes at once, and had " +
              std::to_string(allocator_.used));
    }
    if (allocator_.used > 0) problem("it kept memory of the allocator's");
    return std::move(outcome_);
  }

 private:
  void problem(const std::string& text) {
    if (outcome_.problem.empty()) outcome_.problem = text;
  }

  // Whether the call succeeded; an error is held against what errors must be.
  bool ok(pteron_status status, pteron_error* error) {
    if (status == PTERON_OK) return true;
    ++outcome_.errors;
    if (error == nullptr) {
      problem("an error without a message");
      return false;
    }
    const std::string message = pteron_error_message(error);
    if (pteron_error_status(error) != status) problem("another status in the error: " + message);
    if (status == PTERON_INTERNAL) problem("an internal error: " + message);
    if (message.empty() || message.size() > 3000) problem("a message's length: " + message);
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; };
    if (std::any_of(message.begin(), message.end(), is_control)) {
      problem("a message with control characters: " + message);
    }
    if (outcome_.first_error.empty()) outcome_.first_error = message;
    pteron_error_free(error);
    return false;
  }

  void run_program() {
    pteron_allocator allocator = PTERON_INIT(pteron_allocator);
    allocator.context = &allocator_;
    allocator.allocate = CountingAllocator::allocate;
    allocator.deallocate = CountingAllocator::deallocate;
    std::vector<const char*> weights;
    for (const std::string& path : options_.weights) weights.push_back(path.c_str());
    pteron_program_options options = PTERON_INIT(pteron_program_options);
    options.openvino = options_.openvino.c_str();
    if (options_.openvino.empty()) options.device = "none";
    options.weights = weights.data();
    options.weights_count = weights.size();
    options.copy_file = weights.empty() ? 0 : 1;
    options.profile = 1;
    options.threads = 1;  // A pool for each of a million programs would be most of the work.
    options.memory_limit = options_.memory_limit;
    options.instruction_limit = options_.instruction_limit;
    options.allocator = &allocator;
    pteron_program* opened = nullptr;
    pteron_error* error = nullptr;
    const pteron_status status =
        pteron_program_open_memory(bytes_.data(), bytes_.size(), &options, &opened, &error);
    if (!ok(status, error)) return;
    const std::unique_ptr<pteron_program, FreeProgram> program(opened);
    json(pteron_program_info, program.get());
    std::vector<MethodPointer> methods;
    const size_t count = std::min<size_t>(pteron_program_method_count(program.get()), 4);
    for (size_t i = 0; i < count; ++i) {
      pteron_method* loaded = nullptr;
      pteron_method_options method_options = PTERON_INIT(pteron_method_options);
      if (!methods.empty()) method_options.shares_state_with = methods.back().get();
      const char* name = pteron_program_method_name(program.get(), i);
      error = nullptr;
      const pteron_status load_status =
          pteron_method_load(program.get(), name, &method_options, &loaded, &error);
      if (!ok(load_status, error)) continue;
      methods.emplace_back(loaded);
      run_method(loaded, i);
    }
  }

  void run_method(pteron_method* method, size_t number) {
    json(pteron_method_execution, method);
    for (size_t i = 0; i < pteron_method_output_count(method); ++i) {
      pteron_spec spec = PTERON_INIT(pteron_spec);
      pteron_error* error = nullptr;
      const pteron_status status = pteron_method_output_spec(method, i, &spec, &error);
      if (!ok(status, error)) problem("an output has no spec");
    }
    run_once(method, number, true, false);
    run_once(method, number, false, false);
    read_states(method);
    run_once(method, number, false, true);
    json(pteron_method_profile, method);
  }

  void run_once(pteron_method* method, size_t number, bool zeros, bool smaller) {
    std::deque<Input> inputs;
    size_t total = 0;
    for (size_t i = 0; i < pteron_method_input_count(method); ++i) {
      pteron_spec spec = PTERON_INIT(pteron_spec);
      pteron_error* error = nullptr;
      const pteron_status status = pteron_method_input_spec(method, i, &spec, &error);
      if (!ok(status, error)) return problem("an input has no spec");
      if (spec.kind == PTERON_KIND_TENSOR) {
        size_t bytes = pteron_dtype_size(static_cast<pteron_dtype>(spec.dtype));
        for (int32_t d = 0; d < spec.rank; ++d) bytes *= static_cast<size_t>(spec.shape[d]);
        // A program's inputs count against the limit, but for those that have initial data.
        if (bytes > options_.memory_limit) return;
        total += bytes;
      } else {
        const Plan& plan = decoded().plans[number];
        inputs.emplace_back(plan.values[plan.inputs[i]]);
        continue;
      }
      // A file may name one value a thousand times as an input.
      if (total > 16 * options_.memory_limit) return;
      inputs.emplace_back(spec, zeros, smaller);
    }
    std::vector<pteron_value> values;
    for (const Input& input : inputs) values.push_back(input.value());
    pteron_error* error = nullptr;
    const pteron_status status = pteron_method_run(method, values.data(), values.size(), &error);
    if (!ok(status, error)) return;
    ++outcome_.results;
    for (size_t i = 0; i < pteron_method_output_count(method); ++i) {
      pteron_value value{};
      error = nullptr;
      const pteron_status got = pteron_method_get_output(method, i, &value, &error);
      if (ok(got, error)) touch(value);
    }
  }

  void read_states(pteron_method* method) {
    for (size_t i = 0; i < pteron_method_state_count(method); ++i) {
      pteron_value value{};
      pteron_error* error = nullptr;
      const pteron_status status = pteron_method_get_state(method, i, &value, &error);
      if (!ok(status, error)) continue;
      touch(value);
      error = nullptr;
      const pteron_status set = pteron_method_set_state(method, i, &value, &error);
      ok(set, error);
    }
    pteron_error* error = nullptr;
    const pteron_status status = pteron_method_reset_state(method, &error);
    if (!ok(status, error)) problem("the state does not reset");
  }

  template <typename Function, typename Handle>
  void json(Function* function, Handle* handle) {
    char* text = nullptr;
    pteron_error* error = nullptr;
    const pteron_status status = function(handle, &text, &error);
    if (!ok(status, error)) return problem("no JSON: " + outcome_.first_error);
    if (std::strlen(text) == 0) problem("empty JSON");
    pteron_string_free(text);
  }

  // Reads every byte, so that a sanitizer sees those that are not there.
  void touch(const pteron_value& value) {
    if (value.kind == PTERON_KIND_STRING) touched_ += std::strlen(value.as.string);
    if (value.kind != PTERON_KIND_TENSOR) return;
    const pteron_tensor& tensor = value.as.tensor;
    size_t bytes = pteron_dtype_size(static_cast<pteron_dtype>(tensor.dtype));
    for (int32_t i = 0; i < tensor.rank; ++i) bytes *= static_cast<size_t>(tensor.shape[i]);
    const auto* data = static_cast<const volatile unsigned char*>(tensor.data);
    for (size_t i = 0; i < bytes; ++i) touched_ += data[i];
  }

  // As decode sees it, for what the C interface does not say.
  const Program& decoded() {
    if (!decoded_) decoded_ = *decode_program(wrap_bytes(bytes_, false));
    return *decoded_;
  }

  const AnyProgramOptions& options_;
  std::span<const std::byte> bytes_;
  std::optional<Program> decoded_;
  CountingAllocator allocator_;
  Outcome outcome_;
  size_t touched_ = 0;
};

}  // namespace

Outcome run_any_program(std::span<const std::byte> program, const AnyProgramOptions& options) {
  return Session(options).run(program);
}

}  // namespace pteron::test
