// Opening files: what the system refuses is told with the path and the system's reason.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/paths.h"
#include "base/temp_folder.h"
#include "program/file_maker.h"

namespace pteron::test {
namespace {

class OpenFile : public testing::TestWithParam<bool> {
 protected:
  // Writes a file and gives its path as our interfaces take it.
  std::string write(const char8_t* name, const ByteVector& bytes) const {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return path_to_utf8(path);
  }

  TempFolder folder_;
};

TEST_P(OpenFile, NamesAMissingFileAndTheReason) {
  const std::string path = path_to_utf8(folder_ / "missing.pte");
  const auto file = open_file(path, GetParam());
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().code, Code::Io);
  EXPECT_NE(file.error().message.find(path), std::string::npos) << file.error().message;
  EXPECT_GT(file.error().message.size(), path.size() + 10) << "and the system's reason";
}

TEST_P(OpenFile, RefusesAFolder) {
  const auto file = open_file(folder_.text(), GetParam());
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().code, Code::Io);
}

TEST_P(OpenFile, SaysThatAnEmptyFileIsEmpty) {
  auto file = open_file(write(u8"empty.pte", {}), GetParam());
  ASSERT_TRUE(file.ok()) << file.error().message;
  const auto program = decode_program(*std::move(file));
  ASSERT_FALSE(program.ok());
  EXPECT_NE(program.error().message.find("empty.pte: not an ExecuTorch program: it is empty"),
            std::string::npos)
      << program.error().message;
}

TEST_P(OpenFile, TakesAPathThatIsNotEnglish) {
  auto file = open_file(write(u8"привет 模型 é.pte", simple().bytes()), GetParam());
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_TRUE(decode_program(*std::move(file)).ok());
}

TEST_P(OpenFile, KeepsTheBytesAsLongAsTheProgram) {
  Program program;
  {
    auto file = open_file(write(u8"a.pte", simple().bytes()), GetParam());
    ASSERT_TRUE(file.ok());
    auto decoded = decode_program(*std::move(file));
    ASSERT_TRUE(decoded.ok());
    program = *std::move(decoded);
  }
  EXPECT_EQ(program.named_data.at(0).data.back(), std::byte{'s'});
}

INSTANTIATE_TEST_SUITE_P(Mapped, OpenFile, testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Copied, OpenFile, testing::Values(true));

TEST(WrapBytes, TakesACopyOfWhatItMustNotBorrow) {
  const ByteVector bytes = simple().bytes();
  EXPECT_NE(wrap_bytes(bytes, true).bytes.data(), bytes.data());
  const FileBytes moved = wrap_bytes(Bytes(bytes).subspan(1), false);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(moved.bytes.data()) % 16, 0u);
  EXPECT_EQ(moved.bytes.size(), bytes.size() - 1);
}

}  // namespace
}  // namespace pteron::test
