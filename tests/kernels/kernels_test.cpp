// Operators that have no results of PyTorch's to hold against: numbers, random numbers,
// ExecuTorch's own; and what every operator makes of hostile arguments.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>
#include <regex>
#include <set>

#include "call.h"
#include "case_values.h"
#include "runtime/signature.h"

namespace pteron {
namespace {

struct Ran {
  std::unique_ptr<Call> call;
  std::string error;
  Code code = Code::Ok;
  size_t inputs = 0;

  const Value& output(size_t i = 0) const { return call->argument(inputs + i); }
  template <typename T>
  std::vector<T> values(size_t i = 0) const {
    const Tensor& t = *output(i).tensor;
    return {t.data<T>(), t.data<T>() + t.numel()};
  }
};

Ran run(const std::string& name, std::vector<CaseValue> arguments, std::vector<CaseValue> outputs,
        TestContext* context = nullptr) {
  static const auto kernels = kernels_by_name();
  TestContext own;
  Ran ran;
  ran.inputs = arguments.size();
  ran.call = std::make_unique<Call>(Case{name, std::move(arguments), std::move(outputs)});
  const Kernel& kernel = *kernels.at(name);
  const auto matched = match_signature(kernel, ran.call->arguments(), ran.call->values());
  if (!matched) {
    ran.error = matched.error().message;
    return ran;
  }
  const Result<void> result = call_kernel(kernel, context ? *context : own,
                                          Args(ran.call->arguments(), ran.call->values()));
  if (!result) {
    ran.error = result.error().message;
    ran.code = result.error().code;
  }
  return ran;
}

// As PyTorch's: padding may leave nothing of a transposed one, and must not of a plain one.
TEST(Convolution, LeavesNothingOnlyWhereItIsTransposed) {
  const auto convolve = [](bool transposed, int64_t padding) {
    return run("aten::convolution.out",
               {tensor<float>({1, 1, 2}, {1, 2}), tensor<float>({1, 1, 3}, {1, 1, 1}), none(),
                ints({1}), ints({padding}), ints({1}), boolean(transposed), ints({0}), integer(1)},
               {tensor<float>({1, 1, 0}, {})});
  };
  const Ran nothing = convolve(true, 2);
  EXPECT_EQ(nothing.error, "");
  EXPECT_EQ(nothing.output().tensor->numel(), 0);
  EXPECT_NE(convolve(true, 3).error, "");
  EXPECT_NE(convolve(false, 0).error, "");
}

TEST(Prim, ArithmeticFollowsPythonsSigns) {
  const auto two = [](const char* op, CaseValue a, CaseValue b, CaseValue out) {
    const Ran ran = run(std::string("executorch_prim::") + op, {a, b}, {out});
    EXPECT_EQ(ran.error, "") << op;
    return ran.output().kind == ValueKind::Double ? ran.output().real
           : ran.output().kind == ValueKind::Bool ? static_cast<double>(ran.output().boolean)
                                                  : static_cast<double>(ran.output().integer);
  };
  const CaseValue i = integer(0);
  EXPECT_EQ(two("add.Scalar", integer(7), integer(-2), i), 5);
  EXPECT_EQ(two("sub.Scalar", integer(7), integer(-2), i), 9);
  EXPECT_EQ(two("mul.Scalar", integer(7), real(0.5), real(0)), 3.5);
  EXPECT_EQ(two("floordiv.Scalar", integer(-7), integer(2), i), -4);
  EXPECT_EQ(two("floordiv.int", integer(7), integer(-2), i), -4);
  EXPECT_EQ(two("mod.Scalar", integer(-7), integer(2), i), 1);
  EXPECT_EQ(two("mod.int", integer(7), integer(-4), i), -1);
  EXPECT_EQ(two("truediv.Scalar", integer(7), integer(2), real(0)), 3.5);
  EXPECT_EQ(two("sym_max.Scalar", integer(7), integer(2), i), 7);
  EXPECT_EQ(two("sym_min.Scalar", integer(7), integer(2), i), 2);
  EXPECT_EQ(two("eq.Scalar", integer(2), real(2), boolean(false)), 1);
  EXPECT_EQ(two("ne.Scalar", integer(2), integer(2), boolean(true)), 0);
  EXPECT_EQ(two("gt.Scalar", integer(3), integer(2), boolean(false)), 1);
  EXPECT_EQ(two("ge.Scalar", integer(2), integer(2), boolean(false)), 1);
  EXPECT_EQ(two("lt.Scalar", integer(3), integer(2), boolean(true)), 0);
  EXPECT_EQ(two("le.Scalar", integer(2), real(1.5), boolean(true)), 0);
}

TEST(Prim, RoundsHalfToEvenAndConverts) {
  EXPECT_EQ(run("executorch_prim::round.Scalar", {real(2.5)}, {integer(0)}).output().integer, 2);
  EXPECT_EQ(run("executorch_prim::ceil.Scalar", {real(2.1)}, {integer(0)}).output().integer, 3);
  EXPECT_EQ(run("executorch_prim::trunc.Scalar", {real(-2.9)}, {integer(0)}).output().integer, -2);
  EXPECT_EQ(run("executorch_prim::neg.Scalar", {integer(4)}, {integer(0)}).output().integer, -4);
  EXPECT_EQ(run("executorch_prim::sym_int.Scalar", {real(4.7)}, {integer(0)}).output().integer, 4);
  EXPECT_EQ(run("executorch_prim::sym_float.Scalar", {integer(4)}, {real(0)}).output().real, 4.0);
  EXPECT_TRUE(run("executorch_prim::sym_not.Scalar", {integer(0)}, {boolean(0)}).output().boolean);
  EXPECT_EQ(
      run("executorch_prim::sym_ite.Scalar", {boolean(false), integer(1), integer(2)}, {integer(0)})
          .output()
          .integer,
      2);
}

TEST(Prim, DivisionByZeroIsAnError) {
  for (const char* op : {"floordiv.Scalar", "floordiv.int", "mod.Scalar", "mod.int"}) {
    const std::string name = std::string("executorch_prim::") + op;
    EXPECT_EQ(run(name, {integer(1), integer(0)}, {integer(0)}).error,
              "division of argument 0 (1) by argument 1 (0)")
        << op;
  }
  EXPECT_EQ(run("executorch_prim::truediv.Scalar", {real(1), real(0)}, {real(0)}).error,
            "division of argument 0 (1.000000) by argument 1 (0.000000)");
}

TEST(Prim, TellsSizesAndElements) {
  const CaseValue t = tensor<int64_t>({1}, {41});
  EXPECT_EQ(run("aten::sym_size.int", {t, integer(-1)}, {integer(0)}).output().integer, 1);
  EXPECT_NE(run("aten::sym_size.int", {t, integer(1)}, {integer(0)}).error, "");
  EXPECT_EQ(run("aten::sym_numel", {t}, {integer(0)}).output().integer, 1);
  EXPECT_EQ(run("aten::_local_scalar_dense", {t}, {integer(0)}).output().integer, 41);
}

TEST(Prim, AViewSharesItsMemoryAndACopiedSliceGrowsItsTarget) {
  const Ran view =
      run("executorch_prim::et_view.default", {tensor<float>({2, 2}, {1, 2, 3, 4}), ints({4, -1})},
          {tensor<float>({4, 1}, {0, 0, 0, 0})});
  EXPECT_EQ(view.error, "");
  EXPECT_EQ(view.output().tensor->raw(), view.call->argument(0).tensor->raw());
  CaseValue to = tensor<float>({3, 2}, {0, 0, 0, 0, 0, 0});
  const Ran copied = run("executorch_prim::et_copy_index.tensor",
                         {to, tensor<float>({2}, {5, 6}), integer(1)}, {});
  EXPECT_EQ(copied.error, "");
  EXPECT_EQ(copied.call->argument(0).tensor->data<float>()[3], 6.0f);
  EXPECT_NE(
      run("executorch_prim::et_copy_index.tensor", {to, tensor<float>({2}, {5, 6}), integer(3)}, {})
          .error,
      "");
}

TEST(Random, NumbersAreInTheirRangeAndFollowTheContextsSequence) {
  const CaseValue out = tensor<float>({1000}, std::vector<float>(1000));
  const std::vector<float> uniform = run("aten::rand.out", {ints({1000})}, {out}).values<float>();
  double sum = 0;
  for (const float x : uniform) {
    EXPECT_GE(x, 0.0f);
    EXPECT_LT(x, 1.0f);
    sum += static_cast<double>(x);
  }
  EXPECT_NEAR(sum / 1000, 0.5, 0.05);
  EXPECT_EQ(uniform, run("aten::rand.out", {ints({1000})}, {out}).values<float>());
  TestContext context;
  const auto first = run("aten::rand.out", {ints({1000})}, {out}, &context).values<float>();
  EXPECT_NE(first, run("aten::rand.out", {ints({1000})}, {out}, &context).values<float>());
  double squares = 0;
  for (const float x : run("aten::randn.out", {ints({1000})}, {out}).values<float>())
    squares += static_cast<double>(x) * static_cast<double>(x);
  EXPECT_NEAR(squares / 1000, 1, 0.15);
}

TEST(Random, DropoutDropsAndScalesInTrainingOnly) {
  const CaseValue in = tensor<float>({400}, std::vector<float>(400, 1.0f));
  const CaseValue mask = tensor<char>({400}, std::vector<char>(400), DType::Bool);
  const Ran trains = run("aten::native_dropout.out", {in, real(0.25), boolean(true)}, {in, mask});
  EXPECT_EQ(trains.error, "");
  int64_t kept = 0;
  for (size_t i = 0; i < 400; ++i) {
    const bool is_kept = trains.values<char>(1)[i] != 0;
    kept += is_kept;
    EXPECT_FLOAT_EQ(trains.values<float>()[i], is_kept ? 4.0f / 3 : 0.0f);
  }
  EXPECT_NEAR(static_cast<double>(kept), 300, 40);
  const Ran infers = run("aten::native_dropout.out", {in, real(0.25), boolean(false)}, {in, mask});
  EXPECT_EQ(infers.values<float>(), std::vector<float>(400, 1.0f));
}

TEST(Create, EmptyTensorsHoldNothingOfWhatWasThere) {
  const CaseValue out = tensor<float>({2}, {7, 7});
  EXPECT_EQ(run("aten::empty.out", {ints({2}), none()}, {out}).values<float>(),
            (std::vector<float>{0, 0}));
  EXPECT_EQ(run("dim_order_ops::_empty_dim_order.out", {ints({2}), none()}, {out}).values<float>(),
            (std::vector<float>{0, 0}));
}

TEST(Copy, InPlaceConvertsAndBroadcasts) {
  const Ran ran =
      run("aten::copy_",
          {tensor<float>({2, 2}, {0, 0, 0, 0}), tensor<int64_t>({2}, {3, -4}), boolean(false)}, {});
  EXPECT_EQ(ran.error, "");
  const float* data = ran.call->argument(0).tensor->data<float>();
  EXPECT_EQ(std::vector<float>(data, data + 4), (std::vector<float>{3, -4, 3, -4}));
}

TEST(Reduce, AllcloseIsRelativeToTheSecond) {
  const auto close = [](std::vector<float> a, std::vector<float> b, bool nan) {
    const CaseValue out = tensor<char>({}, {2}, DType::Bool);
    const Ran ran = run("aten::allclose.out",
                        {tensor<float>({2}, a), tensor<float>({2}, b), real(0.1), real(0.01),
                         boolean(nan), boolean(false)},
                        {out});
    EXPECT_EQ(ran.error, "");
    EXPECT_EQ(run("aten::allclose.Tensor",
                  {tensor<float>({2}, a), tensor<float>({2}, b), real(0.1), real(0.01),
                   boolean(nan), boolean(false)},
                  {out})
                  .values<char>(),
              ran.values<char>());
    return ran.values<char>()[0] == 1;
  };
  EXPECT_TRUE(close({1.1f, 2}, {1, 2}, false));
  EXPECT_FALSE(close({1.2f, 2}, {1, 2}, false));
  EXPECT_FALSE(close({NAN, 2}, {NAN, 2}, false));
  EXPECT_TRUE(close({NAN, 2}, {NAN, 2}, true));
  EXPECT_TRUE(close({INFINITY, 2}, {INFINITY, 2}, false));
  EXPECT_FALSE(close({INFINITY, 2}, {-INFINITY, 2}, false));
}

TEST(Quantized, SumsAreQuantizedAnew) {
  const auto q = [](double scale, int64_t zero) {
    return std::vector<CaseValue>{real(scale), integer(zero), integer(-128), integer(127)};
  };
  std::vector<CaseValue> arguments{tensor<int8_t>({3}, {10, -20, 127})};
  for (const CaseValue& value : q(0.5, 2)) arguments.push_back(value);
  arguments.push_back(tensor<int8_t>({3}, {4, 4, 127}));
  for (const CaseValue& value : q(0.25, 0)) arguments.push_back(value);
  for (const CaseValue& value : q(0.5, -3)) arguments.push_back(value);
  // (8 * .5 + 1) / .5 - 3, (-22 * .5 + 1) / .5 - 3, and past the end.
  EXPECT_EQ(run("quantized_decomposed::add.out", arguments, {tensor<int8_t>({3}, {0, 0, 0})})
                .values<int8_t>(),
            (std::vector<int8_t>{7, -23, 127}));
}

TEST(Quantized, MixedProductsScaleTheirWeights) {
  const CaseValue x = tensor<float>({1, 2}, {1, 2});
  const CaseValue w = tensor<int8_t>({2, 2}, {1, 2, 3, 4});
  const CaseValue s = tensor<float>({2}, {10, 0.5f});
  const CaseValue out = tensor<float>({1, 2}, {0, 0});
  EXPECT_EQ(run("quantized_decomposed::mixed_mm.out", {x, w, s, none()}, {out}).values<float>(),
            (std::vector<float>{1 * 10 + 2 * 1.5f, 1 * 20 + 2 * 2}));
  EXPECT_EQ(run("quantized_decomposed::mixed_linear.out", {x, w, s, none(), none()}, {out})
                .values<float>(),
            (std::vector<float>{(1 + 2 * 2) * 10, (3 + 2 * 4) * 0.5f}));
}

// Number k of the transform of a line: see its definition.
std::complex<double> transformed(const std::vector<std::complex<float>>& in, size_t at, size_t step,
                                 size_t size, size_t k, double sign) {
  std::complex<double> sum = 0;
  for (size_t i = 0; i < size; ++i) {
    const double angle =
        sign * 6.283185307179586 * static_cast<double>(i * k % size) / static_cast<double>(size);
    sum += std::complex<double>(in[at + i * step]) * std::polar(1.0, angle);
  }
  return sum;
}

// Of every kind of length, of one line and of more than are transformed at a time, along the last
// dimension and another one.
TEST(Fourier, TransformsAgreeWithTheDefinition) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (const int32_t size : {1, 2, 3, 4, 5, 6, 7, 8, 30, 64, 90, 97, 125, 200, 256}) {
    for (const auto& [outer, inner] : {std::pair(1, 1), {3, 1}, {37, 1}, {1, 7}, {2, 19}}) {
      const std::vector<int32_t> sizes{outer, size, inner};
      const auto half = static_cast<size_t>(size / 2 + 1);
      const std::vector<int32_t> half_sizes{outer, size / 2 + 1, inner};
      const auto n = static_cast<size_t>(size);
      const auto step = static_cast<size_t>(inner);
      const auto lines = static_cast<size_t>(outer * inner);
      std::vector<std::complex<float>> in(n * lines);
      std::vector<float> parts;
      for (auto& number : in) parts.push_back((number = {normal(random), normal(random)}).real());
      std::vector<std::complex<float>> reals(parts.begin(), parts.end());
      const double most = 1e-6 * static_cast<double>(size) + 1e-6;
      const auto run_of = [&](const char* name, const CaseValue& a, CaseValue last, CaseValue out) {
        Ran ran = run(name, {a, ints({1}), integer(0), std::move(last)}, {std::move(out)});
        EXPECT_EQ(ran.error, "");
        return ran;
      };
      const Ran whole =
          run_of("aten::_fft_c2c.out", tensor(sizes, in), boolean(true), tensor(sizes, in));
      const Ran back =
          run_of("aten::_fft_c2c.out", tensor(sizes, in), boolean(false), tensor(sizes, in));
      const Ran both =
          run_of("aten::_fft_r2c.out", tensor(sizes, parts), boolean(false), tensor(sizes, in));
      const Ran first = run_of("aten::_fft_r2c.out", tensor(sizes, parts), boolean(true),
                               tensor(half_sizes, std::vector<std::complex<float>>(half * lines)));
      const auto firsts = first.values<std::complex<float>>();
      const Ran signal = run_of("aten::_fft_c2r.out", tensor(half_sizes, firsts), integer(size),
                                tensor(sizes, parts));
      const auto wholes = whole.values<std::complex<float>>();
      const auto backs = back.values<std::complex<float>>();
      const auto boths = both.values<std::complex<float>>();
      const auto signals = signal.values<float>();
      for (size_t line = 0; line < lines; ++line) {
        const size_t at = line / step * n * step + line % step;
        for (size_t k = 0; k < n; ++k) {
          const size_t to = at + k * step;
          const auto distance = [&](const auto& got, const auto& from, double sign) {
            return std::abs(std::complex<double>(got[to]) -
                            transformed(from, at, step, n, k, sign));
          };
          ASSERT_LE(distance(wholes, in, -1), most) << size << " at " << line << ", " << k;
          ASSERT_LE(distance(backs, in, 1), most) << size << " at " << line << ", " << k;
          ASSERT_LE(distance(boths, reals, -1), most) << size << " at " << line << ", " << k;
          if (k < half) {
            ASSERT_EQ(firsts[line / step * half * step + line % step + k * step], boths[to]);
          }
          ASSERT_NEAR(signals[to] / static_cast<float>(size), parts[to], most);
        }
      }
    }
  }
}

TEST(Fourier, LongLinesAreTransformedAlone) {
  for (const int32_t size : {32768, 20011}) {
    const auto n = static_cast<size_t>(size);
    std::vector<float> pulse(2 * n);
    pulse[1] = 1;
    pulse[n + 2] = 1;
    const Ran ran =
        run("aten::_fft_r2c.out", {tensor({2, size}, pulse), ints({1}), integer(0), boolean(false)},
            {tensor({2, size}, std::vector<std::complex<float>>(2 * n))});
    EXPECT_EQ(ran.error, "");
    const auto got = ran.values<std::complex<float>>();
    for (size_t k = 0; k < n; ++k) {
      const double angle = -6.283185307179586 * static_cast<double>(k) / static_cast<double>(n);
      ASSERT_LE(std::abs(std::complex<double>(got[k]) - std::polar(1.0, angle)), 1e-6) << k;
      ASSERT_LE(std::abs(std::complex<double>(got[n + k]) - std::polar(1.0, 2 * angle)), 1e-6) << k;
    }
  }
}

TEST(Attention, QuantizedAgreesWithItsDequantizedInputs) {
  const std::vector<int32_t> shape{1, 2, 1, 2};
  const std::vector<int8_t> q{1, 2, 3, -4};
  const CaseValue scales = tensor<float>({1, 2, 1, 1}, {0.5f, 0.25f});
  const CaseValue zeros = tensor<int8_t>({1, 2, 1, 1}, {1, -1});
  const CaseValue out = tensor<float>(shape, {0, 0, 0, 0});
  const CaseValue quantized = tensor<int8_t>(shape, q);
  const CaseValue dequantized = tensor<float>(shape, {0, 0.5f, 1, -0.75f});
  const Ran expected = run(
      "llama::custom_sdpa.out",
      {dequantized, dequantized, dequantized, integer(0), none(), real(0), boolean(true), none()},
      {out});
  EXPECT_EQ(expected.error, "");
  const Ran got = run("llama::custom_quantized_sdpa.out",
                      {quantized, quantized, quantized, integer(0), none(), real(0), boolean(true),
                       none(), zeros, scales, zeros, scales, zeros, scales, boolean(false)},
                      {out});
  EXPECT_EQ(got.error, "");
  EXPECT_EQ(got.values<float>(), expected.values<float>());
}

// Every operator with arguments that fit its signature and nothing else: each must give an answer
// or an error, and touch no memory but its own (a sanitizer sees to that).
CaseValue hostile(char letter, uint64_t seed) {
  const auto pick = [&](auto... choices) {
    const std::vector<std::common_type_t<decltype(choices)...>> all{choices...};
    return all[(seed >> 8) % all.size()];
  };
  switch (letter) {
    case 'T':
    case 'M':
    case 'A':
    case 't': {
      if (letter == 't' && seed % 3 == 0) return none();
      const DType dtypes[] = {DType::Float32, DType::Int64,   DType::Bool,      DType::Float16,
                              DType::UInt8,   DType::Float64, DType::Complex64, DType::QInt8};
      const std::vector<int32_t> shapes[] = {{},     {0},    {1},          {3},
                                             {2, 3}, {0, 2}, {1, 2, 3, 2}, {2, 2, 2, 2, 2}};
      CaseValue value;
      value.kind = 'T';
      value.tensor.dtype = dtypes[(seed >> 16) % std::size(dtypes)];
      value.tensor.sizes = shapes[(seed >> 24) % std::size(shapes)];
      size_t bytes = dtype_size(value.tensor.dtype);
      for (size_t d = 0; d < value.tensor.sizes.size(); ++d) {
        value.tensor.order.push_back(static_cast<uint8_t>(d));
        bytes *= static_cast<size_t>(value.tensor.sizes[d]);
      }
      for (size_t i = 0; i < bytes; ++i)
        value.tensor.data.push_back(static_cast<char>((seed >> (i % 8 * 8)) * (i + 1)));
      return value;
    }
    case 'V':
    case 'v': {
      CaseValue value;
      value.kind = letter;
      for (uint64_t i = 0; i < seed % 4; ++i)
        value.items.push_back(hostile(letter == 'V' ? 'T' : 't', seed * (2 * i + 3)));
      return value;
    }
    case 'I':
    case 'i':
      if (letter == 'i' && seed % 2 == 0) return none();
      return integer(pick(int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{2}, INT64_MAX, INT64_MIN,
                          int64_t{3}, int64_t{1} << 40));
    case 'S':
    case 's':
    case 'X':
    case 'D':
    case 'd':
      if ((letter == 's' || letter == 'd') && seed % 3 == 0) return none();
      if (seed % 2 == 0 && letter != 'D' && letter != 'd') return hostile('I', seed);
      return real(pick(0.0, -1.0, 0.5, 1e300, static_cast<double>(NAN), HUGE_VAL, -1e-300));
    case 'B':
    case 'b':
      return boolean(seed % 2 == 0);
    case 'L':
    case 'l': {
      if (letter == 'l' && seed % 4 == 0) return none();
      CaseValue value;
      value.kind = 'L';
      for (uint64_t i = 0; i < seed % 5; ++i)
        value.ints.push_back(hostile('I', seed * (2 * i + 5)).integer);
      return value;
    }
    case 'F':
    case 'f': {
      if (letter == 'f' && seed % 4 == 0) return none();
      CaseValue value;
      value.kind = 'F';
      for (uint64_t i = 0; i < seed % 4; ++i)
        value.reals.push_back(hostile('D', (seed * (2 * i + 5)) | 1).real);
      return value;
    }
    case 'Q': {
      CaseValue value;
      value.kind = 'Q';
      for (uint64_t i = 0; i < seed % 5; ++i) value.ints.push_back((seed >> i) & 1);
      return value;
    }
    default: {
      if (letter == 'g' && seed % 3 == 0) return none();
      CaseValue value;
      value.kind = 'g';
      value.text = seed % 2 ? "floor" : "";
      return value;
    }
  }
}

// Sizes that a small file can state. Each of these took endless time or memory, or wrote past an
// end.
class HostileSizes : public testing::Test {
 protected:
  // Runs with 1 MB of scratch memory; "no memory" where that is not enough.
  static std::string outcome(const std::string& name, std::vector<CaseValue> arguments,
                             std::vector<CaseValue> outputs) {
    TestContext context(1 << 20);
    try {
      return run(name, std::move(arguments), std::move(outputs), &context).error;
    } catch (const std::bad_alloc&) {
      return "no memory";
    }
  }
  static constexpr int32_t kBig = 1 << 30;
};

TEST_F(HostileSizes, CountsThatAddUpToNothingAreRefused) {
  const std::vector<int64_t> counts(16, int64_t{1} << 40);
  EXPECT_NE(outcome("aten::repeat_interleave.Tensor_out", {tensor<int64_t>({16}, counts), none()},
                    {tensor<int64_t>({0}, {})}),
            "");
}

TEST_F(HostileSizes, IntegersWrapInPooling) {
  constexpr int64_t kLeast = INT64_MIN;
  const Ran ran = run("aten::avg_pool2d.out",
                      {tensor<int64_t>({1, 1, 2}, {kLeast, kLeast}), ints({1, 1}), ints({1, 1}),
                       ints({0, 0}), boolean(false), boolean(true), integer(-1)},
                      {tensor<int64_t>({1, 1, 2}, {0, 0})});
  EXPECT_EQ(ran.error, "");
  EXPECT_EQ(ran.values<int64_t>(), (std::vector<int64_t>{kLeast, kLeast}));
  const Ran sum = run("aten::avg_pool2d.out",
                      {tensor<int64_t>({1, 1, 2}, {kLeast, kLeast}), ints({1, 2}), ints({1, 1}),
                       ints({0, 0}), boolean(false), boolean(true), none()},
                      {tensor<int64_t>({1, 1, 1}, {0})});
  EXPECT_EQ(sum.values<int64_t>(), std::vector<int64_t>{0});
}

TEST_F(HostileSizes, EmptyTensorsTakeNeitherTimeNorMemory) {
  EXPECT_EQ(outcome("aten::_fft_c2r.out",
                    {tensor<std::complex<float>>({0, kBig}, {}), ints({1}), integer(0),
                     integer(2147483646)},
                    {tensor<float>({0, 2147483646}, {})}),
            "");
  const CaseValue channels = tensor<float>({4096}, std::vector<float>(4096, 1));
  const CaseValue nothing = tensor<float>({kBig, 4096, 0}, {});
  EXPECT_EQ(outcome("aten::_native_batch_norm_legit_no_training.out",
                    {nothing, none(), none(), channels, channels, real(0.1), real(1e-5)},
                    {nothing, tensor<float>({0}, {}), tensor<float>({0}, {})}),
            "");
  const CaseValue planes = tensor<float>({kBig, kBig / 8, 0, 0}, {});
  EXPECT_EQ(outcome("aten::max_pool2d_with_indices_backward.grad_input",
                    {planes, planes, ints({1, 1}), ints({1, 1}), ints({0, 0}), ints({1, 1}),
                     boolean(false), tensor<int64_t>({kBig, kBig / 8, 0, 0}, {})},
                    {planes}),
            "");
}

TEST_F(HostileSizes, MemoryThatGrowsWithTheArgumentsIsBounded) {
  const std::vector<float> signal(99991, 1);  // A prime: the longest way.
  EXPECT_EQ(
      outcome("aten::_fft_r2c.out",
              {tensor<float>({99991}, signal), ints({0}), integer(0), boolean(true)},
              {tensor<std::complex<float>>({49996}, std::vector<std::complex<float>>(49996))}),
      "no memory");
  constexpr int32_t kRows = 1 << 14;
  const CaseValue column = tensor<uint8_t>({kRows, 1}, std::vector<uint8_t>(kRows, 1));
  const CaseValue row = tensor<uint8_t>({1, kRows}, std::vector<uint8_t>(kRows, 1));
  EXPECT_EQ(outcome("aten::masked_select.out", {column, row}, {tensor<uint8_t>({0}, {})}),
            "no memory");
  const CaseValue down = tensor<int64_t>({kRows, 1}, std::vector<int64_t>(kRows, 0));
  const CaseValue across = tensor<int64_t>({1, kRows}, std::vector<int64_t>(kRows, 0));
  EXPECT_EQ(
      outcome("aten::index.Tensor_out", {tensor<uint8_t>({1, 1}, {1}), list({down, across}, true)},
              {tensor<uint8_t>({0}, {})}),
      "no memory");
}

TEST_F(HostileSizes, WindowsThatBeginFarOutsideAreEnteredAtOnce) {
  constexpr int32_t kRows = 4096;
  const std::vector<float> values(kRows, 2);
  const Ran ran = run("aten::max_pool2d_with_indices.out",
                      {tensor<float>({kRows, 1, 1}, values), ints({2147483646, 1}), ints({2, 1}),
                       ints({kBig - 1, 0}), ints({1, 1}), boolean(false)},
                      {tensor<float>({kRows, 1, 1}, values),
                       tensor<int64_t>({kRows, 1, 1}, std::vector<int64_t>(kRows))});
  EXPECT_EQ(ran.error, "");
  EXPECT_EQ(ran.values<float>(), values);
}

TEST(Hostile, AnyArgumentsGiveAnAnswerOrAnErrorThatNamesAnArgument) {
  TestContext random;
  const std::regex argument("argument [0-9]+");
  std::set<std::string> refusing;
  size_t answers = 0;
  size_t errors = 0;
  for (const auto& [name, kernel] : kernels_by_name()) {
    for (int round = 0; round < 300; ++round) {
      std::vector<CaseValue> arguments;
      std::vector<CaseValue> outputs;
      auto* list = &arguments;
      for (const char letter : kernel->signature) {
        if (letter == '>')
          list = &outputs;
        else
          list->push_back(hostile(letter, (random.random() * 0xbf58476d1ce4e5b9u) >> 3));
      }
      SCOPED_TRACE(name);
      const Ran ran = run(name, arguments, outputs);
      ran.error.empty() ? ++answers : ++errors;
      if (ran.error.empty() || ran.code == Code::Malformed) continue;
      EXPECT_TRUE(ran.code == Code::InvalidArgument || ran.code == Code::ResourceLimit)
          << ran.error;
      EXPECT_TRUE(std::regex_search(ran.error, argument)) << ran.error;
      refusing.insert(name);
    }
  }
  EXPECT_GT(answers, 1000u);
  EXPECT_GT(errors, 1000u);
  // What takes anything: a tensor's number of elements, and operators on numbers.
  for (const auto& [name, kernel] : kernels_by_name()) {
    if (name.find("executorch_prim::") == 0 || name == "aten::sym_numel") continue;
    EXPECT_TRUE(refusing.count(name)) << name << " refuses nothing";
  }
}

}  // namespace
}  // namespace pteron
