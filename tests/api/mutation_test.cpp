// Small programs and weights, broken in every small way, loaded and run: an error or a result for
// each, at once, within limits of memory, and never a crash.
#include "program/mutation.h"

#include <gtest/gtest.h>

#include <cctype>
#include <fstream>
#include <iterator>
#include <string>

#include "api/any_program.h"
#include "api/fake_library.h"
#include "api/weights_file.h"
#include "program/allocation_count.h"

namespace pteron::test {
namespace {

using ByteVector = std::vector<std::byte>;

constexpr uint64_t kMemoryLimit = 64 << 10;
// Of everything that is made for one wrong file: the runtime's own memory is small for a small
// file.
constexpr uint64_t kMostAllocated = 16 << 20;

ByteVector read(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream.good()) << path;
  const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
  const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
  return {data, data + bytes.size()};
}

std::string golden(const std::string& name) {
  return PTERON_GOLDEN_DIR "/portable/" + name + "/model.pte";
}
std::string seed(const std::string& name) { return PTERON_SEEDS "/" + name; }

struct Case {
  const char* what;
  std::string program;
  std::string weights;  // What the program finds its weights in.
  bool is_weights;      // The .ptd file is broken, and the program is right.
};

class RunMutation : public testing::TestWithParam<Case> {};

TEST_P(RunMutation, GivesAnErrorOrAResult) {
  const Case& param = GetParam();
  const ByteVector program = read(param.program);
  const ByteVector right = param.is_weights ? read(param.weights) : program;
  AnyProgramOptions options;
  options.openvino = PTERON_FAKE_OPENVINO;
  options.memory_limit = kMemoryLimit;
  options.instruction_limit = 200;
  if (!param.weights.empty()) options.weights = {param.weights};
  const FakeLibrary fake(PTERON_FAKE_OPENVINO);
  WeightsFile weights;

  size_t results = 0;
  size_t errors = 0;
  const auto try_bytes = [&](std::span<const std::byte> bytes) {
    if (HasFatalFailure()) return;
    const uint64_t before = bytes_allocated();
    Outcome outcome;
    if (param.is_weights) {
      options.weights = {weights.write(bytes)};
      outcome = run_any_program(program, options);
    } else {
      outcome = run_any_program(bytes, options);
    }
    ASSERT_EQ(outcome.problem, "");
    ASSERT_EQ(fake.problem(), "");
    ASSERT_LT(bytes_allocated() - before, kMostAllocated);
    ASSERT_GT(outcome.results + outcome.errors, 0u);
    results += outcome.results;
    errors += outcome.errors;
  };
  try_bytes(right);
  ASSERT_GT(results, 0u) << "the file itself is right";
  ASSERT_EQ(errors, 0u) << "the file itself is right";
  for_each_mutation(right, try_bytes);
  // Every truncation cuts something that the header speaks of; and many changes change nothing that
  // matters to a run.
  EXPECT_GE(errors, right.size());
  EXPECT_GE(results, right.size());
  std::printf("%zu runs, %zu errors\n", results, errors);
}

INSTANTIATE_TEST_SUITE_P(
    Small, RunMutation,
    testing::Values(Case{"Add", golden("models__ModuleAdd"), "", false},
                    Case{"Delegated", seed("delegated.pte"), "", false},
                    Case{"DelegatedInline", seed("delegated_inline.pte"), "", false},
                    Case{"DelegatedDynamic", seed("delegated_dynamic.pte"), "", false},
                    Case{"ConstantsInline", seed("constants_inline.pte"), "", false},
                    Case{"Cond", golden("extra__cond"), "", false},
                    Case{"Map", golden("extra__map"), "", false},
                    Case{"State", golden("extra__kv_state"), "", false},
                    Case{"SeveralMethods", golden("models__ModuleSharedState"), "", false},
                    Case{"DynamicShapes", golden("extra__expand_dyn"), "", false},
                    Case{"ExternalWeights", seed("linear_ptd.pte"), seed("linear.ptd"), false},
                    Case{"WeightsOfLinear", seed("linear_ptd.pte"), seed("linear.ptd"), true},
                    Case{"WeightsOfAddMul", seed("add_mul_ptd.pte"), seed("add_mul.ptd"), true}),
    [](const auto& param) { return std::string(param.param.what); });

}  // namespace
}  // namespace pteron::test
