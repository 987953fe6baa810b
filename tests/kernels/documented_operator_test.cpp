// The operator that docs/adding_an_operator.md adds, compiled from its text, does what it should.
#include <gtest/gtest.h>

#include "call.h"
#include "case_values.h"
#include "kernels/element.h"
#include "runtime/signature.h"

namespace pteron {
namespace {

#include "documented_operator.inc"

// lerp of a row [1, 2, 3] and a column [5, 9] of the dtype, a quarter of the way.
Result<std::vector<float>> lerp(DType column) {
  const Kernel& kernel = kDocumented[0];
  Call call({std::string(kernel.name),
             {tensor<float>({1, 3}, {1, 2, 3}), tensor<float>({2, 1}, {5, 9}, column), real(0.25)},
             {tensor<float>({2, 3}, std::vector<float>(6))}});
  PTERON_TRY(match_signature(kernel, call.arguments(), call.values()));
  TestContext context;
  PTERON_TRY(kernel.run(context, Args(call.arguments(), call.values()), kernel));
  const auto* out = call.argument(3).tensor->data<float>();
  return std::vector<float>(out, out + 6);
}

TEST(DocumentedOperator, IsNotAmongTheKernelsAlready) {
  EXPECT_FALSE(kernels_by_name().contains(std::string(kDocumented[0].name)));
}

TEST(DocumentedOperator, ComputesAndBroadcasts) {
  const auto result = lerp(DType::Float32);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(*result, (std::vector<float>{2, 2.75F, 3.5F, 3, 3.75F, 4.5F}));
}

TEST(DocumentedOperator, RefusesTwoDtypes) {
  const auto result = lerp(DType::Int32);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("lerp of argument 0 (float32"), std::string::npos)
      << result.error().message;
}

}  // namespace
}  // namespace pteron
