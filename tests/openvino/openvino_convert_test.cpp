// Conversions at the border to OpenVINO: what keeps every value is done, what does not is refused.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "openvino/convert.h"

namespace pteron {
namespace {

using Type = ov::ov_element_type_e;

TensorDef def_of(DType dtype, std::vector<int32_t> sizes, std::vector<uint8_t> order) {
  TensorDef def;
  def.dtype = dtype;
  def.sizes = std::move(sizes);
  def.dim_order = std::move(order);
  return def;
}

template <typename To, typename From>
std::vector<To> convert(std::vector<From> from, DType from_dtype, DType to_dtype) {
  Tensor tensor(def_of(from_dtype, {static_cast<int32_t>(from.size())}, {0}));
  tensor.set_raw(from.data());
  std::vector<To> to(from.size());
  const auto copied = copy_from_tensor(tensor, to.data(), to_dtype);
  EXPECT_TRUE(copied.ok()) << copied.error().message;
  return to;
}

TEST(OpenvinoConvert, NamesTheElementTheValueAndTheDtypeThatItDoesNotFit) {
  std::vector<int64_t> from = {0, -2147483648, -2147483649};
  Tensor tensor(def_of(DType::Int64, {3}, {0}));
  tensor.set_raw(from.data());
  std::vector<int32_t> to(3);
  const auto copied = copy_from_tensor(tensor, to.data(), DType::Int32);
  ASSERT_FALSE(copied.ok());
  EXPECT_EQ(copied.error().code, Code::InvalidArgument);
  EXPECT_EQ(copied.error().message, "element 2 is -2147483649, which does not fit int32");
}

TEST(OpenvinoConvert, TurnsBoolsToBytesAndOnlyZeroAndOneBack) {
  EXPECT_EQ((convert<uint8_t, uint8_t>({0, 1, 7}, DType::Bool, DType::UInt8)),
            (std::vector<uint8_t>{0, 1, 1}));
  EXPECT_EQ((convert<uint8_t, int64_t>({1, 0}, DType::Int64, DType::Bool)),
            (std::vector<uint8_t>{1, 0}));
  int64_t two = 2;
  Tensor tensor(def_of(DType::Int64, {}, {}));
  tensor.set_raw(&two);
  uint8_t out = 0;
  EXPECT_FALSE(copy_from_tensor(tensor, &out, DType::Bool).ok());
}

TEST(OpenvinoConvert, WidensEveryHalfExactly) {
  std::vector<uint16_t> halves(65536);
  for (size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<uint16_t>(i);
  const auto floats = convert<float, uint16_t>(halves, DType::Float16, DType::Float32);
  for (size_t i = 0; i < halves.size(); ++i) {
    const int exponent = (halves[i] >> 10) & 31;
    const int mantissa = halves[i] & 1023;
    double wanted =
        exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25);
    if (exponent == 31) wanted = mantissa ? NAN : INFINITY;
    if (halves[i] & 0x8000) wanted = -wanted;
    if (std::isnan(wanted)) {
      EXPECT_TRUE(std::isnan(floats[i])) << i;
    } else {
      EXPECT_EQ(static_cast<double>(floats[i]), wanted) << i;
    }
  }
}

TEST(OpenvinoConvert, ReadsAndWritesAnyMemoryOrderWhileItConverts) {
  // Logical [2, 3], stored by columns.
  std::vector<int64_t> stored = {1, 4, 2, 5, 3, 6};
  Tensor tensor(def_of(DType::Int64, {2, 3}, {1, 0}));
  tensor.set_raw(stored.data());
  std::vector<int32_t> rows(6);
  ASSERT_TRUE(copy_from_tensor(tensor, rows.data(), DType::Int32).ok());
  EXPECT_EQ(rows, (std::vector<int32_t>{1, 2, 3, 4, 5, 6}));
  std::vector<int64_t> back(6);
  tensor.set_raw(back.data());
  ASSERT_TRUE(copy_to_tensor(rows.data(), DType::Int32, tensor).ok());
  EXPECT_EQ(back, stored);
}

TEST(OpenvinoConvert, RefusesWhatWouldChangeValues) {
  EXPECT_FALSE(is_convertible(DType::Float32, DType::Int8));
  EXPECT_FALSE(is_convertible(DType::Int8, DType::Float32));
  EXPECT_FALSE(is_convertible(DType::Float64, DType::Float32));
  EXPECT_FALSE(is_convertible(DType::Float32, DType::Float16));
  EXPECT_FALSE(is_convertible(DType::Float16, DType::BFloat16));
  EXPECT_FALSE(is_convertible(DType::QInt8, DType::Int8));
  EXPECT_TRUE(is_convertible(DType::QInt8, DType::QInt8));
  EXPECT_TRUE(is_convertible(DType::BFloat16, DType::Float32));
}

template <typename T>
T stored(ValueKind kind, double real, int64_t integer, DType dtype) {
  Value value;
  value.kind = kind;
  if (kind == ValueKind::Double)
    value.real = real;
  else if (kind == ValueKind::Bool)
    value.boolean = integer != 0;
  else
    value.integer = integer;
  T out{};
  EXPECT_TRUE(takes_scalar(dtype, kind));
  const auto done = store_scalar(value, &out, dtype);
  EXPECT_TRUE(done.ok()) << done.error().message;
  return out;
}

TEST(OpenvinoConvert, StoresScalarsAsThePortsDtype) {
  EXPECT_EQ(stored<int64_t>(ValueKind::Int, 0, -7, DType::Int64), -7);
  EXPECT_EQ(stored<int32_t>(ValueKind::Int, 0, -7, DType::Int32), -7);
  EXPECT_EQ(stored<uint8_t>(ValueKind::Bool, 0, 1, DType::Bool), 1);
  EXPECT_EQ(stored<float>(ValueKind::Bool, 0, 1, DType::Float32), 1.0F);
  EXPECT_EQ(stored<float>(ValueKind::Double, 0.1, 0, DType::Float32), 0.1F);
  EXPECT_EQ(stored<double>(ValueKind::Double, 0.1, 0, DType::Float64), 0.1);
  EXPECT_EQ(stored<double>(ValueKind::Int, 0, 3, DType::Float64), 3.0);
  EXPECT_FALSE(takes_scalar(DType::Int64, ValueKind::Double));
  Value value;
  value.kind = ValueKind::Int;
  value.integer = 300;
  uint8_t out = 0;
  const auto refused = store_scalar(value, &out, DType::UInt8);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "the number 300 does not fit uint8");
}

TEST(OpenvinoConvert, RoundsAScalarToTheNearestHalfTiesToEven) {
  const auto half = [](double value) {
    return stored<uint16_t>(ValueKind::Double, value, 0, DType::Float16);
  };
  // Every finite half is itself, and half way to the next goes to the even one.
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const auto value = [](uint32_t b) {
      return b >> 10 ? std::ldexp((b & 1023) + 1024, static_cast<int>(b >> 10) - 25)
                     : std::ldexp(b, -24);
    };
    ASSERT_EQ(half(value(bits)), bits);
    ASSERT_EQ(half(-value(bits)), bits | 0x8000);
    const double middle = (value(bits) + value(bits + 1)) / 2;
    ASSERT_EQ(half(middle), bits + (bits & 1)) << bits;
    ASSERT_EQ(half(std::nextafterf(static_cast<float>(middle), 0)), bits) << bits;
    ASSERT_EQ(half(std::nextafterf(static_cast<float>(middle), 1e9F)), bits + 1) << bits;
  }
  EXPECT_EQ(half(1e9), 0x7c00);
  EXPECT_EQ(half(-INFINITY), 0xfc00);
  EXPECT_EQ(half(NAN) & 0x7e00, 0x7e00);
  const auto bfloat = [](double value) {
    return stored<uint16_t>(ValueKind::Double, value, 0, DType::BFloat16);
  };
  EXPECT_EQ(bfloat(1.0), 0x3f80);
  EXPECT_EQ(bfloat(std::bit_cast<float>(0x3f808000u)), 0x3f80);  // A tie, to even.
  EXPECT_EQ(bfloat(std::bit_cast<float>(0x3f818000u)), 0x3f82);
  EXPECT_EQ(bfloat(std::bit_cast<float>(0x3f808001u)), 0x3f81);
  EXPECT_TRUE(std::isnan(std::bit_cast<float>(
      static_cast<uint32_t>(bfloat(std::bit_cast<float>(0x7f800001u))) << 16)));
}

}  // namespace
}  // namespace pteron
