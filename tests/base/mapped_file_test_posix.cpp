// Files that are none, and rights, as POSIX has them.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mapped_file.h"
#include "base/paths.h"
#include "base/temp_folder.h"

namespace pteron {
namespace {

void expect_refused(const std::filesystem::path& path, const std::string& reason) {
  for (const auto open : {map_file, read_file}) {
    const auto file = open(path_to_utf8(path));
    ASSERT_FALSE(file.ok());
    EXPECT_EQ(file.error().code, Code::Io);
    EXPECT_EQ(file.error().message, "cannot read " + path_to_utf8(path) + ": " + reason);
  }
}

TEST(OpenSpecialFile, RefusesAPipeWithoutWaitingForAWriter) {
  const TempFolder top;
  ASSERT_EQ(::mkfifo((top / "pipe").c_str(), 0600), 0);
  expect_refused(top / "pipe", "it is not a regular file");
}

TEST(OpenSpecialFile, RefusesADevice) { expect_refused("/dev/zero", "it is not a regular file"); }

TEST(OpenSpecialFile, RefusesAFileThatMayNotBeRead) {
  const TempFolder top;
  std::filesystem::permissions(top.path(), std::filesystem::perms(0755));
  const auto path = top.write("secret.pte", "content");
  std::filesystem::permissions(path, std::filesystem::perms::none);
  // Root may read everything, so it becomes somebody else for a moment.
  constexpr uid_t kNobody = 65534;
  const bool is_root = ::geteuid() == 0;
  if (is_root) {
    ASSERT_EQ(::seteuid(kNobody), 0);
  }
  expect_refused(path, "Permission denied");
  if (is_root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
}

}  // namespace
}  // namespace pteron
