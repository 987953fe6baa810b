#include "api/handles.h"

using namespace pteron;

namespace pteron {

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Worker::start() {
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable()) thread_ = std::thread([this] { loop(); });
  requested_ = true;
  done_ = false;
  changed_.notify_all();
}

Result<void> Worker::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return done_; });
  return std::exchange(result_, Result<void>());
}

void Worker::wait_until_idle() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return done_ || !requested_; });
}

void Worker::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return requested_ || quit_; });
    if (!requested_) return;
    lock.unlock();
    Result<void> result;
    try {
      result = method_.execute();
    } catch (const std::bad_alloc&) {
      result = Error{Code::ResourceLimit, "out of memory"};
    } catch (...) {
      result = Error{Code::Internal, "a bug in this library"};
    }
    lock.lock();
    result_ = std::move(result);
    requested_ = false;
    done_ = true;
    changed_.notify_all();
  }
}

}  // namespace pteron

namespace {

// The right to use a method, for one call.
class Use {
 public:
  explicit Use(InUse& in_use)
      : in_use_(in_use), mine_(!in_use.taken.exchange(true, std::memory_order_acquire)) {}
  ~Use() {
    if (mine_) in_use_.taken.store(false, std::memory_order_release);
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  bool ok() const { return mine_; }
  void keep() { mine_ = false; }  // Somebody else gives it back.

 private:
  InUse& in_use_;
  bool mine_;
};

template <typename Body>
pteron_status with_method(pteron_method* method, pteron_error** error, Body&& body) {
  return guarded(error, [&]() -> Result<void> {
    if (method == nullptr) return null_argument("method");
    Use use(*method->in_use);
    if (!use.ok()) {
      return Error{
          Code::Busy,
          "method \"" + method->method->name() +
              "\" is in use: by another thread, or since pteron_method_start; load a method "
              "for each thread"};
    }
    return body(*method->method, use);
  });
}

pteron_status write_spec(const std::vector<ValueSpec>& specs, const char* what, size_t index,
                         pteron_spec* spec, pteron_error** error) {
  return guarded(error, [&]() -> Result<void> {
    if (spec == nullptr) return null_argument("spec");
    const size_t size = spec->struct_size;
    if (size < sizeof(size_t)) {
      return Error{Code::InvalidArgument, "pteron_spec.struct_size is " + std::to_string(size) +
                                              "; fill the struct with PTERON_INIT(pteron_spec)"};
    }
    if (index >= specs.size()) {
      return Error{Code::InvalidArgument, std::string("there is no ") + what + " " +
                                              std::to_string(index) + "; the method has " +
                                              std::to_string(specs.size())};
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
    std::optional<Use> use;
    if (in.shares_state_with != nullptr) {
      loaded->in_use = in.shares_state_with->in_use;
      use.emplace(*loaded->in_use);
      if (!use->ok()) return Error{Code::Busy, "the method whose state is to be shared is in use"};
    } else {
      loaded->in_use = std::make_shared<InUse>();
    }
    PTERON_ASSIGN(
        loaded->method,
        Method::load(program->loaded, wanted,
                     in.shares_state_with ? in.shares_state_with->method.get() : nullptr));
    *method = loaded.release();
    return {};
  });
}

void pteron_method_free(pteron_method* method) {
  if (method == nullptr) return;
  guarded(nullptr, [&]() -> Result<void> {
    const bool started = method->started;
    if (method->worker) method->worker->wait_until_idle();
    if (started) method->in_use->taken.store(false, std::memory_order_release);
    return {};
  });
  method->worker.reset();
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
  if (method == nullptr) return report(error, null_argument("method"));
  return write_spec(method->method->inputs(), "input", index, spec, error);
}

pteron_status pteron_method_output_spec(const pteron_method* method, size_t index,
                                        pteron_spec* spec, pteron_error** error) {
  if (method == nullptr) return report(error, null_argument("method"));
  return write_spec(method->method->outputs(), "output", index, spec, error);
}

pteron_status pteron_method_state_spec(const pteron_method* method, size_t index, pteron_spec* spec,
                                       pteron_error** error) {
  if (method == nullptr) return report(error, null_argument("method"));
  return write_spec(method->method->states(), "state", index, spec, error);
}

pteron_status pteron_method_bind_input(pteron_method* method, size_t index,
                                       const pteron_value* value, pteron_error** error) {
  return with_method(method, error, [&](Method& m, Use&) -> Result<void> {
    PTERON_ASSIGN(const HostValue host, read_value(value));
    return m.bind_input(index, host);
  });
}

pteron_status pteron_method_bind_output(pteron_method* method, size_t index,
                                        const pteron_value* value, pteron_error** error) {
  return with_method(method, error, [&](Method& m, Use&) -> Result<void> {
    PTERON_ASSIGN(const HostValue host, read_value(value));
    return m.bind_output(index, host);
  });
}

pteron_status pteron_method_execute(pteron_method* method, pteron_error** error) {
  return with_method(method, error, [](Method& m, Use&) { return m.execute(); });
}

pteron_status pteron_method_run(pteron_method* method, const pteron_value* inputs, size_t count,
                                pteron_error** error) {
  return with_method(method, error, [&](Method& m, Use&) -> Result<void> {
    if (inputs == nullptr && count > 0) return null_argument("inputs");
    std::vector<HostValue> values;
    values.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      auto value = read_value(&inputs[i]);
      if (!value.ok()) {
        return Error{value.error().code,
                     "input " + std::to_string(i) + ": " + value.error().message};
      }
      values.push_back(*std::move(value));
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
    method->in_use->taken.store(false, std::memory_order_release);
    return result;
  });
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
    PTERON_ASSIGN(const HostValue host, read_value(value));
    return m.set_state(index, host);
  });
}

pteron_status pteron_method_reset_state(pteron_method* method, pteron_error** error) {
  return with_method(method, error, [](Method& m, Use&) -> Result<void> {
    m.reset_state();
    return {};
  });
}
