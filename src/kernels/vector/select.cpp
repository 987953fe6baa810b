#include "base/environment.h"
#include "kernels/vector/tables.h"

namespace pteron {
namespace {

#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
bool runs_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("f16c");
}
bool runs_avx512() {
  return runs_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq");
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
