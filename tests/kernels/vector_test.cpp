#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/vector/functions.h"

namespace pteron {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Arrays of exactly their size, so that a sanitizer sees what reads past the end.
template <typename T>
std::unique_ptr<T[]> exact(const std::vector<T>& values) {
  auto array = std::make_unique<T[]>(values.size());
  std::copy(values.begin(), values.end(), array.get());
  return array;
}

std::vector<float> random_floats(size_t n, float spread, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, spread);
  std::vector<float> values(n);
  for (float& value : values) value = normal(random);
  return values;
}

class Vector : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    functions_ = vector_functions(GetParam());
    if (functions_ == nullptr) GTEST_SKIP() << "this CPU does not run " << GetParam();
  }
  const VectorFunctions& functions() const { return *functions_; }

 private:
  const VectorFunctions* functions_ = nullptr;
};

struct RowCase {
  RowFunction function;
  const char* name;
  double (*want)(double);
};
const RowCase kRows[] = {
    {RowFunction::Exp, "exp", [](double x) { return std::exp(x); }},
    {RowFunction::Expm1, "expm1", [](double x) { return std::expm1(x); }},
    {RowFunction::Log, "log", [](double x) { return std::log(x); }},
    {RowFunction::Log1p, "log1p", [](double x) { return std::log1p(x); }},
    {RowFunction::Sigmoid, "sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
    {RowFunction::Tanh, "tanh", [](double x) { return std::tanh(x); }},
    {RowFunction::Erf, "erf", [](double x) { return std::erf(x); }},
    {RowFunction::Gelu, "gelu",
     [](double x) { return x == -INFINITY ? NAN : 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }},
    {RowFunction::GeluTanh, "gelu_tanh",
     [](double x) {
       return x == -INFINITY ? NAN
                             : 0.5 * x *
                                   (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) *
                                                  (x + 0.044715 * x * x * x)));
     }},
    {RowFunction::Silu, "silu",
     [](double x) { return x == -INFINITY ? NAN : x / (1 + std::exp(-x)); }},
};

TEST_P(Vector, FunctionsAgreeWithTheStandardLibraryAtAnyLength) {
  std::vector<float> all = {0.0f,  -0.0f, 1.0f,   -1.0f,  kInf,    -kInf, kNan,   0.5f,  -0.5f,
                            20.0f, 88.0f, -88.0f, 100.0f, -100.0f, 1e-6f, -1e-6f, 1e-30f};
  const std::vector<float> random = random_floats(200, 4, 1);
  all.insert(all.end(), random.begin(), random.end());
  for (const RowCase& row : kRows) {
    for (const size_t n : {size_t{1}, size_t{3}, size_t{15}, size_t{16}, size_t{33}, all.size()}) {
      const auto in = exact(std::vector<float>(all.begin(), all.begin() + static_cast<long>(n)));
      const auto out = std::make_unique<float[]>(n);
      functions().run(row.function, in.get(), out.get(), static_cast<int64_t>(n));
      for (size_t i = 0; i < n; ++i) {
        const auto want = static_cast<float>(row.want(static_cast<double>(in[i])));
        if (std::isnan(want)) {
          EXPECT_TRUE(std::isnan(out[i])) << row.name << "(" << in[i] << ") is " << out[i];
        } else if (std::isinf(want)) {
          EXPECT_EQ(out[i], want) << row.name << "(" << in[i] << ")";
        } else {
          EXPECT_NEAR(out[i], want, 2e-6f * std::max(1.0f, std::fabs(want)))
              << row.name << "(" << in[i] << ")";
        }
      }
    }
  }
}

TEST_P(Vector, TilesAgreeWithTheDefinition) {
  const GemmTile<float>& tile = functions().tile_f32;
  for (const int64_t k : {1, 7, 64}) {
    const auto size = [](int64_t n) { return static_cast<size_t>(n); };
    const auto a = exact(random_floats(size(k * tile.rows), 1, 2));
    const auto b = exact(random_floats(size(k * tile.columns), 1, 3));
    for (const int64_t rows : {int64_t{1}, tile.rows - 1, tile.rows}) {
      for (const int64_t columns : {int64_t{1}, tile.columns - 1, tile.columns}) {
        for (const bool add : {false, true}) {
          const int64_t stride = columns + 3;
          // The last row ends with its last column.
          const size_t count = size((rows - 1) * stride + columns);
          const std::vector<float> before = random_floats(count, 1, 4);
          const auto c = exact(before);
          tile.run(k, a.get(), b.get(), tile.columns, c.get(), stride, rows, columns, add);
          for (size_t at = 0; at < count; ++at) {
            const auto i = static_cast<int64_t>(at) / stride;
            const auto j = static_cast<int64_t>(at) % stride;
            double want = static_cast<double>(before[at]);
            if (j < columns) {
              if (!add) want = 0;
              for (int64_t p = 0; p < k; ++p)
                want += static_cast<double>(a[size(p * tile.rows + i)]) *
                        static_cast<double>(b[size(p * tile.columns + j)]);
            }
            ASSERT_NEAR(c[at], want, 1e-4) << i << ", " << j << " of " << rows << " x " << columns;
          }
        }
      }
    }
  }
}

TEST_P(Vector, InnerProductsAgreeWithTheDefinition) {
  for (const int64_t k : {1, 15, 16, 31, 32, 33, 100}) {
    for (int64_t rows = 1; rows <= kDotRows; ++rows) {
      const auto a = exact(random_floats(static_cast<size_t>(k * rows), 1, 5));
      const auto b = exact(random_floats(static_cast<size_t>(k), 1, 6));
      const auto out = std::make_unique<float[]>(static_cast<size_t>(2 * rows - 1));
      functions().tile_f32.dot(k, a.get(), k, rows, b.get(), out.get(), 2);
      for (int64_t i = 0; i < rows; ++i) {
        double want = 0;
        for (int64_t p = 0; p < k; ++p)
          want += static_cast<double>(a[static_cast<size_t>(i * k + p)]) *
                  static_cast<double>(b[static_cast<size_t>(p)]);
        EXPECT_NEAR(out[static_cast<size_t>(2 * i)], want, 1e-4) << k << " by " << rows;
      }
    }
  }
}

TEST_P(Vector, SumsMaximaAndTapsAgreeWithTheDefinition) {
  for (const size_t n : {1, 3, 16, 17, 64, 129, 5000, 9001}) {
    const auto count = static_cast<int64_t>(n);
    const auto in = exact(random_floats(n, 1, 7));
    double sum = 0;
    double squares = 0;
    double exps = 0;
    float most = in[0];
    for (size_t i = 0; i < n; ++i) {
      const auto x = static_cast<double>(in[i]);
      sum += x;
      squares += (x - 0.25) * (x - 0.25);
      exps += std::exp(x - 1.5);
      most = std::max(most, in[i]);
    }
    EXPECT_NEAR(functions().sum(in.get(), count), sum, 1e-5 * static_cast<double>(n) + 1e-6);
    EXPECT_NEAR(functions().sum_of_squares(in.get(), 0.25f, count), squares, 1e-6 * squares + 1e-6);
    EXPECT_EQ(functions().maximum(in.get(), count), most);
    const auto out = std::make_unique<float[]>(n);
    EXPECT_NEAR(functions().exp_sum(in.get(), 1.5f, out.get(), count), exps, 1e-5 * exps);
    EXPECT_NEAR(out[n - 1], std::exp(in[n - 1] - 1.5f), 1e-5);
    const auto more = exact(random_floats(n, 1, 8));
    const float* taps[] = {in.get(), more.get()};
    const float weights[] = {2.0f, -0.5f};
    functions().taps(taps, weights, 2, 3.0f, out.get(), count);
    for (size_t i = 0; i < n; ++i)
      ASSERT_NEAR(out[i], 3.0f + 2.0f * in[i] - 0.5f * more[i], 1e-5) << i << " of " << n;
    functions().scale(in.get(), 3.0f, -1.0f, out.get(), count);
    for (size_t i = 0; i < n; ++i) ASSERT_NEAR(out[i], 3.0f * in[i] - 1.0f, 1e-5);
  }
}

TEST_P(Vector, AMaximumIsNanWhereverOneIs) {
  for (const size_t n : {1, 16, 17, 40}) {
    for (size_t at = 0; at < n; ++at) {
      std::vector<float> values = random_floats(n, 1, 9);
      values[at] = kNan;
      EXPECT_TRUE(std::isnan(functions().maximum(exact(values).get(), static_cast<int64_t>(n))))
          << at << " of " << n;
    }
  }
}

TEST_P(Vector, BytesBecomeTheSameFloats) {
  std::vector<uint8_t> bytes(256);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i);
  for (const size_t n : {1, 17, 256}) {
    const auto in = exact(std::vector<uint8_t>(bytes.end() - static_cast<long>(n), bytes.end()));
    const auto out = std::make_unique<float[]>(n);
    functions().from_uint8(in.get(), out.get(), static_cast<int64_t>(n));
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(out[i], static_cast<float>(in[i]));
    const auto* as_signed = reinterpret_cast<const int8_t*>(in.get());
    functions().from_int8(as_signed, out.get(), static_cast<int64_t>(n));
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(out[i], static_cast<float>(as_signed[i]));
  }
}

// Whatever compiler built this: one whose library knows no CPU cost a factor of four.
TEST(ChooseVectors, TakesWhatTheSystemSaysTheCpuHas) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line) && line.rfind("flags", 0) != 0) {
  }
  if (line.rfind("flags", 0) != 0) GTEST_SKIP() << "no flags in /proc/cpuinfo";
  std::istringstream words(line);
  const std::set<std::string> flags(std::istream_iterator<std::string>(words), {});
  const bool avx2 = flags.count("avx2") && flags.count("fma") && flags.count("f16c");
  const bool avx512 = avx2 && flags.count("avx512f") && flags.count("avx512bw") &&
                      flags.count("avx512cd") && flags.count("avx512dq");
  EXPECT_EQ(vector_functions("avx2") != nullptr, avx2);
  EXPECT_EQ(vector_functions("avx512") != nullptr, avx512);
}

INSTANTIATE_TEST_SUITE_P(Sets, Vector, testing::Values("sse2", "avx2", "avx512"),
                         [](const auto& set) { return std::string(set.param); });

}  // namespace
}  // namespace pteron
