// The matrix product that others are built on.
#pragma once

#include <cstdint>

#include "runtime/kernel.h"

namespace pteron {

// c[m, n] += a[m, k] * b[k, n], all dense row-major. Blocked so that a panel of b stays in cache.
template <typename C>
void gemm(KernelContext& context, int64_t m, int64_t n, int64_t k, const C* a, const C* b, C* c) {
  constexpr int64_t kDepth = 256;
  constexpr int64_t kWidth = 512;
  context.parallel(static_cast<size_t>(m), 8, [=](size_t begin, size_t end) {
    for (int64_t k0 = 0; k0 < k; k0 += kDepth) {
      const int64_t k1 = k0 + kDepth < k ? k0 + kDepth : k;
      for (int64_t n0 = 0; n0 < n; n0 += kWidth) {
        const int64_t n1 = n0 + kWidth < n ? n0 + kWidth : n;
        for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
          C* row = c + i * n;
          int64_t p = k0;
          for (; p + 3 < k1; p += 4) {
            const C a0 = a[i * k + p];
            const C a1 = a[i * k + p + 1];
            const C a2 = a[i * k + p + 2];
            const C a3 = a[i * k + p + 3];
            const C* b0 = b + p * n;
            const C* b1 = b0 + n;
            const C* b2 = b1 + n;
            const C* b3 = b2 + n;
            for (int64_t j = n0; j < n1; ++j)
              row[j] += a0 * b0[j] + a1 * b1[j] + a2 * b2[j] + a3 * b3[j];
          }
          for (; p < k1; ++p) {
            const C factor = a[i * k + p];
            for (int64_t j = n0; j < n1; ++j) row[j] += factor * b[p * n + j];
          }
        }
      }
    }
  });
}

}  // namespace pteron
