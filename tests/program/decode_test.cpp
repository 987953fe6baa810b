// Files that are no programs, or broken ones: an error each, and never a read outside the bytes.
#include "program/decode.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/paths.h"

namespace pteron {
namespace {

FileBytes golden(const std::string& name) {
  auto file = open_file(std::string(PTERON_GOLDEN_DIR) + "/" + name, true);
  EXPECT_TRUE(file.ok()) << file.error().message;
  return *std::move(file);
}

// Decodes exactly these bytes: a sanitizer sees one byte too many.
bool decodes(std::span<const std::byte> bytes, bool weights) {
  FileBytes file = wrap_bytes(bytes, true);
  return weights ? decode_weights(std::move(file)).ok() : decode_program(std::move(file)).ok();
}

std::string refusal(const std::string& text) {
  const auto result = decode_program(
      wrap_bytes({reinterpret_cast<const std::byte*>(text.data()), text.size()}, true));
  EXPECT_FALSE(result.ok());
  return result.ok() ? "" : result.error().message;
}

TEST(Decode, SaysWhatAFileLooksLike) {
  EXPECT_NE(refusal("").find("empty"), std::string::npos);
  EXPECT_NE(refusal("x").find("1 bytes"), std::string::npos);
  EXPECT_NE(refusal("\x89PNG" + std::string(100, '\0')).find("PNG"), std::string::npos);
  EXPECT_NE(refusal("\x7f"
                    "ELF" +
                    std::string(100, '\0'))
                .find("ELF"),
            std::string::npos);
  EXPECT_NE(refusal("PK\x03\x04" + std::string(100, '\0')).find("zip"), std::string::npos);
  EXPECT_NE(refusal(std::string(4, '\0') + "FT01" + std::string(100, '\0')).find(".ptd"),
            std::string::npos);
  EXPECT_NE(refusal(std::string(4, '\0') + "ET99" + std::string(100, '\0')).find("ET99"),
            std::string::npos);
  EXPECT_NE(refusal(std::string(100, 'a')).find("text"), std::string::npos);
}

TEST(Decode, RefusesMorePlannedMemoryThanTheLimit) {
  const auto result =
      decode_program(golden("portable/extra__mlp/model.pte"), {.planned_memory = 16});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, Code::ResourceLimit);
}

class Mutation : public testing::TestWithParam<const char*> {};

TEST_P(Mutation, OfAnyByteAndAnyTruncationGivesAnErrorOrAProgram) {
  const std::string name = GetParam();
  const bool weights = name.ends_with(".ptd");
  const FileBytes file = golden(name);
  ASSERT_TRUE(decodes(file.bytes, weights));
  for (size_t length = 0; length < file.bytes.size(); ++length)
    decodes(file.bytes.first(length), weights);
  std::vector<std::byte> bytes(file.bytes.begin(), file.bytes.end());
  for (size_t i = 0; i < bytes.size(); ++i) {
    const std::byte original = bytes[i];
    for (const std::byte value :
         {std::byte{0}, std::byte{255}, original ^ std::byte{1}, original ^ std::byte{128}}) {
      bytes[i] = value;
      decodes(bytes, weights);
    }
    bytes[i] = original;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Golden, Mutation,
    testing::Values("portable/extra__map/model.pte", "portable/extra__cond/model.pte",
                    "portable/extra__mlp/model.pte", "portable/models__ModuleAdd/model.pte",
                    "portable/models__ModuleSharedState/model.pte",
                    "portable/models__ModuleLinear_ptd/model.pte",
                    "portable/models__ModuleLinear_ptd/_default_external_constant.ptd",
                    "portable/models__ModuleAddMul_ptd/_default_external_constant.ptd",
                    "portable/models__ModuleAddMul_ptd/model.pte",
                    "portable/split__split_dtype/model.pte", "portable/extra__where/model.pte",
                    "openvino/abs__abs_shapes/model.pte"),
    [](const auto& param) {
      std::string name;
      for (const char c : std::string(param.param))
        name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
      return name;
    });

}  // namespace
}  // namespace pteron
