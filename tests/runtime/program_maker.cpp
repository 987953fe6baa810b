#include "runtime/program_maker.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <stdexcept>

namespace pteron::test {

ValueIndex PlanMaker::add(ValueDef def) {
  plan_.values.push_back(std::move(def));
  return static_cast<ValueIndex>(plan_.values.size() - 1);
}

namespace {

TensorDef tensor_def(std::vector<int32_t> sizes, DType dtype) {
  TensorDef def;
  def.dtype = dtype;
  def.sizes = std::move(sizes);
  for (size_t i = 0; i < def.sizes.size(); ++i) def.dim_order.push_back(static_cast<uint8_t>(i));
  return def;
}

}  // namespace

ValueIndex PlanMaker::planned(std::vector<int32_t> sizes, DType dtype, uint32_t memory_id) {
  if (plan_.buffers.size() < memory_id) plan_.buffers.resize(memory_id);
  const uint64_t offset = (plan_.buffers[memory_id - 1] + 15) / 16 * 16;
  return planned_at(offset, std::move(sizes), dtype, memory_id);
}

ValueIndex PlanMaker::planned_at(uint64_t offset, std::vector<int32_t> sizes, DType dtype,
                                 uint32_t memory_id) {
  if (plan_.buffers.size() < memory_id) plan_.buffers.resize(memory_id);
  TensorDef def = tensor_def(std::move(sizes), dtype);
  def.allocation = Allocation{memory_id, offset};
  uint64_t& buffer = plan_.buffers[memory_id - 1];
  buffer = std::max<uint64_t>(buffer, offset + def.nbytes());
  return add(std::move(def));
}

ValueIndex PlanMaker::unplanned(std::vector<int32_t> sizes, DType dtype) {
  return add(tensor_def(std::move(sizes), dtype));
}

Bytes PlanMaker::hold(const void* data, size_t size) {
  const auto* bytes = static_cast<const std::byte*>(data);
  return bytes_->emplace_back(bytes, bytes + size);
}

ValueIndex PlanMaker::constant(std::vector<int32_t> sizes, std::vector<float> values) {
  const ValueIndex index = unplanned(std::move(sizes));
  def(index).data = hold(values.data(), values.size() * sizeof(float));
  return index;
}

ValueIndex PlanMaker::initialized(std::vector<int32_t> sizes, std::vector<float> values,
                                  uint32_t memory_id) {
  const ValueIndex index = planned(std::move(sizes), DType::Float32, memory_id);
  def(index).data = hold(values.data(), values.size() * sizeof(float));
  return index;
}

ValueIndex PlanMaker::external(std::string key, std::vector<int32_t> sizes) {
  const ValueIndex index = unplanned(std::move(sizes));
  def(index).external = true;
  def(index).name = std::move(key);
  return index;
}

ValueIndex PlanMaker::dynamic(ValueIndex index) {
  def(index).dynamism = Dynamism::Bounded;
  return index;
}

ValueIndex PlanMaker::channels_last(ValueIndex index) {
  def(index).dim_order = {0, 2, 3, 1};
  return index;
}

uint32_t PlanMaker::add_instruction(Instruction instruction) {
  plan_.chains[0].instructions.push_back(std::move(instruction));
  return next() - 1;
}

uint32_t PlanMaker::call(const std::string& op, std::vector<ValueIndex> args) {
  plan_.operators.push_back(op);
  return add_instruction(
      KernelCall{static_cast<uint32_t>(plan_.operators.size() - 1), std::move(args)});
}

uint32_t PlanMaker::call_delegate(const std::string& id, std::vector<ValueIndex> args,
                                  const std::string& payload) {
  DelegateDef def;
  def.id = id;
  def.payload = hold(payload.data(), payload.size());
  plan_.delegates.push_back(std::move(def));
  return add_instruction(
      DelegateCall{static_cast<uint32_t>(plan_.delegates.size() - 1), std::move(args)});
}

uint32_t PlanMaker::move(ValueIndex from, ValueIndex to) {
  return add_instruction(MoveCall{from, to});
}
uint32_t PlanMaker::jump_false(ValueIndex condition, uint32_t destination) {
  return add_instruction(JumpFalseCall{condition, destination});
}
uint32_t PlanMaker::free(ValueIndex value) { return add_instruction(FreeCall{value}); }

void PlanMaker::set_destination(uint32_t jump, uint32_t destination) {
  std::get<JumpFalseCall>(plan_.chains[0].instructions[jump]).destination = destination;
}

PlanMaker& PlanMaker::inputs(std::vector<ValueIndex> values) {
  plan_.inputs = std::move(values);
  return *this;
}
PlanMaker& PlanMaker::outputs(std::vector<ValueIndex> values) {
  plan_.outputs = std::move(values);
  return *this;
}

namespace {

Result<void> add_op(KernelContext&, const Args& args, const Kernel&) {
  const Tensor& a = args.tensor(0);
  const Tensor& b = args.tensor(1);
  Tensor& out = args.tensor(2);
  PTERON_TRY(out.resize(a.sizes()));
  for (int64_t i = 0; i < out.numel(); ++i)
    out.data<float>()[i] = a.data<float>()[i] + b.data<float>()[b.numel() == 1 ? 0 : i];
  return {};
}

Result<void> scale(KernelContext&, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(2);
  PTERON_TRY(out.resize(in.sizes()));
  for (int64_t i = 0; i < out.numel(); ++i)
    out.data<float>()[i] = in.data<float>()[i] * args.scalar(1).to<float>();
  return {};
}

Result<void> copy_in_place(KernelContext&, const Args& args, const Kernel&) {
  const Tensor& from = args.tensor(1);
  std::memmove(args.tensor(0).raw(), from.raw(), from.nbytes());
  return {};
}

Result<void> view(KernelContext&, const Args& args, const Kernel&) {
  PTERON_TRY(args.tensor(1).resize(args.tensor(0).sizes()));
  args.tensor(1).set_raw(args.tensor(0).raw());
  return {};
}

Result<void> split(KernelContext&, const Args& args, const Kernel&) {
  const auto half = static_cast<size_t>(args.tensor(0).numel() / 2);
  std::memcpy(args.tensor(1).raw(), args.tensor(0).raw(), half * sizeof(float));
  std::memcpy(args.tensor(2).raw(), args.tensor(0).data<float>() + half, half * sizeof(float));
  return {};
}

Result<void> size(KernelContext&, const Args& args, const Kernel&) {
  return args.set_int(2, args.tensor(0).size(static_cast<int>(args.integer(1))));
}

Result<void> plus(KernelContext&, const Args& args, const Kernel&) {
  if (args.scalar(0).is_integral())
    return args.set_int(2, args.scalar(0).integer + args.scalar(1).integer);
  return args.set_real(2, args.scalar(0).real + args.scalar(1).real);
}

Result<void> less(KernelContext&, const Args& args, const Kernel&) {
  return args.set_bool(2, args.scalar(0).real < args.scalar(1).real);
}

Result<void> is_positive(KernelContext&, const Args& args, const Kernel&) {
  for (int64_t i = 0; i < args.tensor(0).numel(); ++i)
    args.tensor(1).data<uint8_t>()[i] = args.tensor(0).data<float>()[i] > 0;
  return {};
}

Result<void> fill(KernelContext&, const Args& args, const Kernel&) {
  Tensor& out = args.tensor(1);
  PTERON_TRY(out.resize(args.ints(0).span()));
  for (int64_t i = 0; i < out.numel(); ++i) out.data<float>()[i] = static_cast<float>(i);
  return {};
}

Result<void> concat(KernelContext&, const Args& args, const Kernel&) {
  float* out = args.tensor(1).data<float>();
  for (size_t k = 0; k < args.tensor_count(0); ++k) {
    const Tensor& part = *args.list_tensor(0, k);
    out = std::copy_n(part.data<float>(), part.numel(), out);
  }
  return {};
}

Result<void> count(KernelContext&, const Args& args, const Kernel&) {
  int64_t there = 0;
  for (size_t k = 0; k < args.tensor_count(0); ++k) there += args.list_tensor(0, k) != nullptr;
  return args.set_int(1, there);
}

Result<void> append(KernelContext&, const Args& args, const Kernel&) {
  Tensor& to = args.tensor(0);
  const Tensor& row = args.tensor(1);
  const int64_t index = args.integer(2);
  const std::array<int64_t, 2> sizes = {index + 1, row.numel()};
  PTERON_TRY(to.resize(sizes));
  std::memcpy(to.data<float>() + index * row.numel(), row.raw(), row.nbytes());
  return {};
}

Result<void> fail(KernelContext&, const Args&, const Kernel&) {
  return Error{Code::Failed, "as it should"};
}

Result<void> out_of_memory(KernelContext& context, const Args&, const Kernel&) {
  context.scratch(64);
  throw std::bad_alloc();
}

Result<void> scratch(KernelContext& context, const Args& args, const Kernel&) {
  const auto bytes = static_cast<size_t>(args.integer(0));
  context.scratch(bytes / 2);
  context.scratch(bytes - bytes / 2);
  return {};
}

Result<void> ignore(KernelContext&, const Args&, const Kernel&) { return {}; }

constexpr Kernel kTable[] = {
    {"test::scratch", "I>T", scratch}, {"test::ignore", "T>V", ignore},
    {"test::add", "TT>T", add_op},     {"test::append", "MTI", append},
    {"test::concat", "V>T", concat},   {"test::copy_", "MT", copy_in_place},
    {"test::count", "v>I", count},     {"test::fail", "T>T", fail},
    {"test::fill", "L>T", fill},       {"test::is_positive", "T>T", is_positive},
    {"test::less", "XX>X", less},      {"test::out_of_memory", "T>T", out_of_memory},
    {"test::plus", "XX>X", plus},      {"test::scale", "TS>T", scale},
    {"test::size", "TI>I", size},      {"test::split", "T>TT", split},
    {"test::view", "T>A", view},
};

class FakeInstance : public DelegateInstance {
 public:
  explicit FakeInstance(FakeDelegate& delegate) : delegate_(delegate) {}
  size_t input_count() const override { return delegate_.inputs; }
  Result<void> execute(KernelContext& context, const Args& args) override {
    return delegate_.run(context, args);
  }
  std::vector<DelegateProfileRow> profile() const override {
    return {{"inner", "Convolution", "fast", 7, 5}};
  }

 private:
  FakeDelegate& delegate_;
};

class FakeCompiled : public CompiledDelegate {
 public:
  explicit FakeCompiled(FakeDelegate& delegate) : delegate_(delegate) {}
  Result<std::unique_ptr<DelegateInstance>> instantiate(const Args& args) override {
    PTERON_TRY(delegate_.check(args));
    ++delegate_.instances;
    return std::unique_ptr<DelegateInstance>(std::make_unique<FakeInstance>(delegate_));
  }
  ExecutionReport report() const override {
    ExecutionReport report;
    report.ran_by = "Fake";
    report.device = "CPU";
    report.precision = "f32";
    return report;
  }

 private:
  FakeDelegate& delegate_;
};

}  // namespace

std::span<const Kernel> kernels() { return kTable; }

Result<std::shared_ptr<CompiledDelegate>> FakeDelegate::compile(const DelegateSource&) {
  PTERON_TRY(before_compile());
  ++compilations;
  return std::shared_ptr<CompiledDelegate>(std::make_shared<FakeCompiled>(*this));
}

Result<std::shared_ptr<LoadedProgram>> load_program(std::vector<PlanMaker> makers,
                                                    RuntimeOptions options) {
  Program program;
  auto keep = std::make_shared<std::vector<PlanMaker>>(std::move(makers));
  for (const PlanMaker& maker : *keep) program.plans.push_back(maker.plan());
  program.storage = keep;
  options.kernels.push_back(kernels());
  return LoadedProgram::make(std::move(program), std::move(options));
}

Result<std::unique_ptr<Method>> load_method(const PlanMaker& maker, RuntimeOptions options) {
  PTERON_ASSIGN(auto program, load_program({maker}, std::move(options)));
  return Method::load(program, program->program().plans[0].name);
}

Array<float> floats(std::vector<int64_t> shape, std::vector<float> values) {
  return {std::move(values), std::move(shape), DType::Float32};
}

std::vector<float> elements(const HostValue& value) {
  const auto& array = std::get<ArrayView>(value);
  std::vector<int64_t> strides(array.shape.size());
  int64_t stride = sizeof(float);
  int64_t count = 1;
  for (size_t i = strides.size(); i-- > 0;) {
    strides[i] = array.strides ? array.strides[i] : stride;
    stride *= array.shape[i];
    count *= array.shape[i];
  }
  std::vector<float> out;
  for (int64_t n = 0; n < count; ++n) {
    const char* at = static_cast<const char*>(array.data);
    int64_t rest = n;
    for (size_t i = strides.size(); i-- > 0;) {
      at += rest % array.shape[i] * strides[i];
      rest /= array.shape[i];
    }
    float element = 0;
    std::memcpy(&element, at, sizeof(float));
    out.push_back(element);
  }
  return out;
}

std::vector<float> output(Method& method, size_t index) {
  auto value = method.output(index);
  if (!value.ok()) throw std::runtime_error(value.error().message);
  return elements(*value);
}

std::vector<float> state(Method& method, size_t index) {
  auto value = method.state(index);
  if (!value.ok()) throw std::runtime_error(value.error().message);
  return elements(*value);
}

std::vector<int64_t> output_shape(Method& method, size_t index) {
  auto value = method.output(index);
  if (!value.ok()) throw std::runtime_error(value.error().message);
  const auto shape = std::get<ArrayView>(*value).shape;
  return {shape.begin(), shape.end()};
}

}  // namespace pteron::test
