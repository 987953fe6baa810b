#include "base/environment.h"
#include "kernels/vector/cpuid.h"
#include "kernels/vector/tables.h"

namespace pteron {
namespace {

#ifdef PTERON_ASKS_THE_CPU
// What cpuid and xgetbv say, by Intel's manual (volume 2, CPUID; volume 1, chapter 14): the CPU has
// the instructions, and the system keeps the registers. __builtin_cpu_supports asks a library of
// the compiler's, and zig's knows no CPU.
struct Cpu {
  unsigned leaf1_ecx = 0;
  unsigned leaf7_ebx = 0;
  unsigned kept = 0;  // XCR0: the registers that the system keeps.

  Cpu() {
    leaf1_ecx = cpuid(1).c;
    leaf7_ebx = cpuid(7).b;
    constexpr unsigned kOsxsave = 1U << 27;
    if ((leaf1_ecx & kOsxsave) != 0) kept = xcr0();
  }
};
bool has_all(unsigned bits, unsigned wanted) { return (bits & wanted) == wanted; }

bool runs_avx2() {
  constexpr unsigned kFma = 1U << 12, kAvx = 1U << 28, kF16c = 1U << 29, kAvx2 = 1U << 5;
  constexpr unsigned kXmmYmm = 0x06;
  const Cpu cpu;
  return has_all(cpu.leaf1_ecx, kFma | kAvx | kF16c) && has_all(cpu.leaf7_ebx, kAvx2) &&
         has_all(cpu.kept, kXmmYmm);
}
bool runs_avx512() {
  constexpr unsigned kF = 1U << 16, kDq = 1U << 17, kCd = 1U << 28, kBw = 1U << 30;
  constexpr unsigned kXmmYmmZmmMasks = 0xe6;
  const Cpu cpu;
  return runs_avx2() && has_all(cpu.leaf7_ebx, kF | kDq | kCd | kBw) &&
         has_all(cpu.kept, kXmmYmmZmmMasks);
}
#else
bool runs_avx2() { return false; }
bool runs_avx512() { return false; }
#endif

const VectorFunctions& choose() {
  if (const auto wanted = read_environment("PTERON_INSTRUCTION_SET")) {
    if (const VectorFunctions* functions = vector_functions(*wanted)) return *functions;
  }
  for (const std::string_view name : {"avx512", "avx2"}) {
    if (const VectorFunctions* functions = vector_functions(name)) return *functions;
  }
  return kSse2Functions;
}

}  // namespace

const VectorFunctions* vector_functions(std::string_view name) {
  if (name == kSse2Functions.name) return &kSse2Functions;
  if (name == kAvx2Functions.name && runs_avx2()) return &kAvx2Functions;
  if (name == kAvx512Functions.name && runs_avx512()) return &kAvx512Functions;
  return nullptr;
}

const VectorFunctions& vector_functions() {
  static const VectorFunctions& chosen = choose();
  return chosen;
}

}  // namespace pteron
