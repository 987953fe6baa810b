// The instructions cpuid and xgetbv, in the ways of MSVC's compilers and of GNU's. Where there is
// neither, PTERON_ASKS_THE_CPU is not defined.
#pragma once

#if defined(_MSC_VER) && defined(_M_X64)
#include <intrin.h>
#define PTERON_ASKS_THE_CPU
#elif defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
#include <cpuid.h>
#define PTERON_ASKS_THE_CPU
#endif

namespace pteron {

#ifdef PTERON_ASKS_THE_CPU
struct Registers {
  unsigned a = 0, b = 0, c = 0, d = 0;
};
#endif

#if defined(_MSC_VER) && defined(_M_X64)
// Zeros for a leaf that the CPU has not.
inline Registers cpuid(int leaf) {
  int highest[4], found[4];
  __cpuid(highest, 0);
  if (leaf > highest[0]) return {};
  __cpuidex(found, leaf, 0);
  return {static_cast<unsigned>(found[0]), static_cast<unsigned>(found[1]),
          static_cast<unsigned>(found[2]), static_cast<unsigned>(found[3])};
}
inline unsigned xcr0() { return static_cast<unsigned>(_xgetbv(0)); }
#elif defined(PTERON_ASKS_THE_CPU)
inline Registers cpuid(int leaf) {
  Registers r;
  const int known = __get_cpuid_count(static_cast<unsigned>(leaf), 0, &r.a, &r.b, &r.c, &r.d);
  return known != 0 ? r : Registers{};
}
inline unsigned xcr0() {
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}
#endif

}  // namespace pteron
