#include "programs.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "program/encode.h"

namespace programs {
namespace {

using namespace pteron;

Bytes bytes_of(const void* data, size_t size) {
  return {static_cast<const std::byte*>(data), size};
}

TensorDef tensor(std::vector<int32_t> sizes, Dynamism dynamism = Dynamism::Static) {
  TensorDef def;
  def.dynamism = dynamism;
  for (size_t i = 0; i < sizes.size(); ++i) def.dim_order.push_back(static_cast<uint8_t>(i));
  def.sizes = std::move(sizes);
  return def;
}

// Builds one method, in memory planned tensor after tensor.
class MethodBuilder {
 public:
  explicit MethodBuilder(std::string name) {
    plan_.name = std::move(name);
    plan_.buffers = {0};
    plan_.chains.emplace_back();
  }

  ValueIndex add(ValueDef def) {
    plan_.values.push_back(std::move(def));
    return static_cast<ValueIndex>(plan_.values.size() - 1);
  }
  ValueIndex add_planned(TensorDef def) {
    def.allocation = Allocation{1, plan_.buffers[0]};
    plan_.buffers[0] += (def.nbytes() + 63) / 64 * 64;
    return add(std::move(def));
  }
  ValueIndex add_state(TensorDef def, Bytes initial) {
    plan_.buffers.resize(2);
    def.allocation = Allocation{2, plan_.buffers[1]};
    plan_.buffers[1] += (def.nbytes() + 63) / 64 * 64;
    def.data = initial;
    return add(std::move(def));
  }
  void call(const std::string& name, std::vector<ValueIndex> args) {
    const auto op = static_cast<uint32_t>(plan_.operators.size());
    plan_.operators.push_back(name);
    plan_.chains[0].instructions.emplace_back(KernelCall{op, std::move(args)});
  }
  void call_delegate(DelegateDef def, std::vector<ValueIndex> args) {
    const auto index = static_cast<uint32_t>(plan_.delegates.size());
    plan_.delegates.push_back(std::move(def));
    plan_.chains[0].instructions.emplace_back(DelegateCall{index, std::move(args)});
  }
  Plan finish(std::vector<ValueIndex> inputs, std::vector<ValueIndex> outputs) {
    plan_.inputs = std::move(inputs);
    plan_.outputs = std::move(outputs);
    return std::move(plan_);
  }

 private:
  Plan plan_;
};

File encode(std::vector<Plan> plans) {
  Program program;
  program.plans = std::move(plans);
  auto file = encode_program(program);
  if (file.ok()) return *std::move(file);
  std::fprintf(stderr, "encode_program: %s\n", file.error().message.c_str());
  std::abort();
}

File add_of(const TensorDef& def, uint64_t planned = 0) {
  MethodBuilder method("forward");
  const ValueIndex x = method.add_planned(def);
  const ValueIndex y = method.add_planned(def);
  const ValueIndex alpha = method.add(int64_t{1});
  const ValueIndex out = method.add_planned(def);
  method.call("aten::add.out", {x, y, alpha, out});
  std::vector<Plan> plans;
  plans.push_back(method.finish({x, y}, {out}));
  if (planned > 0) plans[0].buffers[0] = planned;
  return encode(std::move(plans));
}

Plan accumulate(const char* name) {
  static const float initial[3] = {1, 2, 3};
  MethodBuilder method(name);
  const ValueIndex x = method.add_planned(tensor({3}));
  const ValueIndex state = method.add_state(tensor({3}), bytes_of(initial, sizeof(initial)));
  const ValueIndex out = method.add_planned(tensor({3}));
  method.call("test::accumulate.out", {state, x, out});
  return method.finish({x}, {out});
}

Plan delegate(const char* name, int calls) {
  static const char payload[] = "payload";
  static const char mode[] = "fast";
  DelegateDef def;
  def.id = "TestBackend";
  def.payload = bytes_of(payload, sizeof(payload) - 1);
  def.specs.push_back({"mode", bytes_of(mode, sizeof(mode) - 1)});
  MethodBuilder method(name);
  const ValueIndex x = method.add_planned(tensor({4, 3}, Dynamism::Bounded));
  ValueIndex last = x;
  for (int i = 0; i < calls; ++i) {
    const ValueIndex out = method.add_planned(tensor({4, 3}, Dynamism::Bounded));
    method.call_delegate(def, {last, out});
    last = out;
  }
  return method.finish({x}, {last});
}

}  // namespace

File add() { return add_of(tensor({2, 3})); }
File planning(uint64_t bytes) { return add_of(tensor({2, 3}), bytes); }
File add_dynamic() { return add_of(tensor({4, 3}, Dynamism::Bounded)); }

File random() {
  MethodBuilder method("forward");
  const ValueIndex size = method.add(IntList{{method.add(int64_t{3})}});
  const ValueIndex out = method.add_planned(tensor({3}));
  method.call("aten::rand.out", {size, out});
  std::vector<Plan> plans;
  plans.push_back(method.finish({}, {out}));
  return encode(std::move(plans));
}

File one_operator() {
  MethodBuilder method("forward");
  const ValueIndex x = method.add_planned(tensor({4, 3}, Dynamism::Bounded));
  const ValueIndex out = method.add_planned(tensor({4, 3}, Dynamism::Bounded));
  method.call("test::op.out", {x, out});
  std::vector<Plan> plans;
  plans.push_back(method.finish({x}, {out}));
  return encode(std::move(plans));
}

File state() {
  std::vector<Plan> plans;
  plans.push_back(accumulate("first"));
  plans.push_back(accumulate("second"));
  return encode(std::move(plans));
}

File kinds() {
  MethodBuilder method("forward");
  const ValueIndex x = method.add_planned(tensor({2}));
  const ValueIndex none = method.add(NoneDef{});
  const ValueIndex seven = method.add(int64_t{7});
  const ValueIndex half = method.add(0.5);
  const ValueIndex yes = method.add(true);
  const ValueIndex ints = method.add(IntList{{seven, seven}});
  const ValueIndex doubles = method.add(DoubleList{{1.5, -2.5}});
  const ValueIndex bools = method.add(BoolList{{1, 0, 1}});
  const ValueIndex tensors = method.add(TensorList{{x, x}});
  const ValueIndex optionals =
      method.add(OptionalTensorList{{static_cast<int32_t>(x), -1, static_cast<int32_t>(none)}});
  const ValueIndex text = method.add(std::string("text"));
  const ValueIndex out = method.add_planned(tensor({2}));
  const ValueIndex out_int = method.add(int64_t{0});
  const ValueIndex out_double = method.add(0.0);
  const ValueIndex out_bool = method.add(false);
  method.call("test::kinds.out", {x, none, half, none, seven, half, yes, ints, doubles, bools,
                                  tensors, optionals, text, out, out_int, out_double, out_bool});
  std::vector<Plan> plans;
  plans.push_back(method.finish({x}, {out, out_int, out_double, out_bool}));
  return encode(std::move(plans));
}

File delegated() {
  std::vector<Plan> plans;
  plans.push_back(delegate("forward", 1));
  plans.push_back(delegate("other", 2));
  return encode(std::move(plans));
}

File openvino(const std::string& blob, const std::vector<std::string>& devices) {
  DelegateDef def;
  def.id = "OpenvinoBackend";
  def.payload = bytes_of(blob.data(), blob.size());
  for (const std::string& device : devices)
    def.specs.push_back({"device", bytes_of(device.data(), device.size())});
  MethodBuilder method("forward");
  const ValueIndex x = method.add_planned(tensor({2, 3}));
  const ValueIndex out = method.add_planned(tensor({2, 3}));
  method.call_delegate(std::move(def), {x, out});
  std::vector<Plan> plans;
  plans.push_back(method.finish({x}, {out}));
  return encode(std::move(plans));
}

File lacking() {
  static const char payload[] = "payload";
  DelegateDef def;
  def.id = "TestBackend";
  def.payload = bytes_of(payload, sizeof(payload) - 1);
  MethodBuilder method("forward");
  const ValueIndex x = method.add_planned(tensor({2, 3}));
  const ValueIndex out = method.add_planned(tensor({2, 3}));
  method.call("test::first.out", {x, out});
  method.call("test::second.out", {x, out});
  method.call_delegate(std::move(def), {x, out});
  std::vector<Plan> plans;
  plans.push_back(method.finish({x}, {out}));
  return encode(std::move(plans));
}

File complex_numbers() {
  TensorDef def = tensor({2});
  def.dtype = DType::Complex64;
  MethodBuilder method("forward");
  const ValueIndex x = method.add_planned(def);
  std::vector<Plan> plans;
  plans.push_back(method.finish({x}, {x}));
  return encode(std::move(plans));
}

File results() {
  MethodBuilder method("forward");
  const ValueIndex x = method.add_planned(tensor({3}));
  std::vector<ValueIndex> outputs = {x, method.add(int64_t{7}), method.add(0.5), method.add(true),
                                     method.add(std::string("text"))};
  std::vector<Plan> plans;
  plans.push_back(method.finish({x}, std::move(outputs)));
  return encode(std::move(plans));
}

File scalars() {
  MethodBuilder method("forward");
  const ValueIndex x = method.add_planned(tensor({3}));
  std::vector<ValueIndex> inputs = {x,
                                    method.add(int64_t{3}),
                                    method.add(2.5),
                                    method.add(true),
                                    method.add(NoneDef{}),
                                    method.add(std::string("text"))};
  std::vector<Plan> plans;
  plans.push_back(method.finish(std::move(inputs), {x}));
  return encode(std::move(plans));
}

}  // namespace programs
