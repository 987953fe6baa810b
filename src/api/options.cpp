#include "api/options.h"

#include <filesystem>
#include <new>
#include <system_error>

#include "api/accelerate.h"
#include "api/border.h"
#include "base/paths.h"
#include "kernels/tables.h"
#include "openvino/openvino.h"

namespace pteron {
namespace {

std::string text(const char* string) { return string ? string : ""; }

class ApplicationAllocator final : public Allocator {
 public:
  explicit ApplicationAllocator(const pteron_allocator& allocator) : allocator_(allocator) {}
  void* allocate(size_t size, size_t alignment) override {
    void* data = allocator_.allocate(allocator_.context, size, alignment);
    if (data == nullptr) throw std::bad_alloc();
    return data;
  }
  void deallocate(void* data, size_t size) override {
    allocator_.deallocate(allocator_.context, data, size);
  }

 private:
  pteron_allocator allocator_;
};

OpenvinoOptions read_openvino_options(const pteron_program_options& in) {
  OpenvinoOptions out;
  out.library = text(in.openvino);
  out.device = text(in.device);
  out.cache_dir = text(in.cache_dir);
  out.precision = static_cast<Precision>(in.precision);
  out.hint = static_cast<Hint>(in.hint);
  out.threads = in.threads;
  out.profile = in.profile != 0;
  for (size_t i = 0; i < in.config_count; ++i)
    out.config.emplace_back(in.config_keys[i], in.config_values[i]);
  return out;
}

// Holds the plain options against what they may be.
Result<void> check_options(const pteron_program_options& in) {
  const auto out_of_range = [](const char* name, int32_t value, const char* wanted) {
    return Error{Code::InvalidArgument, std::string("the option ") + name + " is " +
                                            std::to_string(value) + "; it takes " + wanted};
  };
  if (in.precision < PTERON_PRECISION_PROGRAM || in.precision > PTERON_PRECISION_BF16) {
    return out_of_range("precision", in.precision, "a pteron_precision");
  }
  if (in.hint != PTERON_HINT_LATENCY && in.hint != PTERON_HINT_THROUGHPUT) {
    return out_of_range("hint", in.hint, "a pteron_hint");
  }
  if (in.accelerate < PTERON_ACCELERATE_AUTO || in.accelerate > PTERON_ACCELERATE_OFF) {
    return out_of_range("accelerate", in.accelerate, "a pteron_accelerate");
  }
  if (in.threads < 0) return out_of_range("threads", in.threads, "0, which means all, or more");
  if (in.copy_file != 0 && in.copy_file != 1) {
    return out_of_range("copy_file", in.copy_file, "0 or 1");
  }
  if (in.profile != 0 && in.profile != 1) return out_of_range("profile", in.profile, "0 or 1");
  if (!(in.time_limit >= 0)) {  // No number is neither.
    return Error{Code::InvalidArgument, "the option time_limit is " +
                                            std::to_string(in.time_limit) +
                                            "; it takes seconds, or 0, which means no limit"};
  }
  // OpenVINO would make a folder of that name.
  const std::string cache = text(in.cache_dir);
  std::error_code ignored;
  if (!tilde_remedy(cache).empty() && !std::filesystem::exists(path_from_utf8(cache), ignored))
    return Error{Code::InvalidArgument, "the option cache_dir is " + cache + tilde_remedy(cache)};
  for (size_t i = 0; i < in.config_count; ++i) {
    if (in.config_keys == nullptr || in.config_values == nullptr || in.config_keys[i] == nullptr ||
        in.config_values[i] == nullptr) {
      return null_argument("config_keys or config_values");
    }
  }
  for (size_t i = 0; i < in.weights_count; ++i) {
    if (in.weights == nullptr || in.weights[i] == nullptr) return null_argument("weights");
  }
  return {};
}

}  // namespace

Result<std::string> read_openvino_path(const pteron_program_options* options) {
  PTERON_ASSIGN(const pteron_program_options in, read_struct(options, "pteron_program_options"));
  return text(in.openvino);
}

Result<OpenedOptions> read_options(const pteron_program_options* options) {
  PTERON_ASSIGN(const pteron_program_options in, read_struct(options, "pteron_program_options"));
  PTERON_TRY(check_options(in));
  OpenedOptions out;
  out.copy_file = in.copy_file != 0;
  out.memory_limit = in.memory_limit;
  out.device = text(in.device);
  for (size_t i = 0; i < in.weights_count; ++i) out.weights.emplace_back(in.weights[i]);
  RuntimeOptions& runtime = out.runtime;
  runtime.profile = in.profile != 0;
  runtime.threads = in.threads;
  if (in.instruction_limit > 0) runtime.instruction_limit = in.instruction_limit;
  if (in.memory_limit > 0) runtime.memory_limit = in.memory_limit;
  runtime.time_limit = in.time_limit;
  if (in.allocator != nullptr) {
    PTERON_ASSIGN(const pteron_allocator allocator, read_struct(in.allocator, "pteron_allocator"));
    if (allocator.allocate == nullptr || allocator.deallocate == nullptr) {
      return null_argument("allocator.allocate or allocator.deallocate");
    }
    runtime.allocator = std::make_shared<ApplicationAllocator>(allocator);
  }
  if (in.thread_pool != nullptr) {
    PTERON_ASSIGN(const pteron_threads threads, read_struct(in.thread_pool, "pteron_threads"));
    if (threads.parallel_for == nullptr) return null_argument("thread_pool.parallel_for");
    runtime.parallel_for = {threads.parallel_for, threads.context};
  }
  // The application's own come first: it may replace one of ours.
  PTERON_TRY(add_custom(in, runtime));
  for (const auto& table : all_kernels()) runtime.kernels.push_back(table);
  const OpenvinoOptions openvino = read_openvino_options(in);
  runtime.delegates.push_back(make_openvino_delegate(openvino));
  if (in.accelerate != PTERON_ACCELERATE_OFF)
    runtime.accelerator =
        make_openvino_accelerator(openvino, in.accelerate == PTERON_ACCELERATE_ON);
  return out;
}

}  // namespace pteron
