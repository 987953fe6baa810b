// Programs and their methods.
// Part of pteron.hpp, which is what to include.
#ifndef PTERON_CPP_METHOD_HPP
#define PTERON_CPP_METHOD_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "pteron/cpp/options.hpp"
#include "pteron/cpp/value.hpp"
#include "pteron/pteron.h"

namespace pteron {
inline namespace abi1 {

// A loaded method. One thread at a time; a failed call leaves it usable. It keeps what it needs of
// its program. What shows its memory (Outputs, a state) cannot be taken from a temporary one, with
// which it would be gone: give the method a name.
class Method {
 public:
  size_t input_count() const { return pteron_method_input_count(handle()); }
  size_t output_count() const { return pteron_method_output_count(handle()); }
  size_t state_count() const { return pteron_method_state_count(handle()); }
  Spec input_spec(size_t index) const { return spec(pteron_method_input_spec, index); }
  Spec output_spec(size_t index) const { return spec(pteron_method_output_spec, index); }
  Spec state_spec(size_t index) const { return spec(pteron_method_state_spec, index); }
  std::vector<Spec> inputs() const { return specs(pteron_method_input_spec, input_count()); }
  std::vector<Spec> outputs() const { return specs(pteron_method_output_spec, output_count()); }
  std::vector<Spec> states() const { return specs(pteron_method_state_spec, state_count()); }

  // Runs on these inputs. Throws if their number, dtypes or shapes are not the method's, or if an
  // operator or delegate fails.
  Outputs operator()(std::initializer_list<Value> inputs) & {
    return run(inputs.begin(), inputs.size());
  }
  Outputs operator()(std::initializer_list<Value> inputs) && = delete;
  Outputs run(const std::vector<Value>& inputs) & { return run(inputs.data(), inputs.size()); }
  Outputs run(const std::vector<Value>& inputs) && = delete;
  Outputs run(const Value* inputs, size_t count) && = delete;
  Outputs run(const Value* inputs, size_t count) & {
    std::array<pteron_value, 8> few;
    std::vector<pteron_value> many(count > few.size() ? count : 0);
    pteron_value* values = many.empty() ? few.data() : many.data();
    for (size_t i = 0; i < count; ++i) values[i] = inputs[i].c_value();
    detail::check(
        [&](pteron_error** error) { return pteron_method_run(handle(), values, count, error); });
    return Outputs(handle());
  }

  // Binds an input until it is bound again: its memory is borrowed, and read at each execute().
  void bind_input(size_t index, const Value& value) {
    const pteron_value given = value.c_value();
    detail::check([&](pteron_error** error) {
      return pteron_method_bind_input(handle(), index, &given, error);
    });
  }
  // Binds memory for an output until it is bound again; its size is the shape's.
  template <typename T>
  void bind_output(size_t index, T* data, const Shape& shape) {
    static_assert(!std::is_const_v<T>, "an output is written");
    bind_output(index, tensor(data, shape));
  }
  template <typename Container,
            typename T = std::remove_pointer_t<decltype(std::declval<Container&>().data())>>
  void bind_output(size_t index, Container& container, const Shape& shape) {
    static_assert(!std::is_const_v<T>, "an output is written");
    bind_output(index, tensor(container, shape));
  }
  // Back to the method's own memory.
  void unbind_output(size_t index) {
    detail::check([&](pteron_error** error) {
      return pteron_method_bind_output(handle(), index, nullptr, error);
    });
  }

  // Runs on the bound inputs.
  Outputs execute() && = delete;
  Outputs execute() & {
    detail::check([&](pteron_error** error) { return pteron_method_execute(handle(), error); });
    return Outputs(handle());
  }
  // Begins a run on the bound inputs, on a thread of the method's. Every other call throws
  // PTERON_BUSY until wait(), which throws what execute() would have.
  void start() {
    detail::check([&](pteron_error** error) { return pteron_method_start(handle(), error); });
  }
  // Ends the run that goes on, if any; from any thread, while the method is there.
  void cancel() { pteron_method_cancel(handle()); }
  // The next call runs the method: cancel() reaches that run from now on.
  void announce() {
    detail::check([&](pteron_error** error) { return pteron_method_announce(handle(), error); });
  }
  Outputs wait() && = delete;
  Outputs wait() & {
    detail::check([&](pteron_error** error) { return pteron_method_wait(handle(), error); });
    return Outputs(handle());
  }

  // Of the last run.
  ValueView output(size_t index) const&& = delete;
  ValueView output(size_t index) const& { return Outputs(handle())[index]; }

  // The buffers that are kept from one run to the next; a view, valid as long as the method.
  Tensor state(size_t index) const&& = delete;
  Tensor state(size_t index) const& {
    pteron_value value;
    detail::check([&](pteron_error** error) {
      return pteron_method_get_state(handle(), index, &value, error);
    });
    return ValueView(value).tensor();
  }
  // Copies an array of the same dtype and shape into a buffer.
  void set_state(size_t index, const Value& value) {
    const pteron_value given = value.c_value();
    detail::check([&](pteron_error** error) {
      return pteron_method_set_state(handle(), index, &given, error);
    });
  }
  // Puts every buffer back to its initial value.
  void reset_state() {
    detail::check([&](pteron_error** error) { return pteron_method_reset_state(handle(), error); });
  }

  // JSON; docs/json.md has the fields. profile() throws if the program was opened without profile.
  std::string execution() const {
    return detail::take_string([&](char** json, pteron_error** error) {
      return pteron_method_execution(handle(), json, error);
    });
  }
  std::string profile() const {
    return detail::take_string([&](char** json, pteron_error** error) {
      return pteron_method_profile(handle(), json, error);
    });
  }

  pteron_method* c_method() const { return handle(); }

 private:
  friend class Program;
  using SpecFunction = pteron_status (*)(const pteron_method*, size_t, pteron_spec*,
                                         pteron_error**);

  Method(pteron_method* handle, std::shared_ptr<const void> kept)
      : kept_(std::move(kept)), handle_(handle, pteron_method_free) {}

  pteron_method* handle() const { return handle_.get(); }

  void bind_output(size_t index, const Value& value) {
    const pteron_value given = value.c_value();
    detail::check([&](pteron_error** error) {
      return pteron_method_bind_output(handle(), index, &given, error);
    });
  }

  Spec spec(SpecFunction function, size_t index) const {
    pteron_spec spec = PTERON_INIT(pteron_spec);
    detail::check([&](pteron_error** error) { return function(handle(), index, &spec, error); });
    const auto rank = static_cast<size_t>(spec.rank);
    return {spec.name,
            static_cast<Kind>(spec.kind),
            static_cast<DType>(spec.dtype),
            Span<const int64_t>(spec.shape, rank).to_vector(),
            Span<const uint8_t>(spec.dim_order, rank).to_vector(),
            spec.dynamic != 0};
  }
  std::vector<Spec> specs(SpecFunction function, size_t count) const {
    std::vector<Spec> all;
    all.reserve(count);
    for (size_t i = 0; i < count; ++i) all.push_back(spec(function, i));
    return all;
  }

  std::shared_ptr<const void> kept_;  // The operators' function objects: freed after the method.
  std::unique_ptr<pteron_method, decltype(&pteron_method_free)> handle_;
};

// How a method is loaded: program.load("forward", pteron::MethodOptions().seed(7)).
class MethodOptions {
 public:
  // The method that is loaded uses the state buffers of this one, of the same program.
  MethodOptions& shares_state_with(const Method& method) {
    plain_.shares_state_with = method.c_method();
    return *this;
  }
  // Of random operators: methods with the same seed give the same numbers, run after run.
  MethodOptions& seed(uint64_t number) {
    plain_.seed = number;
    return *this;
  }

  const pteron_method_options& c_options() const { return plain_; }

 private:
  pteron_method_options plain_ = PTERON_INIT(pteron_method_options);
};

// An opened program. Immutable: any thread may use it.
class Program {
 public:
  // Opens a .pte file (a path in UTF-8), which stays mapped unless Options::copy_file. Throws if it
  // cannot be read, is malformed, or the library is older than this header.
  explicit Program(const std::string& path, const Options& options = Options())
      : Program(options, [&](const pteron_program_options* given, pteron_program** program,
                             pteron_error** error) {
          return pteron_program_open(path.c_str(), given, program, error);
        }) {}
  // Opens a program in memory, which must stay as it is, unless Options::copy_file.
  Program(const void* data, size_t size, const Options& options = Options())
      : Program(options, [&](const pteron_program_options* given, pteron_program** program,
                             pteron_error** error) {
          return pteron_program_open_memory(data, size, given, program, error);
        }) {}

  std::vector<std::string> method_names() const {
    const size_t count = pteron_program_method_count(handle_.get());
    std::vector<std::string> names;
    names.reserve(count);
    for (size_t i = 0; i < count; ++i)
      names.emplace_back(pteron_program_method_name(handle_.get(), i));
    return names;
  }

  // Loads a method; name empty: "forward", or the only one. Throws an error that names every
  // operator, delegate and weights key that is missing.
  Method load(const std::string& name = {}, const MethodOptions& options = {}) const {
    pteron_method* method = nullptr;
    detail::check([&](pteron_error** error) {
      return pteron_method_load(handle_.get(), name.empty() ? nullptr : name.c_str(),
                                &options.c_options(), &method, error);
    });
    return Method(method, kept_);
  }
  // Loads a method that uses the state buffers of another one of this program.
  Method load(const std::string& name, const Method& shares_state_with) const {
    return load(name, MethodOptions().shares_state_with(shares_state_with));
  }

  // What it holds and what would run where, as JSON; docs/json.md has the fields.
  std::string info() const {
    return detail::take_string([&](char** json, pteron_error** error) {
      return pteron_program_info(handle_.get(), json, error);
    });
  }

  pteron_program* c_program() const { return handle_.get(); }

 private:
  using Functions = std::vector<std::shared_ptr<const void>>;

  template <typename Open>
  Program(const Options& options, Open&& open)
      : kept_(std::make_shared<const Functions>(options.functions())),
        handle_(nullptr, pteron_program_free) {
    detail::check_version();
    pteron_program* program = nullptr;
    options.with_c_options([&](const pteron_program_options* given) {
      detail::check([&](pteron_error** error) { return open(given, &program, error); });
    });
    handle_.reset(program);
  }

  std::shared_ptr<const Functions> kept_;
  std::unique_ptr<pteron_program, decltype(&pteron_program_free)> handle_;
};

}  // namespace abi1
}  // namespace pteron

#endif
