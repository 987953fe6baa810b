// Means and squared deviations of runs of numbers.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/vector/functions.h"

namespace pteron {

struct Moments {
  double mean;
  double squares;  // The sum of the squared distances from the mean.
};

template <typename C>
Moments moments(const C* x, int64_t size) {
  const auto count = static_cast<double>(size);
  double sum = 0;
  double squares = 0;
  if constexpr (std::is_same_v<C, float>) {
    const VectorFunctions& vector = vector_functions();
    sum = static_cast<double>(vector.sum(x, size));
    // The mean as a float, and what that leaves out put right.
    const auto middle = static_cast<float>(sum / count);
    const double off = sum / count - static_cast<double>(middle);
    squares = static_cast<double>(vector.sum_of_squares(x, middle, size)) - count * off * off;
  } else {
    for (int64_t i = 0; i < size; ++i) sum += static_cast<double>(x[i]);
    const double mean = sum / count;
    for (int64_t i = 0; i < size; ++i)
      squares += (static_cast<double>(x[i]) - mean) * (static_cast<double>(x[i]) - mean);
  }
  return {sum / count, squares};
}

}  // namespace pteron
