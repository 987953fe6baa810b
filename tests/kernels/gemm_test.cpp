#include "kernels/gemm.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/thread_pool.h"

namespace pteron {
namespace {

class TestContext final : public KernelContext {
 public:
  explicit TestContext(int threads) : pool_(threads) {}
  void* scratch(size_t bytes) override {
    blocks_.push_back(std::make_unique<char[]>(bytes));
    return blocks_.back().get();
  }
  void parallel_for(size_t count, size_t grain, ParallelBody body, void* argument) override {
    pool_.run(count, grain, body, argument);
  }
  uint64_t random() override { return 0; }

 private:
  ThreadPool pool_;
  std::vector<std::unique_ptr<char[]>> blocks_;
};

template <typename T>
void compare(int threads, int64_t m, int64_t n, int64_t k, bool turned_a, bool turned_b, bool add) {
  SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k << ", turned " << turned_a << " "
                                  << turned_b << ", add " << add);
  std::mt19937 random(1);
  std::uniform_int_distribution<int> digit(-4, 4);
  const auto numbers = [&](int64_t count) {
    std::vector<T> values(static_cast<size_t>(count));
    for (T& value : values) value = static_cast<T>(digit(random));
    return values;
  };
  const std::vector<T> a = numbers(m * k);
  const std::vector<T> b = numbers(k * n);
  const std::vector<T> before = numbers(m * n);
  std::vector<T> c = before;
  const Matrix<T> left = turned_a ? Matrix<T>{a.data(), 1, m} : Matrix<T>{a.data(), k, 1};
  const Matrix<T> right = turned_b ? Matrix<T>{b.data(), 1, k} : Matrix<T>{b.data(), n, 1};
  TestContext context(threads);
  gemm<T>(context, m, n, k, left, right, c.data(), n, add);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      // Small integers: any order of additions gives the same.
      T want = add ? before[static_cast<size_t>(i * n + j)] : T(0);
      for (int64_t p = 0; p < k; ++p)
        want += left.data[i * left.row + p * left.column] *
                right.data[p * right.row + j * right.column];
      ASSERT_EQ(c[static_cast<size_t>(i * n + j)], want) << i << ", " << j;
    }
  }
}

TEST(Gemm, AgreesWithTheDefinitionForAnyShapeAndOrder) {
  for (const auto& [m, n, k] : std::vector<std::array<int64_t, 3>>{{1, 1, 1},
                                                                   {1, 5, 3},
                                                                   {3, 1, 300},
                                                                   {4, 33, 17},
                                                                   {9, 70, 257},
                                                                   {97, 31, 5},
                                                                   {13, 2100, 3},
                                                                   {2, 3, 0},
                                                                   {0, 3, 2}}) {
    for (const bool turned_a : {false, true}) {
      for (const bool turned_b : {false, true}) {
        for (const bool add : {false, true}) {
          compare<float>(1, m, n, k, turned_a, turned_b, add);
          compare<float>(3, m, n, k, turned_a, turned_b, add);
          compare<double>(1, m, n, k, turned_a, turned_b, add);
          compare<int64_t>(1, m, n, k, turned_a, turned_b, add);
        }
      }
    }
  }
}

}  // namespace
}  // namespace pteron
