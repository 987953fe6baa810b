#include "api/handles.h"
#ifdef PTERON_HAS_KERNELS
#include "kernels/tables.h"
#endif
#ifdef PTERON_HAS_OPENVINO
#include "openvino/openvino.h"
#else
#include "runtime/delegate.h"
#endif

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

#ifdef PTERON_HAS_OPENVINO
Result<OpenvinoOptions> read_openvino_options(const pteron_program_options& in) {
  OpenvinoOptions out;
  out.library = text(in.openvino);
  out.device = text(in.device);
  out.cache_dir = text(in.cache_dir);
  if (in.precision < PTERON_PRECISION_PROGRAM || in.precision > PTERON_PRECISION_BF16) {
    return Error{Code::InvalidArgument, "the option precision is " + std::to_string(in.precision) +
                                            ", which is none of pteron_precision"};
  }
  if (in.hint != PTERON_HINT_LATENCY && in.hint != PTERON_HINT_THROUGHPUT) {
    return Error{Code::InvalidArgument, "the option hint is " + std::to_string(in.hint) +
                                            ", which is none of pteron_hint"};
  }
  out.precision = static_cast<Precision>(in.precision);
  out.hint = static_cast<Hint>(in.hint);
  out.threads = in.threads;
  out.profile = in.profile != 0;
  for (size_t i = 0; i < in.config_count; ++i) {
    if (in.config_keys == nullptr || in.config_values == nullptr || in.config_keys[i] == nullptr ||
        in.config_values[i] == nullptr) {
      return null_argument("config_keys or config_values");
    }
    out.config.emplace_back(in.config_keys[i], in.config_values[i]);
  }
  return out;
}
#else
// Says why a program for OpenVINO does not run here.
class NoOpenvino final : public Delegate {
 public:
  std::string_view id() const override { return "OpenvinoBackend"; }
  Result<std::shared_ptr<CompiledDelegate>> compile(const DelegateSource&) override {
    return Error{
        Code::Missing,
        "this library was built without OpenVINO (PTERON_OPENVINO=OFF); use a build that has it"};
  }
};
#endif

}  // namespace

Result<std::string> read_openvino_path(const pteron_program_options* options) {
  PTERON_ASSIGN(const pteron_program_options in, read_struct(options, "pteron_program_options"));
  return text(in.openvino);
}

Result<OpenedOptions> read_options(const pteron_program_options* options) {
  PTERON_ASSIGN(const pteron_program_options in, read_struct(options, "pteron_program_options"));
  OpenedOptions out;
  out.copy_file = in.copy_file != 0;
  out.memory_limit = in.memory_limit;
  if (in.threads < 0) {
    return Error{Code::InvalidArgument,
                 "the option threads is " + std::to_string(in.threads) + "; 0 means all"};
  }
  for (size_t i = 0; i < in.weights_count; ++i) {
    if (in.weights == nullptr || in.weights[i] == nullptr) return null_argument("weights");
    out.weights.emplace_back(in.weights[i]);
  }
  RuntimeOptions& runtime = out.runtime;
  runtime.profile = in.profile != 0;
  if (in.instruction_limit > 0) runtime.instruction_limit = in.instruction_limit;
  if (in.memory_limit > 0) runtime.memory_limit = in.memory_limit;
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
#ifdef PTERON_HAS_KERNELS
  for (const auto& table : all_kernels()) runtime.kernels.push_back(table);
#endif
#ifdef PTERON_HAS_OPENVINO
  PTERON_ASSIGN(OpenvinoOptions openvino, read_openvino_options(in));
  runtime.delegates.push_back(make_openvino_delegate(std::move(openvino)));
#else
  runtime.delegates.push_back(std::make_shared<NoOpenvino>());
#endif
  return out;
}

}  // namespace pteron
