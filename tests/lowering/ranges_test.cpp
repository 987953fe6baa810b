#include "lowering/ranges.h"

#include <gtest/gtest.h>

#include <vector>

namespace pteron {
namespace {

class RangesTest : public testing::Test {
 protected:
  ir::Output parameter(DType dtype) { return graph_.parameter(dtype, {4}, "p"); }
  ir::Output number(int64_t value) {
    return graph_.numbers<int64_t>(DType::Int64, std::vector<int64_t>{value});
  }
  ir::Output node(const char* operation, std::vector<ir::Output> inputs,
                  DType dtype = DType::Int64) {
    return graph_.add(operation, "opset1", std::move(inputs), {}, dtype);
  }

  ir::Graph graph_;
  Ranges ranges_{graph_};
};

TEST_F(RangesTest, ConstantsAreWhatTheyAre) {
  const ir::Output list = graph_.numbers<int64_t>(DType::Int64, std::vector<int64_t>{3, -7, 5});
  EXPECT_EQ(ranges_.of(list), (Range{-7, 5}));
}

TEST_F(RangesTest, SumsAndProductsAddUp) {
  const ir::Output a = node("Convert", {parameter(DType::UInt8)});
  EXPECT_EQ(ranges_.of(a), (Range{0, 255}));
  const ir::Output b = node("Multiply", {a, number(-3)});
  EXPECT_EQ(ranges_.of(b), (Range{-765, 0}));
  EXPECT_EQ(ranges_.of(node("Subtract", {a, b})), (Range{0, 1020}));
  EXPECT_EQ(ranges_.of(node("Abs", {b})), (Range{0, 765}));
  EXPECT_EQ(ranges_.of(node("FloorMod", {b, number(10)})), (Range{0, 9}));
}

TEST_F(RangesTest, WhatWrapsMayBeAnything) {
  const ir::Output a = parameter(DType::Int32);
  const ir::Output sum = node("Add", {a, a}, DType::Int32);
  EXPECT_EQ(ranges_.of(sum), kInt32);
}

// What is read and only moved is bounded as tightly as is asked.
TEST_F(RangesTest, ParametersAreBoundedWhereTheyAreOnlyMoved) {
  const ir::Output a = parameter(DType::Int64);
  const ir::Output moved = node("Reshape", {a, number(4)});
  EXPECT_TRUE(ranges_.demand(moved, {-10, 9}));
  EXPECT_EQ(ranges_.checks().at(a.node), (Range{-10, 9}));
  EXPECT_TRUE(ranges_.demand(moved, {-5, 100}));
  EXPECT_EQ(ranges_.checks().at(a.node), (Range{-5, 9}));
}

TEST_F(RangesTest, ParametersAreBoundedWhereThatIsEnough) {
  const ir::Output a = parameter(DType::Int64);
  const ir::Output sum = node("Add", {a, number(1)});
  EXPECT_TRUE(ranges_.demand(sum, kInt32));
  EXPECT_EQ(ranges_.checks().at(a.node), kExactInFloat);
  // A square of 2^24 is more than int32 holds: bounds are not made smaller still.
  const ir::Output b = parameter(DType::Int64);
  const ir::Output square = node("Multiply", {b, b});
  EXPECT_FALSE(ranges_.demand(square, kInt32));
  EXPECT_EQ(ranges_.checks().count(b.node), 0u);
}

// Where another demand fails, what was granted before stays.
TEST_F(RangesTest, WhatWasGrantedStays) {
  const ir::Output a = parameter(DType::Int64);
  EXPECT_TRUE(ranges_.demand(a, {0, 5}));
  EXPECT_FALSE(ranges_.demand(node("Add", {a, number(int64_t{1} << 40)}), kInt32));
  EXPECT_EQ(ranges_.checks().at(a.node), (Range{0, 5}));
}

TEST_F(RangesTest, OperationsThatItDoesNotKnowMayGiveAnything) {
  const ir::Output a = node("Something", {number(1)});
  EXPECT_EQ(ranges_.of(a), Range{});
  EXPECT_FALSE(ranges_.demand(a, kInt32));
}

}  // namespace
}  // namespace pteron
