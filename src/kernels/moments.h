// Means and squared deviations of runs of numbers.
#pragma once

#include <algorithm>
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
    // The mean as a float, and what that leaves out put right.
    const auto middle = static_cast<float>(static_cast<double>(vector.sum(x, size)) / count);
    squares = static_cast<double>(vector.sum_of_squares(x, middle, size));
    // The sum is rounded to a float too, which matters where the mean is far from 0.
    const double slip = static_cast<double>(middle) * 0x1p-22;
    if (slip * slip * count > squares * 1e-7) {
      const auto difference = static_cast<double>(vector.sum_of_differences(x, middle, size));
      squares -= difference * difference / count;
      return {static_cast<double>(middle) + difference / count, std::max(squares, 0.0)};
    }
    sum = static_cast<double>(middle) * count;
  } else {
    for (int64_t i = 0; i < size; ++i) sum += static_cast<double>(x[i]);
    const double mean = sum / count;
    for (int64_t i = 0; i < size; ++i)
      squares += (static_cast<double>(x[i]) - mean) * (static_cast<double>(x[i]) - mean);
  }
  return {sum / count, squares};
}

}  // namespace pteron
