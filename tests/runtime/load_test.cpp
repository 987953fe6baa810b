// Method::load: what it places where, and what it refuses.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "runtime/program_maker.h"

namespace pteron::test {
namespace {

struct File {
  std::vector<float> values;
  Weights weights;

  File(const std::string& key, std::vector<float> v, std::optional<WeightsEntry::Layout> layout)
      : values(std::move(v)) {
    weights.origin = "m.ptd";
    WeightsEntry entry;
    entry.key = key;
    entry.data = {reinterpret_cast<const std::byte*>(values.data()), values.size() * sizeof(float)};
    entry.layout = std::move(layout);
    weights.entries.push_back(std::move(entry));
  }
  RuntimeOptions options() const {
    RuntimeOptions out;
    out.weights.push_back(weights);
    return out;
  }
};

// out = the external tensor "w" * 2
PlanMaker external_program(bool planned) {
  PlanMaker maker;
  const ValueIndex w = maker.external("w", {2});
  if (planned) {
    const ValueIndex place = maker.planned({2});
    maker.def(w).allocation = maker.def(place).allocation;
  }
  const ValueIndex out = maker.planned({2});
  maker.call("test::scale", {w, maker.integer(2), out, out});
  maker.outputs({out});
  return maker;
}

TEST(Load, UsesConstantsWhereTheyLie) {
  PlanMaker maker;
  const ValueIndex weight = maker.constant({2}, {3, 4});
  const auto method = *load_method(maker.outputs({weight}));
  ASSERT_TRUE(method->execute().ok());
  EXPECT_EQ(output(*method), (std::vector<float>{3, 4}));
  EXPECT_EQ(std::get<ArrayView>(*method->output(0)).data, maker.keep()->front().data());
}

TEST(Load, UsesExternalConstantsWhereTheyLie) {
  const File file("w", {3, 4}, {{DType::Float32, {2}, {0}}});
  PlanMaker maker;
  const auto method = *load_method(maker.outputs({maker.external("w", {2})}), file.options());
  ASSERT_TRUE(method->execute().ok());
  EXPECT_EQ(std::get<ArrayView>(*method->output(0)).data, file.values.data());
}

TEST(Load, CopiesExternalStateAndPutsItBack) {
  const File file("w", {3, 4}, {{DType::Float32, {2}, {0}}});
  const auto method = *load_method(external_program(true), file.options());
  ASSERT_EQ(method->states().size(), 1u);
  EXPECT_EQ(method->states()[0].name, "w");
  EXPECT_EQ(state(*method), (std::vector<float>{3, 4}));
  auto other = floats({2}, {7, 7});
  ASSERT_TRUE(method->set_state(0, other.host()).ok());
  ASSERT_TRUE(method->execute().ok());
  EXPECT_EQ(output(*method), (std::vector<float>{14, 14}));
  method->reset_state();
  EXPECT_EQ(state(*method), (std::vector<float>{3, 4}));
  EXPECT_EQ(file.values, (std::vector<float>{3, 4}));
}

TEST(Load, TakesWeightsWithoutALayoutByTheirSize) {
  const File file("w", {3, 4}, {});
  EXPECT_TRUE(load_method(external_program(false), file.options()).ok());
  const File longer("w", {3, 4, 5}, {});
  const auto result = load_method(external_program(false), longer.options());
  EXPECT_EQ(code(result), Code::Malformed);
  EXPECT_EQ(message(result),
            "method \"forward\": the weights \"w\" have 12 bytes, but the program takes 8");
}

TEST(Load, RefusesWeightsOfAnotherLayout) {
  const std::vector<WeightsEntry::Layout> layouts = {{DType::Int32, {2}, {0}},
                                                     {DType::Float32, {1, 2}, {0, 1}}};
  for (const auto& layout : layouts) {
    const File file("w", {3, 4}, layout);
    EXPECT_EQ(code(load_method(external_program(false), file.options())), Code::Malformed);
  }
  const File file("w", {3, 4}, {{DType::Int32, {2}, {0}}});
  EXPECT_EQ(
      message(load_method(external_program(false), file.options())),
      "method \"forward\": the weights \"w\" are int32 [2], but the program takes float32 [2] in "
      "its own memory order");
}

TEST(Load, NamesAllThatIsMissingAtOnce) {
  PlanMaker maker;
  const ValueIndex w = maker.external("layer.weight", {1});
  maker.external("layer.bias", {1});
  const ValueIndex out = maker.planned({1});
  maker.call("aten::add.out", {w, out});
  maker.call("aten::mul.out", {w, out});
  maker.call("aten::add.out", {w, out});
  maker.call_delegate("OtherBackend", {w, out});
  const auto result = load_method(maker);
  EXPECT_EQ(code(result), Code::Missing);
  EXPECT_EQ(
      message(result),
      "method \"forward\": the program needs a delegate that this library does not have: "
      "OtherBackend; export it for OpenVINO or without a delegate. Also, these operators are "
      "missing: aten::add.out, aten::mul.out. Also, its weights are in another file, and these "
      "keys were not found: \"layer.bias\", \"layer.weight\"; give the .ptd file (--weights)");
  const File file("other", {1}, {});
  PlanMaker weights_only;
  weights_only.external("w", {1});
  EXPECT_EQ(message(load_method(weights_only, file.options())),
            "method \"forward\": its weights are in another file, and these keys were not found: "
            "\"w\"; looked in m.ptd");
}

TEST(Load, OfAnUnknownMethodNamesThoseThatThereAre) {
  const auto program = *load_program({PlanMaker("encode"), PlanMaker("decode")});
  const auto result = Method::load(program, "forward");
  EXPECT_EQ(code(result), Code::InvalidArgument);
  EXPECT_EQ(message(result), "no method \"forward\"; the program has \"encode\", \"decode\"");
}

TEST(Load, RefusesArgumentsThatAreNotTheOperators) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({1});
  maker.call("test::scale", {x, x, x});
  EXPECT_EQ(
      message(load_method(maker)),
      "method \"forward\": instruction 0 (test::scale): argument 1 is a value of kind tensor, but "
      "the operator takes a scalar");
}

TEST(Load, RefusesToWriteToAConstant) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({1});
  const ValueIndex w = maker.constant({1}, {1});
  maker.call("test::scale", {x, maker.integer(1), w, w});
  EXPECT_EQ(message(load_method(maker.inputs({x}))),
            "method \"forward\": instruction 0 writes to value 1, which is a constant");
}

TEST(Load, CountsPlannedAndOtherMemoryAgainstTheLimit) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({100});
  const ValueIndex y = maker.unplanned({100});
  maker.call("test::scale", {x, maker.integer(1), y, y});
  maker.inputs({x}).outputs({y});
  RuntimeOptions options;
  options.memory_limit = 800;
  EXPECT_TRUE(load_method(maker, options).ok());
  options.memory_limit = 799;
  const auto result = load_method(maker, options);
  EXPECT_EQ(code(result), Code::ResourceLimit);
  EXPECT_EQ(
      message(result),
      "method \"forward\": it needs more memory than the limit of 799 bytes; raise memory_limit "
      "if the file is trusted");
  options.memory_limit = 399;
  EXPECT_EQ(code(load_method(maker, options)), Code::ResourceLimit);
}

class CountingAllocator : public Allocator {
 public:
  void* allocate(size_t size, size_t alignment) override {
    if (live == most) throw std::bad_alloc();
    ++live;
    return ::operator new(size, std::align_val_t(alignment));
  }
  void deallocate(void* data, size_t) override {
    --live;
    ::operator delete(data, std::align_val_t(64));
  }
  int live = 0;
  int most = 1000;
};

TEST(Load, TakesBigBuffersFromTheApplicationAndGivesThemBack) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({4});
  const ValueIndex y = maker.unplanned({4});
  maker.call("test::scale", {x, maker.integer(2), y, y});
  maker.inputs({x}).outputs({y});
  const auto allocator = std::make_shared<CountingAllocator>();
  RuntimeOptions options;
  options.allocator = allocator;
  {
    const auto method = *load_method(maker, options);
    EXPECT_EQ(allocator->live, 2);
    auto array = floats({4}, {1, 2, 3, 4});
    const HostValue host = array.host();
    ASSERT_TRUE(method->run(std::span(&host, 1)).ok());
    EXPECT_EQ(output(*method), (std::vector<float>{2, 4, 6, 8}));
  }
  EXPECT_EQ(allocator->live, 0);
  allocator->most = 1;
  EXPECT_THROW((void)load_method(maker, options), std::bad_alloc);
  EXPECT_EQ(allocator->live, 0);
}

TEST(Load, GivesAnOutputWithoutAPlaceMemoryOfItsOwn) {
  PlanMaker maker;
  const ValueIndex x = maker.unplanned({3});
  const ValueIndex y = maker.unplanned({3});
  maker.call("test::scale", {x, maker.integer(2), y, y});
  const auto method = *load_method(maker.inputs({x}).outputs({y}));
  auto array = floats({3}, {1, 2, 3});
  const HostValue host = array.host();
  ASSERT_TRUE(method->run(std::span(&host, 1)).ok());
  EXPECT_EQ(output(*method), (std::vector<float>{2, 4, 6}));
}

TEST(Load, DescribesInputsAndOutputs) {
  PlanMaker maker;
  const ValueIndex x = maker.dynamic(maker.channels_last(maker.planned({1, 3, 8, 8})));
  const ValueIndex n = maker.integer(4);
  maker.def(x).name = "image";
  const auto method = *load_method(maker.inputs({x, n}).outputs({n, x}));
  ASSERT_EQ(method->inputs().size(), 2u);
  const ValueSpec& image = method->inputs()[0];
  EXPECT_EQ(image.name, "image");
  EXPECT_EQ(image.kind, ValueKind::Tensor);
  EXPECT_EQ(image.shape, (std::vector<int64_t>{1, 3, 8, 8}));
  EXPECT_EQ(image.dim_order, (std::vector<uint8_t>{0, 2, 3, 1}));
  EXPECT_TRUE(image.dynamic);
  EXPECT_EQ(method->inputs()[1].name, "input1");
  EXPECT_EQ(method->inputs()[1].kind, ValueKind::Int);
  EXPECT_EQ(method->outputs()[0].name, "output0");
}

TEST(Load, OfAnEmptyMethodRuns) {
  const auto method = *load_method(PlanMaker());
  EXPECT_TRUE(method->execute().ok());
  EXPECT_TRUE(method->execution().empty());
}

}  // namespace
}  // namespace pteron::test
