// What a file is: identifier, extended header, the places of its parts.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "program/file_maker.h"

namespace pteron::test {
namespace {

Error program_error(const std::string& contents) {
  const auto result = decode(to_bytes(contents));
  EXPECT_FALSE(result.ok());
  return result.ok() ? Error{} : result.error();
}

Error weights_error(const std::string& contents) {
  const auto result = decode_ptd(to_bytes(contents));
  EXPECT_FALSE(result.ok());
  return result.ok() ? Error{} : result.error();
}

std::string with_identifier(const std::string& identifier) {
  return std::string(4, '\1') + identifier + std::string(100, '\2');
}

struct Lookalike {
  std::string contents;
  std::string says;
};

TEST(Container, SaysWhatAFileLooksLike) {
  const std::string zeros(100, '\0');
  const std::vector<Lookalike> files = {
      {"", "it is empty"},
      {"x", "it has only 1 byte"},
      {zeros, "it starts with zeros"},
      {std::string(100, 'a'), "it is text"},
      {std::string(100, '\x81'), "it does not start as one"},
      {"\x89PNG" + zeros, "a PNG picture"},
      {"\xff\xd8\xff" + zeros, "a JPEG picture"},
      {"\x7f"
       "ELF" +
           zeros,
       "an ELF program"},
      {"MZ" + zeros, "a Windows program"},
      {"PK\x03\x04" + zeros, "a zip archive"},
      {"\x1f\x8b" + zeros, "gzip"},
      {"\x93NUMPY" + zeros, "a NumPy array"},
      {"\x80\x04" + zeros, "a Python pickle"},
      {"GGUF" + zeros, "a GGUF model"},
      {std::string(8, '\1') + "{\"a\":1}" + zeros, "a safetensors file"},
      {"<?xml version=\"1.0\"?>" + zeros, "XML"},
      {"version https://git-lfs.github.com/spec/v1\noid", "git lfs pull"},
      {with_identifier("FT01"), "a .ptd weights file"},
      {with_identifier("TFL3"), "a TensorFlow Lite model"},
      {with_identifier("ED00"), "a profile"},
  };
  for (const auto& [contents, says] : files) {
    const Error error = program_error(contents);
    EXPECT_EQ(error.code, Code::Malformed) << says;
    EXPECT_NE(error.message.find("memory: not an ExecuTorch program: "), std::string::npos) << says;
    EXPECT_NE(error.message.find(says), std::string::npos) << error.message;
    EXPECT_TRUE(std::all_of(error.message.begin(), error.message.end(), [](char c) {
      return c >= 32 && c < 127;
    })) << error.message;
  }
}

TEST(Container, RefusesAnotherFormatVersionByItsName) {
  for (const char* identifier : {"ET99", "ET11", "ET13"}) {
    const Error error = program_error(with_identifier(identifier));
    EXPECT_EQ(error.code, Code::Unsupported);
    EXPECT_NE(error.message.find(identifier), std::string::npos) << error.message;
  }
  EXPECT_EQ(program_error(with_identifier(std::string("ET\1\xff", 4))).code, Code::Malformed);
}

TEST(Container, RefusesABundledProgramWithTheRemedy) {
  const Error error = program_error(with_identifier("BP08"));
  EXPECT_EQ(error.code, Code::Unsupported);
  EXPECT_NE(error.message.find("export the plain .pte"), std::string::npos) << error.message;
}

TEST(Container, SaysThatAShortProgramIsCutShort) {
  const std::string message = program_error("\1\1\1\1ET12\2\2").message;
  EXPECT_NE(message.find("cut short"), std::string::npos) << message;
  EXPECT_EQ(message.find("not an ExecuTorch program"), std::string::npos) << message;
}

TEST(Container, SaysThatAProgramIsNoWeightsFileAndTheReverse) {
  EXPECT_NE(weights_error(with_identifier("ET12")).message.find("an ExecuTorch program"),
            std::string::npos);
  EXPECT_NE(weights_error("\1\1\1\1FT01\2").message.find("cut short"), std::string::npos);
  EXPECT_NE(weights_error(with_identifier("FT01")).message.find("no FH01 header"),
            std::string::npos);
}

TEST(Container, NamesTheFileInEveryMessage) {
  const auto result = decode_program(wrap_bytes({}, false, "models/a.pte"));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message.find("models/a.pte: "), 0u) << result.error().message;
}

// The extended header's fields and where they lie.
constexpr size_t kHeaderLength = 12;
constexpr size_t kProgramSize = 16;
constexpr size_t kSegmentBase = 24;
constexpr size_t kSegmentSize = 32;

std::string refusal_with(size_t at, uint64_t number) {
  PteFile file = simple();
  file.patch = [=](ByteVector& bytes) {
    if (at == kHeaderLength) {
      put(bytes, at, static_cast<uint32_t>(number));
    } else {
      put(bytes, at, number);
    }
  };
  return refusal(file);
}

TEST(Container, RefusesAHeaderThatIsTooShort) {
  EXPECT_NE(refusal_with(kHeaderLength, 23).find("at least 24"), std::string::npos);
  EXPECT_NE(refusal_with(kHeaderLength, 0).find("at least 24"), std::string::npos);
}

TEST(Container, RefusesPartsPastTheEndOfTheFile) {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  const uint64_t size = simple().bytes().size();
  for (const uint64_t wrong : {size + 1, uint64_t{1} << 63, kMax, kMax - 127}) {
    EXPECT_NE(refusal_with(kProgramSize, wrong), "");
    EXPECT_NE(refusal_with(kSegmentBase, wrong), "");
    EXPECT_NE(refusal_with(kSegmentSize, wrong), "");
  }
  EXPECT_NE(refusal_with(kProgramSize, 0), "");
  EXPECT_NE(refusal_with(kProgramSize, 63), "");
}

TEST(Container, VerifiesOnlyTheProgramsOwnBytes) {
  // The tables still lie in the file, but no longer in the part that is the program.
  EXPECT_NE(refusal_with(kProgramSize, 200).find("damaged"), std::string::npos);
}

TEST(Container, RefusesSegmentsWithoutABase) {
  EXPECT_NE(refusal_with(kSegmentBase, 0).find("segment"), std::string::npos);
}

TEST(Container, RefusesAProgramWhoseTablesAreDamaged) {
  PteFile file = simple();
  file.patch = [](ByteVector& bytes) { put(bytes, 0, uint32_t{0x7fffffff}); };
  EXPECT_NE(refusal(file).find("damaged"), std::string::npos);
}

}  // namespace
}  // namespace pteron::test
