// Operators and delegates of the application's, as the runtime's Kernel and Delegate.
#include <deque>
#include <forward_list>
#include <new>
#include <vector>

#include "api/border.h"
#include "api/options.h"
#include "api/values.h"
#include "base/text.h"
#include "runtime/delegate.h"
#include "runtime/signature.h"

using namespace pteron;

// One call, as the application sees it. What its arguments point at lives until the call returns.
struct pteron_call {
  KernelContext* context;
  const Args* args;
  std::forward_list<std::vector<int64_t>> numbers;
  std::forward_list<std::vector<pteron_value>> lists;
  std::string message;
};

namespace {

struct CustomOperator {
  std::string name;
  std::string signature;
  pteron_operator definition;
};

struct CustomTables {
  std::deque<CustomOperator> operators;
  std::vector<Kernel> kernels;
};

// The status is an int, since the application's code may return any.
Error call_error(int status, const pteron_call& call) {
  const bool known = status > PTERON_OK && status <= PTERON_CANCELLED;
  return {known ? static_cast<Code>(status) : Code::Failed,
          call.message.empty()
              ? "the application's code failed with status " + std::to_string(status)
              : call.message};
}

Result<void> run_custom(KernelContext& context, const Args& args, const Kernel& self) {
  const auto& custom = *static_cast<const CustomOperator*>(self.user);
  pteron_call call{&context, &args, {}, {}, {}};
  const int status = custom.definition.run(custom.definition.context, &call);
  if (status != PTERON_OK) return call_error(status, call);
  return {};
}

pteron_value tensor_value(pteron_call& call, const Tensor& tensor) {
  pteron_value value = pteron_tensor_value(tensor.raw(), static_cast<pteron_dtype>(tensor.dtype()),
                                           tensor.rank(), tensor.sizes().data());
  if (!tensor.is_row_major()) {
    std::vector<int64_t>& strides =
        call.numbers.emplace_front(tensor.strides().begin(), tensor.strides().end());
    for (int64_t& stride : strides) stride *= static_cast<int64_t>(dtype_size(tensor.dtype()));
    value.as.tensor.strides = strides.data();
  }
  return value;
}

pteron_value list_value(pteron_kind kind, const void* items, size_t count) {
  pteron_value value{};
  value.kind = kind;
  value.as.list.items = items;
  value.as.list.count = count;
  return value;
}

pteron_value argument_value(pteron_call& call, size_t index) {
  const Args& args = *call.args;
  const Value& value = args.value(index);
  switch (value.kind) {
    case ValueKind::Tensor:
      return tensor_value(call, *value.tensor);
    case ValueKind::Int:
      return write_value(HostValue(value.integer));
    case ValueKind::Double:
      return write_value(HostValue(value.real));
    case ValueKind::Bool:
      return write_value(HostValue(value.boolean));
    case ValueKind::String:
      return write_value(HostValue(std::string_view(*value.string)));
    case ValueKind::IntList: {
      const Ints ints = args.ints(index);
      const auto& kept = call.numbers.emplace_front(ints.begin(), ints.end());
      return list_value(PTERON_KIND_INT_LIST, kept.data(), kept.size());
    }
    case ValueKind::DoubleList:
      return list_value(PTERON_KIND_DOUBLE_LIST, value.reals->items.data(),
                        value.reals->items.size());
    case ValueKind::BoolList:
      return list_value(PTERON_KIND_BOOL_LIST, value.booleans->items.data(),
                        value.booleans->items.size());
    case ValueKind::TensorList:
    case ValueKind::OptionalTensorList: {
      auto& items = call.lists.emplace_front();
      for (size_t k = 0; k < args.tensor_count(index); ++k) {
        const Tensor* tensor = args.list_tensor(index, k);
        items.push_back(tensor ? tensor_value(call, *tensor) : pteron_value{});
      }
      return list_value(PTERON_KIND_TENSOR_LIST, items.data(), items.size());
    }
    case ValueKind::None:
      break;
  }
  return pteron_value{};
}

Result<void> set_scalar(const Args& args, size_t index, const pteron_value& value) {
  switch (value.kind) {
    case PTERON_KIND_INT:
      return args.set_int(index, value.as.integer);
    case PTERON_KIND_DOUBLE:
      return args.set_real(index, value.as.real);
    case PTERON_KIND_BOOL:
      return args.set_bool(index, value.as.boolean != 0);
    default:
      return Error{Code::InvalidArgument, "an output scalar takes an int, a double or a bool"};
  }
}

class CustomInstance final : public DelegateInstance {
 public:
  CustomInstance(const pteron_delegate& delegate, void* handle, size_t inputs)
      : delegate_(delegate), handle_(handle), inputs_(inputs) {}
  ~CustomInstance() override {
    if (delegate_.destroy != nullptr) delegate_.destroy(delegate_.context, handle_);
  }
  size_t input_count() const override { return inputs_; }
  Result<void> execute(KernelContext& context, const Args& args) override {
    pteron_call call{&context, &args, {}, {}, {}};
    const int status = delegate_.run(delegate_.context, handle_, &call);
    if (status != PTERON_OK) return call_error(status, call);
    return {};
  }

 private:
  pteron_delegate delegate_;
  void* handle_;
  size_t inputs_;
};

// Refuses scratch memory and threads: there is no run yet.
class InitContext final : public KernelContext {
 public:
  void* scratch(size_t) override { throw std::bad_alloc(); }
  void parallel_for(size_t count, size_t, ParallelBody body, void* argument) override {
    if (count > 0) body(argument, 0, count);
  }
  uint64_t random() override { return 0; }
};

class CustomCompiled final : public CompiledDelegate {
 public:
  CustomCompiled(const pteron_delegate& delegate, std::string id, const DelegateDef& def)
      : delegate_(delegate), id_(std::move(id)), def_(def) {}

  Result<std::unique_ptr<DelegateInstance>> instantiate(const Args& args) override {
    std::vector<const char*> keys;
    std::vector<const void*> values;
    std::vector<size_t> sizes;
    for (const CompileSpec& spec : def_.specs) {
      keys.push_back(spec.key.c_str());
      values.push_back(spec.value.data());
      sizes.push_back(spec.value.size());
    }
    InitContext context;
    pteron_call call{&context, &args, {}, {}, {}};
    void* handle = nullptr;
    size_t inputs = 0;
    const int status =
        delegate_.init(delegate_.context, &call, def_.payload.data(), def_.payload.size(),
                       keys.size(), keys.data(), values.data(), sizes.data(), &handle, &inputs);
    if (status != PTERON_OK) return call_error(status, call);
    auto instance = std::make_unique<CustomInstance>(delegate_, handle, inputs);
    if (inputs > args.size()) {
      return Error{Code::InvalidArgument, "the application's delegate says that it has " +
                                              counted(inputs, "input") + ", but the call has " +
                                              counted(args.size(), "argument")};
    }
    return std::unique_ptr<DelegateInstance>(std::move(instance));
  }
  ExecutionReport report() const override { return {id_, "", "application", "", {}}; }

 private:
  pteron_delegate delegate_;
  std::string id_;
  const DelegateDef& def_;  // In the program, which outlives this.
};

class CustomDelegate final : public Delegate {
 public:
  explicit CustomDelegate(const pteron_delegate& delegate)
      : delegate_(delegate), id_(delegate.id) {}
  std::string_view id() const override { return id_; }
  Result<std::shared_ptr<CompiledDelegate>> compile(const DelegateSource& source) override {
    return std::shared_ptr<CompiledDelegate>(
        std::make_shared<CustomCompiled>(delegate_, id_, source.def));
  }

 private:
  pteron_delegate delegate_;
  std::string id_;
};

}  // namespace

namespace pteron {

Result<void> add_custom(const pteron_program_options& options, RuntimeOptions& runtime) {
  auto tables = std::make_shared<CustomTables>();
  const auto* next = reinterpret_cast<const char*>(options.operators);
  for (size_t i = 0; i < options.operator_count; ++i) {
    if (next == nullptr) return null_argument("operators");
    const auto* given = reinterpret_cast<const pteron_operator*>(next);
    PTERON_ASSIGN(const pteron_operator definition, read_struct(given, "pteron_operator"));
    next += given->struct_size;  // The caller's array may be of another version's structs.
    if (definition.name == nullptr || definition.signature == nullptr ||
        definition.run == nullptr) {
      return null_argument("operators[].name, .signature or .run");
    }
    if (!is_valid_signature(definition.signature)) {
      return Error{Code::InvalidArgument, "operator \"" + std::string(definition.name) +
                                              "\" has the signature \"" + definition.signature +
                                              "\"; pteron_operator lists the letters"};
    }
    for (const CustomOperator& other : tables->operators) {
      if (other.name != definition.name) continue;
      return Error{Code::InvalidArgument,
                   "the operator \"" + other.name + "\" is given twice; give each name once"};
    }
    tables->operators.push_back({definition.name, definition.signature, definition});
  }
  for (const CustomOperator& custom : tables->operators) {
    tables->kernels.push_back({custom.name, custom.signature, run_custom, &custom});
  }
  if (!tables->kernels.empty()) runtime.kernels.push_back(tables->kernels);
  next = reinterpret_cast<const char*>(options.delegates);
  for (size_t i = 0; i < options.delegate_count; ++i) {
    if (next == nullptr) return null_argument("delegates");
    const auto* given = reinterpret_cast<const pteron_delegate*>(next);
    PTERON_ASSIGN(const pteron_delegate delegate, read_struct(given, "pteron_delegate"));
    next += given->struct_size;
    if (delegate.id == nullptr || delegate.init == nullptr || delegate.run == nullptr) {
      return null_argument("delegates[].id, .init or .run");
    }
    runtime.delegates.push_back(std::make_shared<CustomDelegate>(delegate));
  }
  runtime.keep = tables;
  return {};
}

}  // namespace pteron

size_t pteron_call_argument_count(const pteron_call* call) { return call ? call->args->size() : 0; }

pteron_status pteron_call_argument(pteron_call* call, size_t index, pteron_value* value) {
  if (call == nullptr || value == nullptr || index >= call->args->size())
    return PTERON_INVALID_ARGUMENT;
  return guarded(nullptr, [&]() -> Result<void> {
    *value = argument_value(*call, index);
    return {};
  });
}

pteron_status pteron_call_resize(pteron_call* call, size_t index, const int64_t* shape,
                                 int32_t rank) {
  if (call == nullptr || index >= call->args->size() || (shape == nullptr && rank > 0) ||
      rank < 0 || call->args->value(index).kind != ValueKind::Tensor) {
    return PTERON_INVALID_ARGUMENT;
  }
  return guarded(nullptr, [&]() -> Result<void> {
    auto resized = call->args->tensor(index).resize({shape, static_cast<size_t>(rank)});
    if (!resized.ok()) call->message = resized.error().message;
    return resized;
  });
}

pteron_status pteron_call_set_scalar(pteron_call* call, size_t index, const pteron_value* value) {
  if (call == nullptr || value == nullptr || index >= call->args->size())
    return PTERON_INVALID_ARGUMENT;
  return guarded(nullptr, [&]() -> Result<void> {
    auto set = set_scalar(*call->args, index, *value);
    if (!set.ok()) call->message = set.error().message;
    return set;
  });
}

void* pteron_call_scratch(pteron_call* call, size_t size) {
  void* memory = nullptr;
  if (call == nullptr) return nullptr;
  guarded(nullptr, [&]() -> Result<void> {
    memory = call->context->scratch(size);
    return {};
  });
  return memory;
}

void pteron_call_parallel_for(pteron_call* call, size_t count, size_t grain,
                              void (*body)(void* argument, size_t begin, size_t end),
                              void* argument) {
  if (call != nullptr && body != nullptr) call->context->parallel_for(count, grain, body, argument);
}

pteron_status pteron_call_fail(pteron_call* call, const char* message) {
  if (call != nullptr && message != nullptr) {
    guarded(nullptr, [&]() -> Result<void> {
      call->message = message;
      return {};
    });
  }
  return PTERON_FAILED;
}
