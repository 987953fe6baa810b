// Programs made in memory, with operators and a delegate of the tests' own.
//
// Every planned tensor gets a place of its own unless it is asked to lie somewhere.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/method.h"

namespace pteron::test {

// Builds one plan. What a function returns is the index of the value that it adds.
class PlanMaker {
 public:
  explicit PlanMaker(std::string name = "forward") {
    plan_.name = std::move(name);
    plan_.chains.emplace_back();
  }

  ValueIndex add(ValueDef def);
  ValueIndex planned(std::vector<int32_t> sizes, DType dtype = DType::Float32,
                     uint32_t memory_id = 1);
  ValueIndex planned_at(uint64_t offset, std::vector<int32_t> sizes, DType dtype = DType::Float32,
                        uint32_t memory_id = 1);
  ValueIndex unplanned(std::vector<int32_t> sizes, DType dtype = DType::Float32);
  ValueIndex constant(std::vector<int32_t> sizes, std::vector<float> values);
  // Planned, with bytes that it starts from.
  ValueIndex initialized(std::vector<int32_t> sizes, std::vector<float> values,
                         uint32_t memory_id = 1);
  // In a .ptd file.
  ValueIndex external(std::string key, std::vector<int32_t> sizes);
  ValueIndex none() { return add(NoneDef{}); }
  ValueIndex integer(int64_t value) { return add(value); }
  ValueIndex real(double value) { return add(value); }
  ValueIndex boolean(bool value) { return add(value); }
  ValueIndex text(std::string value) { return add(std::move(value)); }
  ValueIndex ints(std::vector<ValueIndex> items) { return add(IntList{std::move(items)}); }
  ValueIndex list(std::vector<ValueIndex> items) { return add(TensorList{std::move(items)}); }

  TensorDef& def(ValueIndex index) { return std::get<TensorDef>(plan_.values[index]); }
  // Makes a tensor's sizes upper bounds.
  ValueIndex dynamic(ValueIndex index);
  // Gives a tensor of rank 4 the memory order of channels last.
  ValueIndex channels_last(ValueIndex index);

  // Each returns the index of the instruction that it adds.
  uint32_t call(const std::string& op, std::vector<ValueIndex> args);
  uint32_t call_delegate(const std::string& id, std::vector<ValueIndex> args,
                         const std::string& payload = "payload");
  uint32_t move(ValueIndex from, ValueIndex to);
  uint32_t jump_false(ValueIndex condition, uint32_t destination);
  uint32_t free(ValueIndex value);
  // Sets where a jump that was added before goes.
  void set_destination(uint32_t jump, uint32_t destination);
  uint32_t next() const { return static_cast<uint32_t>(plan_.chains[0].instructions.size()); }

  PlanMaker& inputs(std::vector<ValueIndex> values);
  PlanMaker& outputs(std::vector<ValueIndex> values);

  // Constants and payloads live in `keep`.
  Plan plan() const { return plan_; }
  std::shared_ptr<std::deque<std::vector<std::byte>>> keep() const { return bytes_; }

 private:
  Bytes hold(const void* data, size_t size);
  uint32_t add_instruction(Instruction instruction);

  Plan plan_;
  std::shared_ptr<std::deque<std::vector<std::byte>>> bytes_ =
      std::make_shared<std::deque<std::vector<std::byte>>>();
};

// The tests' operators, on float32 where they compute:
//   test::add "TT>T"      test::scale "TS>T"     test::copy_ "MT"       test::view "T>A"
//   test::split "T>TT"    test::size "TI>I"      test::plus "XX>X"      test::less "XX>X"
//   test::is_positive "T>T" (bool, by element)   test::fill "L>T" (sizes of the list; element i is
//   i) test::concat "V>T"    test::count "v>I" (how many are there)        test::fail "T>T"
//   test::out_of_memory "T>T"                    test::append "MTI" (row I of a matrix)
//   test::scratch "I>T" (I bytes of scratch memory, in two parts)   test::ignore "T>V"
std::span<const Kernel> kernels();

// A delegate "Fake" whose calls run `run`.
class FakeDelegate : public Delegate {
 public:
  using Run = std::function<Result<void>(KernelContext&, const Args&)>;

  std::string_view id() const override { return "Fake"; }
  Result<std::shared_ptr<CompiledDelegate>> compile(const DelegateSource& source) override;

  size_t inputs = 1;
  Run run = [](KernelContext&, const Args&) { return Result<void>(); };
  std::function<Result<void>()> before_compile = [] { return Result<void>(); };
  std::function<Result<void>(const Args&)> check = [](const Args&) { return Result<void>(); };
  std::atomic<int> compilations = 0;
  std::atomic<int> instances = 0;
};

Result<std::shared_ptr<LoadedProgram>> load_program(std::vector<PlanMaker> makers,
                                                    RuntimeOptions options = {});
// Loads the program's first method. The tests' operators are always there.
Result<std::unique_ptr<Method>> load_method(const PlanMaker& maker, RuntimeOptions options = {});

// A dense row-major array of the test's own.
template <typename T>
struct Array {
  std::vector<T> values;
  std::vector<int64_t> shape;
  DType dtype;

  ArrayView view() { return {values.data(), dtype, shape, nullptr}; }
  HostValue host() { return view(); }
};
Array<float> floats(std::vector<int64_t> shape, std::vector<float> values);

// The elements of a float32 array in row-major order, wherever they lie.
std::vector<float> elements(const HostValue& value);
std::vector<float> output(Method& method, size_t index = 0);
std::vector<float> state(Method& method, size_t index = 0);
std::vector<int64_t> output_shape(Method& method, size_t index = 0);

// The message of a failure; "" for a success.
template <typename T>
std::string message(const Result<T>& result) {
  return result.ok() ? std::string() : result.error().message;
}
template <typename T>
Code code(const Result<T>& result) {
  return result.ok() ? Code::Ok : result.error().code;
}

}  // namespace pteron::test
