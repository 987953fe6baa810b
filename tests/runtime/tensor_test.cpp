#include "runtime/tensor.h"

#include <gtest/gtest.h>

#include <array>

namespace pteron {
namespace {

TensorDef def(std::vector<int32_t> sizes, std::vector<uint8_t> order, bool dynamic = false) {
  TensorDef out;
  out.sizes = std::move(sizes);
  out.dim_order = std::move(order);
  out.dynamism = dynamic ? Dynamism::Bounded : Dynamism::Static;
  return out;
}

std::vector<int64_t> strides(const Tensor& tensor) {
  return {tensor.strides().begin(), tensor.strides().end()};
}

Result<void> resize(Tensor& tensor, std::vector<int64_t> sizes) { return tensor.resize(sizes); }

TEST(Tensor, StridesFollowFromSizesAndMemoryOrder) {
  const Tensor rows(def({2, 3, 4}, {0, 1, 2}));
  EXPECT_EQ(strides(rows), (std::vector<int64_t>{12, 4, 1}));
  EXPECT_TRUE(rows.is_row_major());
  const Tensor channels_last(def({1, 3, 4, 5}, {0, 2, 3, 1}));
  EXPECT_EQ(strides(channels_last), (std::vector<int64_t>{60, 1, 15, 3}));
  EXPECT_FALSE(channels_last.is_row_major());
}

TEST(Tensor, OfRankZeroHasOneElement) {
  const Tensor scalar(def({}, {}));
  EXPECT_EQ(scalar.numel(), 1);
  EXPECT_EQ(scalar.nbytes(), 4u);
  EXPECT_EQ(scalar.describe(), "float32 []");
}

TEST(Tensor, OfNoElementsHasStridesAsIfItsSizesWereOne) {
  const Tensor empty(def({2, 0, 4}, {0, 1, 2}));
  EXPECT_EQ(empty.numel(), 0);
  EXPECT_EQ(empty.capacity(), 0u);
  EXPECT_EQ(strides(empty), (std::vector<int64_t>{4, 4, 1}));
}

TEST(Tensor, AStaticOneTakesOnlyItsOwnSizes) {
  Tensor tensor(def({2, 3}, {0, 1}));
  EXPECT_TRUE(resize(tensor, {2, 3}).ok());
  const auto smaller = resize(tensor, {1, 3});
  ASSERT_FALSE(smaller.ok());
  EXPECT_EQ(smaller.error().code, Code::InvalidArgument);
  EXPECT_EQ(smaller.error().message, "shape [1, 3], but the program fixes float32 [2, 3]");
  EXPECT_EQ(tensor.size(0), 2);
}

TEST(Tensor, ADynamicOneTakesSizesThatFitItsCapacity) {
  Tensor tensor(def({4, 3}, {1, 0}, true));
  ASSERT_TRUE(resize(tensor, {2, 3}).ok());
  EXPECT_EQ(tensor.nbytes(), 24u);
  EXPECT_EQ(strides(tensor), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(tensor.describe(), "float32 [2, 3]");
  EXPECT_EQ(tensor.describe(true), "float32 [<=4, <=3]");
  // The number of elements counts, as in ExecuTorch.
  EXPECT_TRUE(resize(tensor, {6, 2}).ok());
  EXPECT_FALSE(resize(tensor, {5, 3}).ok());
  EXPECT_EQ(tensor.size(0), 6) << "a refused size changes nothing";
  tensor.restore_bounds();
  EXPECT_EQ(strides(tensor), (std::vector<int64_t>{1, 4}));
}

TEST(Tensor, RefusesAnotherRankANegativeSizeAndAProductThatOverflows) {
  Tensor tensor(def({4, 4}, {0, 1}, true));
  EXPECT_FALSE(resize(tensor, {4}).ok());
  EXPECT_FALSE(resize(tensor, {-1, 4}).ok());
  EXPECT_FALSE(resize(tensor, {INT64_MAX, 4}).ok());
  EXPECT_FALSE(resize(tensor, {INT64_MAX, 0}).ok());
  EXPECT_TRUE(resize(tensor, {0, 4}).ok());
}

TEST(Tensor, WithoutRoomForAnElementTakesNone) {
  Tensor tensor(def({0}, {0}, true));
  EXPECT_FALSE(resize(tensor, {1}).ok());
  EXPECT_LE(tensor.nbytes(), tensor.capacity());
  Tensor plane(def({0, 5}, {0, 1}, true));
  EXPECT_FALSE(resize(plane, {1, 1}).ok());
}

TEST(Tensor, IsLikeOneOfTheSameDefinitionWhateverItsSizes) {
  Tensor a(def({4, 3}, {0, 1}, true));
  const Tensor b = a;
  ASSERT_TRUE(resize(a, {1, 3}).ok());
  EXPECT_TRUE(a.is_like(b));
  EXPECT_FALSE(a.is_like(Tensor(def({4, 3}, {1, 0}, true))));
  EXPECT_FALSE(a.is_like(Tensor(def({4, 3}, {0, 1}, false))));
  EXPECT_FALSE(a.is_like(Tensor(def({4, 2}, {0, 1}, true))));
}

}  // namespace
}  // namespace pteron
