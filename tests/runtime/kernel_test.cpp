#include "runtime/kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/program_maker.h"

namespace pteron::test {
namespace {

TEST(Scalar, ADoubleBecomesAnIntWithoutUndefinedBehaviour) {
  const auto to_int = [](double real) { return Scalar{ValueKind::Double, 0, real}.to<int64_t>(); };
  EXPECT_EQ(to_int(-2.9), -2);
  EXPECT_EQ(to_int(1e300), INT64_MAX);
  EXPECT_EQ(to_int(-1e300), INT64_MIN);
  EXPECT_EQ(to_int(9223372036854775808.0), INT64_MAX);
  EXPECT_EQ(to_int(-9223372036854775808.0), INT64_MIN);
  EXPECT_EQ(to_int(std::numeric_limits<double>::quiet_NaN()), 0);
}

TEST(Scalar, KeepsAnIntThatADoubleCannotHold) {
  const int64_t big = (int64_t{1} << 53) + 1;
  const Scalar scalar{ValueKind::Int, big, static_cast<double>(big)};
  EXPECT_EQ(scalar.to<int64_t>(), big);
  EXPECT_TRUE(scalar.is_integral());
}

TEST(Scalar, IsTrueUnlessZero) {
  EXPECT_TRUE((Scalar{ValueKind::Double, 0, 0.5}.to<bool>()));
  EXPECT_FALSE((Scalar{ValueKind::Int, 0, 0}.to<bool>()));
}

TEST(Args, ReadsNumbersOfEachKindAsScalars) {
  Value values[3];
  values[0].kind = ValueKind::Int;
  values[0].integer = -7;
  values[1].kind = ValueKind::Bool;
  values[1].integer = 0;
  values[1].boolean = true;
  values[2].kind = ValueKind::Double;
  values[2].real = 2.5;
  const std::vector<ValueIndex> indices = {0, 1, 2};
  const Args args(indices, values);
  EXPECT_EQ(args.scalar(0).real, -7.0);
  EXPECT_EQ(args.scalar(1).integer, 1);
  EXPECT_EQ(args.scalar(2).integer, 2);
  EXPECT_EQ(args.real(0), -7.0);
}

TEST(Args, RefusesToKeepANumberInAValueOfAnotherKind) {
  Value value;
  value.kind = ValueKind::Bool;
  value.boolean = false;
  const std::vector<ValueIndex> indices = {0};
  const Args args(indices, &value);
  const auto result = args.set_int(0, 1);
  EXPECT_EQ(code(result), Code::Malformed);
  EXPECT_EQ(
      message(result),
      "the operator yields an int, but the program keeps it in argument 0, a value of kind bool");
  EXPECT_FALSE(args.set_real(0, 1).ok());
  EXPECT_TRUE(args.set_bool(0, true).ok());
  EXPECT_TRUE(value.boolean);
}

TEST(Ints, ReadsMoreThanMaxRankItems) {
  std::vector<Value> values(40);
  IntList list;
  for (ValueIndex i = 0; i < 40; ++i) {
    values[i].kind = ValueKind::Int;
    values[i].integer = i * i;
    list.items.push_back(39 - i);
  }
  const Ints ints(list, values.data());
  ASSERT_EQ(ints.size(), 40u);
  EXPECT_EQ(ints[0], 39 * 39);
  EXPECT_EQ(*(ints.end() - 1), 0);
}

}  // namespace
}  // namespace pteron::test
