#include "runtime/strided_copy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace pteron {
namespace {

// Element by element, by the definition.
void copy_slowly(std::byte* to, const std::vector<int64_t>& to_strides, const std::byte* from,
                 const std::vector<int64_t>& from_strides, const std::vector<int64_t>& sizes,
                 size_t element) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  for (int64_t n = 0; n < count; ++n) {
    int64_t rest = n;
    int64_t to_at = 0;
    int64_t from_at = 0;
    for (size_t i = sizes.size(); i-- > 0;) {
      to_at += rest % sizes[i] * to_strides[i];
      from_at += rest % sizes[i] * from_strides[i];
      rest /= sizes[i];
    }
    std::memcpy(to + to_at, from + from_at, element);
  }
}

// Dense strides with the dimensions in the given order, outermost first.
std::vector<int64_t> dense(const std::vector<int64_t>& sizes, const std::vector<size_t>& order,
                           size_t element) {
  std::vector<int64_t> strides(sizes.size());
  auto stride = static_cast<int64_t>(element);
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= std::max<int64_t>(sizes[order[i]], 1);
  }
  return strides;
}

TEST(StridedCopy, AgreesWithTheDefinitionForAnyLayout) {
  std::mt19937 random(7);
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int round = 0; round < 4000; ++round) {
    const size_t element = size_t{1} << pick(0, 3);
    const auto rank = static_cast<size_t>(pick(0, 5));
    std::vector<int64_t> sizes(rank);
    std::vector<size_t> to_order(rank);
    std::vector<size_t> from_order(rank);
    for (size_t i = 0; i < rank; ++i) {
      sizes[i] = pick(0, 9) == 0 ? pick(0, 70) : pick(1, 5);
      to_order[i] = from_order[i] = i;
    }
    std::shuffle(to_order.begin(), to_order.end(), random);
    std::shuffle(from_order.begin(), from_order.end(), random);
    const std::vector<int64_t> to_strides = dense(sizes, to_order, element);
    std::vector<int64_t> from_sizes = sizes;
    std::vector<int64_t> steps(rank, 1);
    for (size_t i = 0; i < rank; ++i) {
      steps[i] = pick(0, 3) == 0 ? pick(-2, 2) : 1;  // Every second one, backwards, repeated.
      from_sizes[i] = std::max<int64_t>(sizes[i] * std::abs(steps[i]), 1);
    }
    std::vector<int64_t> from_strides = dense(from_sizes, from_order, element);
    int64_t count = 1;
    int64_t from_count = 1;
    int64_t start = 0;
    for (size_t i = 0; i < rank; ++i) {
      count *= sizes[i];
      from_count *= from_sizes[i];
      if (steps[i] < 0) start += (from_sizes[i] - 1) * from_strides[i];
      from_strides[i] *= steps[i];
      // Strides of dimensions of one element say nothing.
      if (sizes[i] == 1 && pick(0, 1) == 0) from_strides[i] = 123457;
    }
    std::vector<std::byte> from(static_cast<size_t>(from_count) * element);
    for (std::byte& byte : from) byte = static_cast<std::byte>(pick(0, 255));
    // Exactly as long as it must be, so that a sanitizer sees a byte too many.
    std::vector<std::byte> got(static_cast<size_t>(count) * element);
    std::vector<std::byte> wanted(got.size());
    copy_slowly(wanted.data(), to_strides, from.data() + start, from_strides, sizes, element);
    strided_copy(got.data(), to_strides, from.data() + start, from_strides, sizes, element);
    ASSERT_EQ(got, wanted) << "round " << round;
  }
}

TEST(StridedCopy, RunsOftenWithOneSetOfStrides) {
  const std::vector<int64_t> sizes = {3, 40, 50};
  const StridedCopy copy(dense(sizes, {0, 1, 2}, 4), dense(sizes, {1, 2, 0}, 4), sizes, 4);
  std::vector<float> from(6000);
  std::vector<float> to(6000);
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i) * (round ? -1.f : 1.f);
    copy.run(to.data(), from.data());
    // Element [2, 7, 9].
    EXPECT_EQ(to[2 * 2000 + 7 * 50 + 9], from[7 * 150 + 9 * 3 + 2]);
  }
}

TEST(StridedCopy, CopiesNothingWhenThereIsNothing) {
  const std::vector<int64_t> sizes = {2, 0};
  strided_copy(nullptr, std::vector<int64_t>{4, 4}, nullptr, std::vector<int64_t>{4, 4}, sizes, 4);
  StridedCopy().run(nullptr, nullptr);
}

}  // namespace
}  // namespace pteron
