// decode(encode(p)) is p, for every golden program and every model.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/paths.h"
#include "program/decode.h"
#include "program/encode.h"
#include "program/equal.h"

namespace pteron::test {
namespace {

// The number of programs below `folder`, each of which comes back the same.
size_t round_trips(const char* folder) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".pte") continue;
    SCOPED_TRACE(entry.path().string());
    ++count;
    auto file = open_file(path_to_utf8(entry.path()), false);
    EXPECT_TRUE(file.ok());
    if (!file.ok()) continue;
    const auto program = decode_program(*std::move(file));
    EXPECT_TRUE(program.ok()) << program.error().message;
    if (!program.ok()) continue;
    const auto bytes = encode_program(*program);
    EXPECT_TRUE(bytes.ok()) << bytes.error().message;
    if (!bytes.ok()) continue;
    const auto again = decode_program(wrap_bytes(*bytes, true));
    EXPECT_TRUE(again.ok()) << again.error().message;
    if (again.ok()) {
      EXPECT_EQ(first_difference(*program, *again), "");
    }
  }
  return count;
}

TEST(RoundTrip, GivesBackEveryGoldenProgram) { EXPECT_EQ(round_trips(PTERON_GOLDEN_DIR), 677u); }

// Those for OpenVINO, for XNNPACK, and without a delegate.
TEST(RoundTrip, GivesBackEveryModel) { EXPECT_EQ(round_trips(PTERON_TEST_DATA "/models"), 15u); }

TEST(RoundTrip, DecodesEveryGoldenWeightsFile) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(PTERON_GOLDEN_DIR)) {
    if (entry.path().extension() != ".ptd") continue;
    ++count;
    auto file = open_file(path_to_utf8(entry.path()), false);
    ASSERT_TRUE(file.ok());
    const auto weights = decode_weights(*std::move(file));
    ASSERT_TRUE(weights.ok()) << weights.error().message;
    EXPECT_FALSE(weights->entries.empty());
    for (const WeightsEntry& weight : weights->entries) EXPECT_TRUE(weight.layout.has_value());
  }
  EXPECT_EQ(count, 2u);
}

}  // namespace
}  // namespace pteron::test
