// Inputs and outputs: what is taken, what is refused, what is copied and what is not.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "runtime/program_maker.h"

namespace pteron::test {
namespace {

void* data(const Result<HostValue>& value) { return std::get<ArrayView>(*value).data; }

// The pointers of a call's tensor arguments.
struct Probe {
  std::vector<void*> seen;
};
Result<void> probe(KernelContext&, const Args& args, const Kernel& self) {
  auto& seen = static_cast<Probe*>(const_cast<void*>(self.user))->seen;
  for (size_t i = 0; i < args.size(); ++i) seen.push_back(args.tensor(i).raw());
  PTERON_TRY(args.tensor(1).resize(args.tensor(0).sizes()));
  for (int64_t i = 0; i < args.tensor(1).numel(); ++i)
    args.tensor(1).data<float>()[i] = args.tensor(0).data<float>()[i];
  return {};
}

// One call from an input to an output, which notes where the two lie.
struct OneCall {
  explicit OneCall(std::vector<int32_t> sizes, bool dynamic = false, bool channels_last = false) {
    in = maker.planned(sizes);
    out = maker.planned(sizes);
    for (const ValueIndex value : {in, out}) {
      if (dynamic) maker.dynamic(value);
      if (channels_last) maker.channels_last(value);
    }
    maker.call("test::probe", {in, out, out});
    maker.inputs({in}).outputs({out});
  }
  std::unique_ptr<Method> load() {
    kernel[0] = {"test::probe", "T>T", probe, &noted};
    RuntimeOptions options;
    options.kernels.emplace_back(kernel);
    return *load_method(maker, options);
  }
  PlanMaker maker;
  ValueIndex in;
  ValueIndex out;
  Probe noted;
  Kernel kernel[1];
};

std::unique_ptr<Method> scale_by_two(std::vector<int32_t> sizes) {
  PlanMaker maker;
  const ValueIndex in = maker.planned(sizes);
  const ValueIndex out = maker.planned(sizes);
  maker.call("test::scale", {in, maker.integer(2), out, out});
  return *load_method(maker.inputs({in}).outputs({out}));
}

TEST(Inputs, ThatLieAsTheProgramWantsAreNotCopied) {
  OneCall program({2, 3});
  const auto method = program.load();
  auto x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  ASSERT_TRUE(method->bind_input(0, x.host()).ok());
  ASSERT_TRUE(method->execute().ok());
  EXPECT_EQ(program.noted.seen[0], x.values.data());
  x.values[0] = 10;  // Read anew at each run.
  ASSERT_TRUE(method->execute().ok());
  EXPECT_EQ(output(*method), (std::vector<float>{10, 2, 3, 4, 5, 6}));
}

TEST(Inputs, OfAnyStridesGiveTheSameNumbers) {
  const auto method = scale_by_two({2, 3});
  const std::vector<float> wanted = {2, 4, 6, 8, 10, 12};
  std::vector<int64_t> shape = {2, 3};
  const auto check = [&](std::vector<float> memory, size_t first, std::vector<int64_t> strides,
                         const char* what) {
    for (int64_t& stride : strides) stride *= sizeof(float);
    const HostValue host = ArrayView{memory.data() + first, DType::Float32, shape, strides.data()};
    ASSERT_TRUE(method->run(std::span(&host, 1)).ok()) << what;
    EXPECT_EQ(output(*method), wanted) << what;
  };
  check({1, 2, 3, 4, 5, 6}, 0, {3, 1}, "dense");
  check({1, 4, 2, 5, 3, 6}, 0, {1, 2}, "Fortran order");
  check({4, 5, 6, 1, 2, 3}, 3, {-3, 1}, "rows backwards");
  check({6, 5, 4, 3, 2, 1}, 5, {-3, -1}, "all backwards");
  check({1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0}, 0, {6, 2}, "every second");
}

TEST(Inputs, ThatRepeatOneElementGiveTheSameNumbers) {
  const auto method = scale_by_two({2, 3});
  float one = 7;
  const std::vector<int64_t> shape = {2, 3};
  const std::vector<int64_t> strides = {0, 0};
  const HostValue host = ArrayView{&one, DType::Float32, shape, strides.data()};
  ASSERT_TRUE(method->run(std::span(&host, 1)).ok());
  EXPECT_EQ(output(*method), std::vector<float>(6, 14));
}

TEST(Inputs, GoIntoTheProgramsMemoryOrder) {
  std::vector<float> values(24);
  std::iota(values.begin(), values.end(), 0.f);
  OneCall program({1, 2, 3, 4}, false, true);
  const auto method = program.load();
  auto x = floats({1, 2, 3, 4}, values);
  const HostValue host = x.host();
  ASSERT_TRUE(method->run(std::span(&host, 1)).ok());
  EXPECT_NE(program.noted.seen[0], x.values.data());
  // In memory channels are innermost; by strides the numbers are the same.
  const auto* memory = static_cast<const float*>(data(method->output(0)));
  EXPECT_EQ(memory[1], 12);
  EXPECT_EQ(output(*method), values);
}

TEST(Inputs, InTheProgramsMemoryOrderAreNotCopiedWhateverIt) {
  OneCall program({1, 2, 3, 4}, false, true);
  const auto method = program.load();
  auto x = floats({1, 2, 3, 4}, std::vector<float>(24, 1));
  // The stride of a dimension of one element says nothing.
  const std::vector<int64_t> strides = {999, 4, 32, 8};
  ArrayView view = x.view();
  view.strides = strides.data();
  ASSERT_TRUE(method->bind_input(0, view).ok());
  ASSERT_TRUE(method->execute().ok());
  EXPECT_EQ(program.noted.seen[0], x.values.data());
}

TEST(Inputs, WithOneChannelLieInBothMemoryOrdersAtOnce) {
  for (const bool channels_last : {false, true}) {
    OneCall program({1, 1, 2, 2}, false, channels_last);
    const auto method = program.load();
    auto x = floats({1, 1, 2, 2}, {1, 2, 3, 4});
    ASSERT_TRUE(method->bind_input(0, x.host()).ok());
    ASSERT_TRUE(method->execute().ok());
    EXPECT_EQ(program.noted.seen[0], x.values.data());
    EXPECT_EQ(output(*method), x.values);
  }
}

TEST(Inputs, ThatAreNotAlignedAreCopied) {
  OneCall program({2});
  const auto method = program.load();
  std::vector<std::byte> memory(16);
  const float values[2] = {1, 2};
  std::copy_n(reinterpret_cast<const std::byte*>(values), 8, memory.data() + 1);
  const std::vector<int64_t> shape = {2};
  const HostValue host = ArrayView{memory.data() + 1, DType::Float32, shape, nullptr};
  ASSERT_TRUE(method->run(std::span(&host, 1)).ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(program.noted.seen[0]) % sizeof(float), 0u);
  EXPECT_EQ(output(*method), (std::vector<float>{1, 2}));
}

TEST(Inputs, OfAnotherDtypeAreRefusedWithTheRemedy) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({1, 3, 224, 224});
  maker.def(x).name = "x";
  const auto method = *load_method(maker.inputs({x}).outputs({x}));
  std::vector<int64_t> values(1);
  const std::vector<int64_t> shape = {1, 3, 224, 224};
  const auto result = method->bind_input(0, ArrayView{values.data(), DType::Int64, shape, nullptr});
  EXPECT_EQ(code(result), Code::InvalidArgument);
  EXPECT_EQ(
      message(result),
      "method \"forward\": input 0 \"x\": dtype int64, but the method takes float32 [1, 3, 224, "
      "224]; convert it with .astype(\"float32\")");
}

TEST(Inputs, OfADtypeThatNumPyLacksAreRefusedWithoutARemedyThatFails) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({1}, DType::BFloat16);
  const auto method = *load_method(maker.inputs({x}).outputs({x}));
  uint16_t value = 0;
  const std::vector<int64_t> shape = {1};
  EXPECT_EQ(
      message(method->bind_input(0, ArrayView{&value, DType::UInt16, shape, nullptr})),
      "method \"forward\": input 0 \"input0\": dtype uint16, but the method takes bfloat16 [1]");
}

TEST(Inputs, OfAnotherShapeAreRefusedWithWhatIsAllowed) {
  const auto method = scale_by_two({2, 3});
  auto x = floats({3, 2}, std::vector<float>(6));
  EXPECT_EQ(
      message(method->bind_input(0, x.host())),
      "method \"forward\": input 0 \"input0\": shape [3, 2], but the method takes float32 [2, 3]");
  OneCall dynamic({2, 3}, true);
  // Six elements as well, and yet too many rows.
  EXPECT_EQ(message(dynamic.load()->bind_input(0, x.host())),
            "method \"forward\": input 0 \"input0\": shape [3, 2], but the method takes float32 "
            "[<=2, <=3]");
  auto flat = floats({6}, std::vector<float>(6));
  EXPECT_EQ(code(method->bind_input(0, flat.host())), Code::InvalidArgument);
}

TEST(Inputs, WithoutMemoryOrOfAnotherKindAreRefused) {
  const auto method = scale_by_two({2});
  const std::vector<int64_t> shape = {2};
  EXPECT_EQ(message(method->bind_input(0, ArrayView{nullptr, DType::Float32, shape, nullptr})),
            "method \"forward\": input 0 \"input0\": its data pointer is null");
  EXPECT_EQ(
      message(method->bind_input(0, int64_t{3})),
      "method \"forward\": input 0 \"input0\": got the int 3, but the method takes float32 [2]");
  EXPECT_EQ(message(method->bind_input(1, int64_t{3})),
            "method \"forward\": there is no input 1; it takes 1");
}

TEST(Inputs, OfRankZeroAndWithoutElementsAreTaken) {
  OneCall scalar(std::vector<int32_t>{});
  const auto one = scalar.load();
  auto x = floats({}, {3});
  const HostValue host = x.host();
  ASSERT_TRUE(one->run(std::span(&host, 1)).ok());
  EXPECT_EQ(output(*one), std::vector<float>{3});
  EXPECT_TRUE(output_shape(*one).empty());

  OneCall empty({0, 3});
  const auto none = empty.load();
  auto nothing = floats({0, 3}, {});
  const HostValue no_host = nothing.host();
  ASSERT_TRUE(none->run(std::span(&no_host, 1)).ok());
  EXPECT_EQ(output_shape(*none), (std::vector<int64_t>{0, 3}));
}

TEST(Inputs, OfDynamicShapeGiveOutputsOfTheirShape) {
  OneCall program({5, 2}, true);
  const auto method = program.load();
  for (const int64_t rows : {3, 5, 0, 1}) {
    auto x = floats({rows, 2}, std::vector<float>(static_cast<size_t>(rows) * 2, 1));
    const HostValue host = x.host();
    ASSERT_TRUE(method->run(std::span(&host, 1)).ok());
    EXPECT_EQ(output_shape(*method), (std::vector<int64_t>{rows, 2}));
  }
}

TEST(Inputs, ThatArePlainNumbersMustBeThoseOfTheExport) {
  PlanMaker maker;
  const auto method = *load_method(maker.inputs(
      {maker.integer(3), maker.real(0.5), maker.boolean(true), maker.text("mean"), maker.none()}));
  EXPECT_TRUE(method->bind_input(0, int64_t{3}).ok());
  EXPECT_EQ(message(method->bind_input(0, int64_t{4})),
            "method \"forward\": input 0 \"input0\": got the int 4, but the method takes the int "
            "3, with which "
            "it was exported");
  EXPECT_FALSE(method->bind_input(0, 3.0).ok());
  EXPECT_TRUE(method->bind_input(1, 0.50005).ok());
  EXPECT_FALSE(method->bind_input(1, 0.51).ok());
  EXPECT_TRUE(method->bind_input(2, true).ok());
  EXPECT_FALSE(method->bind_input(2, false).ok());
  EXPECT_TRUE(method->bind_input(3, std::string_view("mean")).ok());
  EXPECT_FALSE(method->bind_input(3, std::string_view("sum")).ok());
  EXPECT_TRUE(method->bind_input(4, std::monostate()).ok());
  EXPECT_FALSE(method->bind_input(4, int64_t{0}).ok());
  EXPECT_TRUE(method->execute().ok());
}

TEST(Inputs, ThatAreDoublesCompareAsExecuTorchDoes) {
  PlanMaker maker;
  const double infinity = std::numeric_limits<double>::infinity();
  const auto method =
      *load_method(maker.inputs({maker.real(std::nan("")), maker.real(infinity), maker.real(1e6)}));
  EXPECT_TRUE(method->bind_input(0, std::nan("")).ok());
  EXPECT_FALSE(method->bind_input(0, 0.0).ok());
  EXPECT_TRUE(method->bind_input(1, infinity).ok());
  EXPECT_FALSE(method->bind_input(1, -infinity).ok());
  EXPECT_TRUE(method->bind_input(2, 1e6 + 9).ok());
  EXPECT_FALSE(method->bind_input(2, 1e6 + 11).ok());
}

TEST(Inputs, ThatAnInstructionWritesToStayTheCallersOwn) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({2});
  const ValueIndex out = maker.planned({2});
  maker.call("test::scale", {x, maker.integer(2), out, out});
  maker.call("test::copy_", {x, out, x});
  const auto method = *load_method(maker.inputs({x}).outputs({x}));
  auto array = floats({2}, {1, 2});
  ASSERT_TRUE(method->bind_input(0, array.host()).ok());
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(method->execute().ok());
    EXPECT_EQ(output(*method), (std::vector<float>{2, 4}));
  }
  EXPECT_EQ(array.values, (std::vector<float>{1, 2}));
}

TEST(Inputs, ThatTheProgramReadsByAnotherNameAreCopied) {
  // The exporter leaves out a view where both lie in one planned place.
  PlanMaker maker;
  const ValueIndex x = maker.planned_at(0, {2, 2});
  const ValueIndex view = maker.planned_at(0, {4});
  const ValueIndex out = maker.planned_at(64, {4});
  maker.call("test::scale", {view, maker.integer(3), out, out});
  const auto method = *load_method(maker.inputs({x}).outputs({out}));
  auto array = floats({2, 2}, {1, 2, 3, 4});
  const HostValue host = array.host();
  ASSERT_TRUE(method->run(std::span(&host, 1)).ok());
  EXPECT_EQ(output(*method), (std::vector<float>{3, 6, 9, 12}));
  EXPECT_TRUE(method->states().empty());
}

TEST(Inputs, MayBeTheMethodsOwnLastOutput) {
  // The output is written while the input, which lies in the same place, is still to be read.
  PlanMaker maker;
  const ValueIndex x = maker.planned({2});
  const ValueIndex doubled = maker.planned({2});
  const ValueIndex sum = maker.planned({2});
  maker.call("test::scale", {x, maker.integer(2), doubled, doubled});
  maker.call("test::add", {x, doubled, sum, sum});
  const auto method = *load_method(maker.inputs({x}).outputs({doubled, sum}));
  auto start = floats({2}, {1, 2});
  HostValue host = start.host();
  ASSERT_TRUE(method->run(std::span(&host, 1)).ok());
  host = *method->output(0);
  ASSERT_TRUE(method->run(std::span(&host, 1)).ok());
  EXPECT_EQ(output(*method, 0), (std::vector<float>{4, 8}));
  EXPECT_EQ(output(*method, 1), (std::vector<float>{6, 12}));
  ASSERT_TRUE(method->bind_input(0, *method->output(1)).ok());
  for (const float wanted : {18.f, 54.f}) {
    ASSERT_TRUE(method->execute().ok());
    EXPECT_EQ(output(*method, 1), (std::vector<float>{wanted, 2 * wanted}));
  }
}

TEST(Inputs, ThatAreViewsOfTheMethodsMemoryAreTakenBeforeAnyIsWritten) {
  // Copying the first input to its place would overwrite the second, which lies there.
  PlanMaker maker;
  const ValueIndex a = maker.planned_at(0, {2});
  const ValueIndex b = maker.planned_at(16, {2});
  const ValueIndex sum = maker.planned_at(32, {2});
  const ValueIndex out = maker.planned_at(0, {2});
  maker.call("test::copy_", {a, maker.constant({2}, {1, 1}), a});
  maker.call("test::add", {a, b, sum, sum});
  maker.call("test::scale", {sum, maker.integer(1), out, out});
  const auto method = *load_method(maker.inputs({a, b}).outputs({out}));
  auto ones = floats({2}, {1, 1});
  auto start = floats({2}, {2, 3});
  std::vector<HostValue> values = {ones.host(), start.host()};
  ASSERT_TRUE(method->run(values).ok());
  EXPECT_EQ(output(*method), (std::vector<float>{3, 4}));
  values[1] = *method->output(0);
  ASSERT_TRUE(method->run(values).ok());
  EXPECT_EQ(output(*method), (std::vector<float>{4, 5}));
}

TEST(Inputs, ThatAreNotBoundAreNamed) {
  PlanMaker maker;
  const ValueIndex a = maker.planned({1});
  const ValueIndex b = maker.planned({1});
  maker.def(b).name = "mask";
  const auto method = *load_method(maker.inputs({a, b}).outputs({a}));
  auto x = floats({1}, {1});
  ASSERT_TRUE(method->bind_input(0, x.host()).ok());
  const auto result = method->execute();
  EXPECT_EQ(code(result), Code::InvalidArgument);
  EXPECT_EQ(message(result),
            "method \"forward\": input 1 \"mask\" is not bound; it takes 2 inputs");
  const std::vector<HostValue> one = {x.host()};
  EXPECT_EQ(message(method->run(one)),
            "method \"forward\": it takes 2 inputs, got 1: input0 float32 [1], mask float32 [1]");
}

TEST(Run, PutsBackWhatWasBound) {
  const auto method = scale_by_two({1});
  auto kept = floats({1}, {1});
  auto once = floats({1}, {5});
  ASSERT_TRUE(method->bind_input(0, kept.host()).ok());
  const HostValue host = once.host();
  ASSERT_TRUE(method->run(std::span(&host, 1)).ok());
  EXPECT_EQ(output(*method), std::vector<float>{10});
  ASSERT_TRUE(method->execute().ok());
  EXPECT_EQ(output(*method), std::vector<float>{2});
  const HostValue wrong = int64_t{1};
  EXPECT_FALSE(method->run(std::span(&wrong, 1)).ok());
  EXPECT_FALSE(method->output(0).ok()) << "a failed run leaves no output";
  ASSERT_TRUE(method->execute().ok());
  EXPECT_EQ(output(*method), std::vector<float>{2});
}

TEST(Outputs, AreWrittenToTheCallersMemoryWithoutACopy) {
  OneCall program({2, 2});
  const auto method = program.load();
  auto x = floats({2, 2}, {1, 2, 3, 4});
  auto y = floats({2, 2}, {0, 0, 0, 0});
  ASSERT_TRUE(method->bind_input(0, x.host()).ok());
  ASSERT_TRUE(method->bind_output(0, y.host()).ok());
  ASSERT_TRUE(method->execute().ok());
  EXPECT_EQ(program.noted.seen[1], y.values.data());
  EXPECT_EQ(y.values, x.values);
  EXPECT_EQ(data(method->output(0)), y.values.data());
  // Null: back to the method's own memory.
  ASSERT_TRUE(method->bind_output(0, std::monostate()).ok());
  x.values[0] = 9;
  ASSERT_TRUE(method->execute().ok());
  EXPECT_EQ(y.values[0], 1);
  EXPECT_EQ(output(*method)[0], 9);
}

TEST(Outputs, StayThoseOfTheLastRunWhenBoundAnew) {
  OneCall program({1}, true);
  const auto method = program.load();
  auto x = floats({1}, {4});
  auto first = floats({1}, {0});
  auto second = floats({1}, {-1});
  ASSERT_TRUE(method->bind_input(0, x.host()).ok());
  ASSERT_TRUE(method->bind_output(0, first.host()).ok());
  ASSERT_TRUE(method->execute().ok());
  ASSERT_TRUE(method->bind_output(0, second.host()).ok());
  EXPECT_EQ(output(*method), std::vector<float>{4});
}

TEST(Outputs, ThatHaveNoPlannedPlaceAreWrittenToTheCallersMemoryToo) {
  PlanMaker maker;
  const ValueIndex x = maker.unplanned({2});
  const ValueIndex out = maker.unplanned({2});
  maker.call("test::scale", {x, maker.integer(2), out, out});
  const auto method = *load_method(maker.inputs({x}).outputs({out}));
  auto array = floats({2}, {1, 2});
  const HostValue host = array.host();
  ASSERT_TRUE(method->run(std::span(&host, 1)).ok());
  EXPECT_EQ(output(*method), (std::vector<float>{2, 4}));
  auto y = floats({2}, {0, 0});
  ASSERT_TRUE(method->bind_output(0, y.host()).ok());
  ASSERT_TRUE(method->run(std::span(&host, 1)).ok());
  EXPECT_EQ(y.values, (std::vector<float>{2, 4}));
}

TEST(Outputs, InAnotherMemoryOrderComeToTheCallerRowMajor) {
  OneCall program({1, 2, 1, 3}, false, true);
  const auto method = program.load();
  auto x = floats({1, 2, 1, 3}, {1, 2, 3, 4, 5, 6});
  auto y = floats({1, 2, 1, 3}, std::vector<float>(6));
  ASSERT_TRUE(method->bind_input(0, x.host()).ok());
  ASSERT_TRUE(method->bind_output(0, y.host()).ok());
  ASSERT_TRUE(method->execute().ok());
  EXPECT_EQ(y.values, x.values);
}

TEST(Outputs, ThatSomebodyReadsAtTheirPlannedPlaceAreCopied) {
  PlanMaker maker;
  const ValueIndex x = maker.planned_at(64, {2, 2});
  const ValueIndex out = maker.planned_at(0, {2, 2});
  const ValueIndex view = maker.planned_at(0, {4});
  const ValueIndex other = maker.planned_at(128, {4});
  maker.call("test::scale", {x, maker.integer(2), out, out});
  maker.call("test::scale", {view, maker.integer(2), other, other});
  const auto method = *load_method(maker.inputs({x}).outputs({out, other}));
  auto array = floats({2, 2}, {1, 2, 3, 4});
  auto y = floats({2, 2}, std::vector<float>(4));
  ASSERT_TRUE(method->bind_input(0, array.host()).ok());
  ASSERT_TRUE(method->bind_output(0, y.host()).ok());
  ASSERT_TRUE(method->execute().ok());
  EXPECT_EQ(y.values, (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(output(*method, 1), (std::vector<float>{4, 8, 12, 16}));
}

TEST(Outputs, ThatAreInputsOutlastTheCallersArrays) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({2});
  const ValueIndex y = maker.planned({2});
  const auto method = *load_method(maker.inputs({x, y}).outputs({x, y}));
  {
    auto a = floats({2}, {1, 2}), b = floats({2}, {3, 4});
    const HostValue both[] = {a.host(), b.host()};
    ASSERT_TRUE(method->run(both).ok());
    a.values = b.values = {-1, -1};
  }
  EXPECT_EQ(output(*method, 0), (std::vector<float>{1, 2}));
  EXPECT_EQ(output(*method, 1), (std::vector<float>{3, 4}));
  // Written to each other's arrays.
  auto a = floats({2}, {5, 6}), b = floats({2}, {7, 8});
  ASSERT_TRUE(method->bind_output(0, b.host()).ok());
  ASSERT_TRUE(method->bind_output(1, a.host()).ok());
  const HostValue both[] = {a.host(), b.host()};
  ASSERT_TRUE(method->run(both).ok());
  EXPECT_EQ(b.values, (std::vector<float>{5, 6}));
  EXPECT_EQ(a.values, (std::vector<float>{7, 8}));
}

TEST(Outputs, OfOneMemoryAreRefused) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({2});
  const auto method = *load_method(maker.inputs({x}).outputs({x, x}));
  auto a = floats({2}, {1, 2}), y = floats({2}, {0, 0}), z = floats({2}, {0, 0});
  ASSERT_TRUE(method->bind_input(0, a.host()).ok());
  ASSERT_TRUE(method->bind_output(0, y.host()).ok());
  ASSERT_TRUE(method->bind_output(1, y.host()).ok());
  EXPECT_EQ(message(method->execute()),
            "method \"forward\": output 1 \"output1\": its memory overlaps that of output 0 "
            "\"output0\"; give each output "
            "memory of its own");
  ASSERT_TRUE(method->bind_output(1, z.host()).ok());
  ASSERT_TRUE(method->execute().ok());
  EXPECT_EQ(z.values, a.values);
}

TEST(Outputs, MayShareTheCallersMemoryWithAnInput) {
  // Both outputs are made before the input is read for the last time.
  PlanMaker maker;
  const ValueIndex x = maker.planned({2});
  const ValueIndex doubled = maker.planned({2});
  const ValueIndex sum = maker.planned({2});
  maker.call("test::scale", {x, maker.integer(2), doubled, doubled});
  maker.call("test::add", {doubled, x, sum, sum});
  const auto method = *load_method(maker.inputs({x}).outputs({doubled, sum}));
  auto array = floats({2}, {1, 2});
  ASSERT_TRUE(method->bind_output(0, array.host()).ok());
  ASSERT_TRUE(method->bind_input(0, array.host()).ok());
  ASSERT_TRUE(method->execute().ok());
  EXPECT_EQ(output(*method, 1), (std::vector<float>{3, 6}));
  EXPECT_EQ(array.values, (std::vector<float>{2, 4}));
}

TEST(Outputs, OfDynamicShapeFillWhatTheyNeed) {
  OneCall program({4, 2}, true);
  const auto method = program.load();
  auto x = floats({2, 2}, {1, 2, 3, 4});
  auto room = floats({3, 2}, std::vector<float>(6, -1));
  ASSERT_TRUE(method->bind_input(0, x.host()).ok());
  ASSERT_TRUE(method->bind_output(0, room.host()).ok());
  ASSERT_TRUE(method->execute().ok());
  EXPECT_EQ(output_shape(*method), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(room.values, (std::vector<float>{1, 2, 3, 4, -1, -1}));
  auto more = floats({4, 2}, std::vector<float>(8, 1));
  ASSERT_TRUE(method->bind_input(0, more.host()).ok());
  const auto result = method->execute();
  EXPECT_EQ(code(result), Code::InvalidArgument);
  EXPECT_EQ(message(result),
            "method \"forward\": output 0 \"output0\": its result is float32 [4, 2], more than the "
            "bound memory of "
            "24 bytes holds");
  EXPECT_FALSE(method->output(0).ok());
  ASSERT_TRUE(method->bind_input(0, x.host()).ok());
  EXPECT_TRUE(method->execute().ok());
}

TEST(Outputs, MayFollowADynamicInputInMemory) {
  // The input could be of 4 rows, and is of 2.
  OneCall program({4, 2}, true);
  const auto method = program.load();
  auto memory = floats({6, 2}, {1, 2, 3, 4, -1, -1, -1, -1, -1, -1, -1, -1});
  auto x = floats({2, 2}, {});
  auto room = floats({4, 2}, {});
  ArrayView input = x.view(), result = room.view();
  input.data = memory.values.data();
  result.data = memory.values.data() + 4;
  ASSERT_TRUE(method->bind_input(0, input).ok());
  ASSERT_TRUE(method->bind_output(0, result).ok());
  const auto done = method->execute();
  ASSERT_TRUE(done.ok()) << message(done);
  EXPECT_EQ(memory.values, (std::vector<float>{1, 2, 3, 4, 1, 2, 3, 4, -1, -1, -1, -1}));
}

TEST(Outputs, ThatDoNotFitTheBoundMemoryAreRefused) {
  const auto method = scale_by_two({2, 3});
  auto flat = floats({6}, std::vector<float>(6));
  EXPECT_EQ(
      message(method->bind_output(0, flat.host())),
      "method \"forward\": output 0 \"output0\": shape [6], but the method gives float32 [2, 3]");
  auto y = floats({2, 3}, std::vector<float>(6));
  ArrayView view = y.view();
  const std::vector<int64_t> strides = {4, 8};
  view.strides = strides.data();
  EXPECT_EQ(message(method->bind_output(0, view)),
            "method \"forward\": output 0 \"output0\": its memory must be dense and row-major");
  view = y.view();
  view.dtype = DType::Int32;
  EXPECT_EQ(
      message(method->bind_output(0, view)),
      "method \"forward\": output 0 \"output0\": dtype int32, but the method gives float32 [2, 3]");
  view = y.view();
  view.data = nullptr;
  EXPECT_EQ(message(method->bind_output(0, view)),
            "method \"forward\": output 0 \"output0\": its data pointer is null");
  EXPECT_EQ(code(method->bind_output(1, view)), Code::InvalidArgument);
}

TEST(Outputs, CannotBeBoundToTheMethodsOwnMemory) {
  const auto method = scale_by_two({2});
  auto x = floats({2}, {1, 2});
  const HostValue host = x.host();
  ASSERT_TRUE(method->run(std::span(&host, 1)).ok());
  EXPECT_EQ(message(method->bind_output(0, *method->output(0))),
            "method \"forward\": output 0 \"output0\": its memory is this method's own");
}

TEST(Outputs, ThatAreInputsOrConstantsComeOutByValue) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({2});
  const auto method = *load_method(maker.inputs({x}).outputs(
      {x, maker.integer(5), maker.text("t"), maker.none(), maker.boolean(true)}));
  auto array = floats({2}, {1, 2});
  auto y = floats({2}, {0, 0});
  ASSERT_TRUE(method->bind_input(0, array.host()).ok());
  ASSERT_TRUE(method->execute().ok());
  EXPECT_NE(data(method->output(0)), array.values.data());
  EXPECT_EQ(output(*method, 0), array.values);
  EXPECT_EQ(std::get<int64_t>(*method->output(1)), 5);
  EXPECT_EQ(std::get<std::string_view>(*method->output(2)), "t");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(*method->output(3)));
  EXPECT_TRUE(std::get<bool>(*method->output(4)));
  ASSERT_TRUE(method->bind_output(0, y.host()).ok());
  ASSERT_TRUE(method->execute().ok());
  EXPECT_EQ(y.values, array.values);
  // One array as input and as output.
  ASSERT_TRUE(method->bind_output(0, array.host()).ok());
  ASSERT_TRUE(method->execute().ok());
  EXPECT_EQ(array.values, (std::vector<float>{1, 2}));
}

TEST(Outputs, AreThereAfterARunOnly) {
  const auto method = scale_by_two({1});
  const auto early = method->output(0);
  EXPECT_EQ(code(early), Code::InvalidArgument);
  auto x = floats({1}, {1});
  const HostValue host = x.host();
  ASSERT_TRUE(method->run(std::span(&host, 1)).ok());
  EXPECT_TRUE(method->output(0).ok());
  EXPECT_FALSE(method->output(1).ok());
}

TEST(Outputs, AfterABranchAreWrittenToTheCallersMemoryEitherWay) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({2});
  const ValueIndex positive = maker.planned({2}, DType::Bool);
  const ValueIndex t = maker.planned({2});
  const ValueIndex out = maker.planned({2});
  maker.call("test::is_positive", {x, positive, positive});
  maker.call("test::scale", {x, maker.integer(2), t, t});
  maker.jump_false(positive, 4);
  maker.call("test::copy_", {t, x, t});
  maker.call("test::scale", {t, maker.integer(3), out, out});
  const auto method = *load_method(maker.inputs({x}).outputs({out}));
  auto bound = floats({2}, {0, 0});
  ASSERT_TRUE(method->bind_output(0, bound.host()).ok());
  for (const float value : {1.0F, -1.0F, 2.0F}) {
    auto array = floats({2}, {value, value});
    const HostValue host = array.host();
    ASSERT_TRUE(method->run(std::span(&host, 1)).ok());
    const float wanted = value > 0 ? 3 * value : 6 * value;
    EXPECT_EQ(bound.values, (std::vector<float>{wanted, wanted}));
    EXPECT_EQ(std::get<ArrayView>(*method->output(0)).data, bound.values.data());
  }
}

}  // namespace
}  // namespace pteron::test
