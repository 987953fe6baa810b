// Loading, running and looking at methods.
#include <chrono>
#include <vector>

#include "api/handles.h"
#include "api/values.h"

using namespace pteron;

namespace {

using SpecList = const std::vector<ValueSpec>& (Method::*)() const;

pteron_status write_spec(const pteron_method* method, SpecList list, const char* what, size_t index,
                         pteron_spec* spec, pteron_error** error) noexcept {
  return guarded(error, [&]() -> Result<void> {
    if (method == nullptr) return null_argument("method");
    if (spec == nullptr) return null_argument("spec");
    const size_t size = spec->struct_size;
    PTERON_TRY(check_struct_size(size, alignof(pteron_spec), "pteron_spec"));
    const std::vector<ValueSpec>& specs = (method->method.get()->*list)();
    if (index >= specs.size()) {
      return Error{Code::InvalidArgument,
                   "method \"" + method->method->name() + "\": there is no " + what + " " +
                       std::to_string(index) + "; it has " + std::to_string(specs.size())};
    }
    const ValueSpec& in = specs[index];
    pteron_spec out{};
    out.struct_size = size;
    out.name = in.name.c_str();
    out.kind = in.kind == ValueKind::OptionalTensorList ? PTERON_KIND_TENSOR_LIST
                                                        : static_cast<int32_t>(in.kind);
    out.dtype = static_cast<int32_t>(in.dtype);
    out.rank = static_cast<int32_t>(in.shape.size());
    out.shape = in.shape.data();
    out.dim_order = in.dim_order.data();
    out.dynamic = in.dynamic;
    std::memcpy(static_cast<void*>(spec), &out, size < sizeof(out) ? size : sizeof(out));
    return {};
  });
}

// The C numbers of kinds are those of ValueKind, as far as a spec can have them.
static_assert(static_cast<int>(ValueKind::Tensor) == PTERON_KIND_TENSOR);
static_assert(static_cast<int>(ValueKind::Int) == PTERON_KIND_INT);
static_assert(static_cast<int>(ValueKind::Double) == PTERON_KIND_DOUBLE);
static_assert(static_cast<int>(ValueKind::Bool) == PTERON_KIND_BOOL);
static_assert(static_cast<int>(ValueKind::String) == PTERON_KIND_STRING);
static_assert(static_cast<int>(ValueKind::IntList) == PTERON_KIND_INT_LIST);
static_assert(static_cast<int>(ValueKind::DoubleList) == PTERON_KIND_DOUBLE_LIST);
static_assert(static_cast<int>(ValueKind::BoolList) == PTERON_KIND_BOOL_LIST);
static_assert(static_cast<int>(ValueKind::TensorList) == PTERON_KIND_TENSOR_LIST);

// The value that was given for `side` number `index` of the method, which an error names.
Result<HostValue> read_value_of(const Method& method, const char* side, SpecList list, size_t index,
                                const pteron_value* value) {
  auto host = read_value(value);
  if (host.ok()) return host;
  const std::vector<ValueSpec>& specs = (method.*list)();
  const std::string position = index < specs.size()
                                   ? describe_position(side, index, specs[index])
                                   : std::string(side) + " " + std::to_string(index);
  return Error{host.error().code,
               "method \"" + method.name() + "\": " + position + ": " + host.error().message};
}

// An announcement is over with the call that was announced, though that is refused before it runs.
struct Announced {
  explicit Announced(Method& m) : method(m) {}
  ~Announced() { method.withdraw(); }
  Announced(const Announced&) = delete;
  Announced& operator=(const Announced&) = delete;
  Method& method;
};

}  // namespace

pteron_status pteron_method_load(pteron_program* program, const char* name,
                                 const pteron_method_options* options, pteron_method** method,
                                 pteron_error** error) {
  return guarded(error, [&]() -> Result<void> {
    if (program == nullptr) return null_argument("program");
    if (method == nullptr) return null_argument("method");
    PTERON_ASSIGN(const pteron_method_options in, read_struct(options, "pteron_method_options"));
    const std::vector<Plan>& plans = program->loaded->program().plans;
    const std::string wanted = name ? name : plans.size() == 1 ? plans[0].name : "forward";
    auto loaded = std::make_unique<pteron_method>();
    loaded->program = program->loaded;
    pteron_method* shared = in.shares_state_with;
    loaded->in_use = shared ? shared->in_use : std::make_shared<InUse>();
    const Use use(*loaded);
    if (!use.ok()) {
      return Error{Code::Busy, "method \"" + shared->method->name() +
                                   "\", whose state is to be shared, is in use"};
    }
    PTERON_ASSIGN(loaded->method, Method::load(program->loaded, wanted,
                                               shared ? shared->method.get() : nullptr, in.seed));
    *method = loaded.release();
    return {};
  });
}

void pteron_method_free(pteron_method* method) {
  if (method == nullptr) return;
  // Another thread's call is waited for. It touches neither the method nor in_use once it has given
  // the method back, so what comes after is safe.
  const auto is_called = [method] {
    return method->in_use->by.load(std::memory_order_acquire) == method && !method->started;
  };
  while (is_called()) {
    // Half-way through a run that nobody will end; what it waits for cannot be freed either.
    if (method->in_use->is_lost()) return;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  method->worker.reset();
  if (method->started) method->in_use->by.store(nullptr, std::memory_order_release);
  delete method;
}

size_t pteron_method_input_count(const pteron_method* method) {
  return method ? method->method->inputs().size() : 0;
}
size_t pteron_method_output_count(const pteron_method* method) {
  return method ? method->method->outputs().size() : 0;
}
size_t pteron_method_state_count(const pteron_method* method) {
  return method ? method->method->states().size() : 0;
}

pteron_status pteron_method_input_spec(const pteron_method* method, size_t index, pteron_spec* spec,
                                       pteron_error** error) {
  return write_spec(method, &Method::inputs, "input", index, spec, error);
}

pteron_status pteron_method_output_spec(const pteron_method* method, size_t index,
                                        pteron_spec* spec, pteron_error** error) {
  return write_spec(method, &Method::outputs, "output", index, spec, error);
}

pteron_status pteron_method_state_spec(const pteron_method* method, size_t index, pteron_spec* spec,
                                       pteron_error** error) {
  return write_spec(method, &Method::states, "state", index, spec, error);
}

pteron_status pteron_method_bind_input(pteron_method* method, size_t index,
                                       const pteron_value* value, pteron_error** error) {
  return with_method(method, error, [&](Method& m, Use&) -> Result<void> {
    PTERON_ASSIGN(const HostValue host, read_value_of(m, "input", &Method::inputs, index, value));
    return m.bind_input(index, host);
  });
}

pteron_status pteron_method_bind_output(pteron_method* method, size_t index,
                                        const pteron_value* value, pteron_error** error) {
  return with_method(method, error, [&](Method& m, Use&) -> Result<void> {
    PTERON_ASSIGN(const HostValue host, read_value_of(m, "output", &Method::outputs, index, value));
    return m.bind_output(index, host);
  });
}

pteron_status pteron_method_execute(pteron_method* method, pteron_error** error) {
  return with_method(method, error, [](Method& m, Use&) { return m.execute(); });
}

pteron_status pteron_method_announce(pteron_method* method, pteron_error** error) {
  return with_method(method, error, [](Method& m, Use&) -> Result<void> {
    m.announce();
    return {};
  });
}

pteron_status pteron_method_run(pteron_method* method, const pteron_value* inputs, size_t count,
                                pteron_error** error) {
  return with_method(method, error, [&](Method& m, Use&) -> Result<void> {
    const Announced until_the_end(m);
    if (inputs == nullptr && count > 0) return null_argument("inputs");
    std::vector<HostValue> values;
    values.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      PTERON_ASSIGN(HostValue value, read_value_of(m, "input", &Method::inputs, i, &inputs[i]));
      values.push_back(value);
    }
    return m.run(values);
  });
}

pteron_status pteron_method_start(pteron_method* method, pteron_error** error) {
  return with_method(method, error, [&](Method& m, Use& use) -> Result<void> {
    if (!method->worker) method->worker.emplace(m);
    method->worker->start();
    method->started = true;
    use.keep();
    return {};
  });
}

pteron_status pteron_method_wait(pteron_method* method, pteron_error** error) {
  return guarded(error, [&]() -> Result<void> {
    if (method == nullptr) return null_argument("method");
    if (!method->started.exchange(false)) {
      return Error{Code::InvalidArgument,
                   "method \"" + method->method->name() + "\" was not started"};
    }
    Result<void> result = method->worker->wait();
    method->in_use->by.store(nullptr, std::memory_order_release);
    return result;
  });
}

void pteron_method_cancel(pteron_method* method) {
  if (method != nullptr) method->method->cancel();
}

pteron_status pteron_method_get_output(pteron_method* method, size_t index, pteron_value* value,
                                       pteron_error** error) {
  return with_method(method, error, [&](Method& m, Use&) -> Result<void> {
    if (value == nullptr) return null_argument("value");
    PTERON_ASSIGN(const HostValue host, m.output(index));
    *value = write_value(host);
    return {};
  });
}

pteron_status pteron_method_get_state(pteron_method* method, size_t index, pteron_value* value,
                                      pteron_error** error) {
  return with_method(method, error, [&](Method& m, Use&) -> Result<void> {
    if (value == nullptr) return null_argument("value");
    PTERON_ASSIGN(const HostValue host, m.state(index));
    *value = write_value(host);
    return {};
  });
}

pteron_status pteron_method_set_state(pteron_method* method, size_t index,
                                      const pteron_value* value, pteron_error** error) {
  return with_method(method, error, [&](Method& m, Use&) -> Result<void> {
    PTERON_ASSIGN(const HostValue host, read_value_of(m, "state", &Method::states, index, value));
    return m.set_state(index, host);
  });
}

pteron_status pteron_method_reset_state(pteron_method* method, pteron_error** error) {
  return with_method(method, error, [](Method& m, Use&) -> Result<void> {
    m.reset_state();
    return {};
  });
}
