#include "base/mapped_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "base/paths.h"
#include "base/temp_folder.h"

namespace pteron {
namespace {

// Windows' words differ from language to language, so that its number counts.
#ifdef _WIN32
constexpr const char* kNoSuchFile = "(error 2)";
constexpr const char* kNoSuchFolder = "(error 3)";
#else
constexpr const char* kNoSuchFile = "No such file or directory";
constexpr const char* kNoSuchFolder = kNoSuchFile;
#endif

struct Way {
  const char* name;
  Result<FileContents> (*open)(const std::string&);
};

class OpenFile : public testing::TestWithParam<Way> {
 protected:
  static Result<FileContents> open(const std::filesystem::path& path) {
    return GetParam().open(path_to_utf8(path));
  }
  static void expect_refused(const std::filesystem::path& path, const std::string& reason) {
    const auto file = open(path);
    ASSERT_FALSE(file.ok());
    EXPECT_EQ(file.error().code, Code::Io);
    const std::string start = "cannot read " + path_to_utf8(path) + ": ";
    EXPECT_EQ(file.error().message.substr(0, start.size()), start);
    EXPECT_NE(file.error().message.find(reason, start.size()), std::string::npos)
        << file.error().message;
  }
};

std::string text_of(const FileContents& file) {
  return {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()};
}

TEST_P(OpenFile, SaysThatATildeIsNotExpanded) {
  for (const char* path : {"~/none.pte", "/no/~/none.pte"}) {
    const auto file = open(path);
    ASSERT_FALSE(file.ok());
    EXPECT_NE(file.error().message.find("; ~ is not expanded here"), std::string::npos)
        << file.error().message;
  }
  expect_refused("/no/none~.pte", kNoSuchFolder);
}

TEST_P(OpenFile, GivesTheBytesAligned) {
  const TempFolder top;
  std::string content(100003, 'x');
  content[100002] = '\0';
  const auto file = open(top.write(path_from_utf8("привет 模型 é.pte"), content));
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(text_of(*file), content);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(file->bytes.data()) % 16, 0U);
}

TEST_P(OpenFile, OutlivesItsName) {
  const TempFolder top;
  const auto path = top.write("model.pte", "content");
  auto file = open(path);
  ASSERT_TRUE(file.ok()) << file.error().message;
  const FileContents kept = *std::move(file);
  std::filesystem::remove(path);
  EXPECT_EQ(text_of(kept), "content");
}

TEST_P(OpenFile, TakesAnEmptyFile) {
  const TempFolder top;
  const auto file = open(top.write("empty"));
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_TRUE(file->bytes.empty());
}

TEST_P(OpenFile, RefusesWhatIsNotThere) {
  const TempFolder top;
  expect_refused(top / "none.pte", kNoSuchFile);
}

TEST_P(OpenFile, RefusesAFolder) {
  const TempFolder top;
  expect_refused(top.path(), "it is a folder, not a file");
}

INSTANTIATE_TEST_SUITE_P(Both, OpenFile,
                         testing::Values(Way{"Mapped", map_file}, Way{"Read", read_file}),
                         [](const auto& tested) { return tested.param.name; });

TEST(MapFile, ReachesPastFourGigabytes) {
  const TempFolder top;
  const auto path = top.write("large.pte", "begin");
  constexpr uint64_t kSize = (uint64_t{5} << 30) + 3;
  std::error_code error;
  std::filesystem::resize_file(path, kSize, error);
  if (error) GTEST_SKIP() << "no sparse file of 5 GB in the temporary folder: " << error.message();
  const auto file = map_file(path_to_utf8(path));
  ASSERT_TRUE(file.ok()) << file.error().message;
  ASSERT_EQ(file->bytes.size(), kSize);
  EXPECT_EQ(file->bytes[kSize - 1], std::byte{0});
}

TEST(MapFile, GetsReleasedPagesBackFromTheFile) {
  const TempFolder top;
  std::string content;
  for (int i = 0; i < 100000; ++i) content += std::to_string(i);
  const auto file = map_file(path_to_utf8(top.write("model.pte", content)));
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(text_of(*file), content);
  release_pages(*file, file->bytes);
  release_pages(*file, file->bytes.subspan(5, 100));
  release_pages(*file, {});
  EXPECT_EQ(text_of(*file), content);
}

TEST(ReadFile, IsSafeAgainstACutWhileItIsOpen) {
  const TempFolder top;
  const auto path = top.write("model.pte", std::string(100000, 'x'));
  const auto file = read_file(path_to_utf8(path));
  ASSERT_TRUE(file.ok()) << file.error().message;
  std::filesystem::resize_file(path, 0);
  EXPECT_EQ(text_of(*file), std::string(100000, 'x'));
  release_pages(*file, file->bytes);
  EXPECT_EQ(text_of(*file), std::string(100000, 'x'));
}

TEST(CopyBytes, KeepsItsOwnBytes) {
  std::string content = "content";
  const FileContents copy = copy_bytes(std::as_bytes(std::span(content)));
  content.assign(content.size(), '-');
  EXPECT_EQ(text_of(copy), "content");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(copy.bytes.data()) % 64, 0U);
  EXPECT_TRUE(copy_bytes({}).bytes.empty());
}

}  // namespace
}  // namespace pteron
