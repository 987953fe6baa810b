#include <gtest/gtest.h>

#include <algorithm>

#include "base/temp_folder.h"
#include "openvino/search.h"
#include "openvino/version.h"

namespace pteron {
namespace {

namespace fs = std::filesystem;

TEST(OpenvinoVersion, IsReadFromABuildText) {
  EXPECT_EQ(parse_openvino_version("2025.4.1-20426-82bbf0292c5-releases/2025/4"),
            (OpenvinoVersion{2025, 4, 1}));
  EXPECT_EQ(parse_openvino_version("2026.0"), (OpenvinoVersion{2026, 0, 0}));
  EXPECT_EQ(parse_openvino_version("2025.10.12"), (OpenvinoVersion{2025, 10, 12}));
  for (const char* text : {"", "custom_master_1234", "-1", ".5"}) {
    EXPECT_EQ(parse_openvino_version(text), OpenvinoVersion{}) << text;
  }
  EXPECT_EQ(parse_openvino_version("99999999999999999999.1"), OpenvinoVersion{});
}

TEST(OpenvinoVersion, ComparesAsNumbers) {
  EXPECT_LT(parse_openvino_version("2025.4.1"), parse_openvino_version("2025.10.0"));
  EXPECT_LT(parse_openvino_version("2025.0.0"), kOldestOpenvino);
  EXPECT_EQ((OpenvinoVersion{2025, 4, 1}).text(), "2025.4.1");
}

TEST(OpenvinoVersion, IsReadFromAFileName) {
  EXPECT_EQ(version_in_file_name("libopenvino_c.so.2541"), (OpenvinoVersion{2025, 4, 1}));
  EXPECT_EQ(version_in_file_name("libopenvino.so.2500"), (OpenvinoVersion{2025, 0, 0}));
  EXPECT_EQ(version_in_file_name("libopenvino_c.so.25100"), (OpenvinoVersion{2025, 10, 0}));
  EXPECT_EQ(version_in_file_name("libopenvino_c.so.2025.4.1"), (OpenvinoVersion{2025, 4, 1}));
  for (const char* name : {"libopenvino_c.so", "openvino_c.dll", "libopenvino_c.so.", "x.so.12"}) {
    EXPECT_EQ(version_in_file_name(name), std::nullopt) << name;
  }
}

TEST(OpenvinoSearch, KnowsTheCLibraryByItsName) {
  for (const char* name :
       {"libopenvino_c.so", "libopenvino_c.so.2541", "libopenvino_c.so.2025.4.1"}) {
    EXPECT_TRUE(is_c_library_name(name, Os::Linux)) << name;
    EXPECT_FALSE(is_c_library_name(name, Os::Windows)) << name;
  }
  for (const char* name :
       {"libopenvino.so.2541", "libopenvino_c.so.", "libopenvino_c.so.2541.debug",
        "libopenvino_capi.so", "libopenvino_c.sox", "openvino_c.dll"}) {
    EXPECT_FALSE(is_c_library_name(name, Os::Linux)) << name;
  }
  for (const char* name : {"openvino_c.dll", "OpenVINO_C.DLL", "openvino_cd.dll"}) {
    EXPECT_TRUE(is_c_library_name(name, Os::Windows)) << name;
  }
  EXPECT_FALSE(is_c_library_name("openvino.dll", Os::Windows));
}

// Where the archives and packages of 2025 and 2026 have the library, and the levels that a user may
// give.
struct Layout {
  Os os;
  const char* library;  // Its folder, from the top of the install.
};
constexpr Layout kLayouts[] = {
    {Os::Linux, "runtime/lib/intel64"},
    {Os::Linux, "runtime/lib/aarch64"},
    {Os::Linux, "runtime/lib/intel64/Release"},
    {Os::Linux, "runtime/lib/aarch64/Debug"},
    {Os::Linux, "bin/intel64/Release"},
    {Os::Linux, "runtime/lib64"},
    {Os::Linux, "lib64"},
    {Os::Linux, "lib"},
    {Os::Linux, "lib/x86_64-linux-gnu"},
    {Os::Linux, "lib/aarch64-linux-gnu"},
    {Os::Linux, "openvino/libs"},
    {Os::Linux, "site-packages/openvino/libs"},
    {Os::Windows, "runtime/bin/intel64/Release"},
    {Os::Windows, "runtime/bin/intel64/Debug"},
    {Os::Windows, "runtime/bin/arm64/Release"},
    {Os::Windows, "bin/intel64/Release"},
    {Os::Windows, "Lib/site-packages/openvino/libs"},
    {Os::Windows, "openvino/libs"},
    {Os::Windows, "Library/bin"},
};

class OpenvinoLayout : public testing::TestWithParam<Layout> {};

TEST_P(OpenvinoLayout, IsFoundFromEachLevel) {
  const TempFolder top;
  const Layout& layout = GetParam();
  const fs::path name = layout.os == Os::Windows ? "openvino_c.dll" : "libopenvino_c.so.2541";
  const fs::path file = top.write(fs::path(layout.library) / name);
  for (fs::path level = file.parent_path();; level = level.parent_path()) {
    EXPECT_EQ(find_c_libraries(level, layout.os), std::vector{file}) << level;
    if (level == top.path()) break;
  }
}

INSTANTIATE_TEST_SUITE_P(All, OpenvinoLayout, testing::ValuesIn(kLayouts));

TEST(OpenvinoSearch, FindsThePipPackageInAPythonEnvironment) {
  const TempFolder top;
  const fs::path file =
      top.write("lib/python3.11/site-packages/openvino/libs/libopenvino_c.so.2541");
  EXPECT_EQ(find_c_libraries(top.path(), Os::Linux), std::vector{file});
  EXPECT_EQ(find_c_libraries(top / "lib/python3.11", Os::Linux), std::vector{file});
}

TEST(OpenvinoSearch, TakesTheNewestVersionOfAFolderComparedAsNumbers) {
  const TempFolder top;
  std::vector<fs::path> files;
  for (const char* name : {"libopenvino_c.so.25100", "libopenvino_c.so.2025.9.0",
                           "libopenvino_c.so.2541", "libopenvino_c.so.2500", "libopenvino_c.so"}) {
    files.push_back(top.write(name));
  }
  top.write("libopenvino.so.2700");
  EXPECT_EQ(find_c_libraries(top.path(), Os::Linux), files);
}

TEST(OpenvinoSearch, PutsWindowsDebugBuildLast) {
  const TempFolder top;
  const fs::path debug = top.write("openvino_cd.dll");
  const fs::path release = top.write("openvino_c.dll");
  EXPECT_EQ(find_c_libraries(top.path(), Os::Windows), (std::vector{release, debug}));
}

TEST(OpenvinoSearch, KnowsWhereAnArchiveForWindowsHasTbb) {
  const TempFolder top;
  const fs::path file = top.write("runtime/bin/intel64/Release/openvino_c.dll");
  EXPECT_TRUE(dependency_folders(file, Os::Windows).empty());
  const fs::path tbb = top.write("runtime/3rdparty/tbb/bin/tbb12.dll").parent_path();
  EXPECT_EQ(dependency_folders(file, Os::Windows), std::vector{tbb});
  EXPECT_TRUE(dependency_folders(file, Os::Linux).empty());
  EXPECT_TRUE(dependency_folders("openvino_c.dll", Os::Windows).empty());
}

#ifndef _WIN32  // MinGW-w64's library makes no links.
TEST(OpenvinoSearch, NamesAFileOnceThroughItsLinks) {
  const TempFolder top;
  const fs::path file = top.write("elsewhere/libopenvino_c.so.2541");
  fs::create_symlink(file, top / "libopenvino_c.so");
  fs::create_symlink("libopenvino_c.so", top / "libopenvino_c.so.2541");
  EXPECT_EQ(find_c_libraries(top.path(), Os::Linux), std::vector{file});
}
#endif

TEST(OpenvinoSearch, FindsNothingInAFolderThatIsNotThereOrIsAFile) {
  const TempFolder top;
  EXPECT_TRUE(find_c_libraries(top / "none", Os::Linux).empty());
  EXPECT_TRUE(find_c_libraries(top.write("file"), Os::Linux).empty());
}

TEST(OpenvinoSearch, TriesThePlainNameAndThenVersionsFromNewToOld) {
  const auto names = system_library_names(Os::Linux);
  ASSERT_GT(names.size(), 3U);
  EXPECT_EQ(names.front(), "libopenvino_c.so");
  EXPECT_EQ(names.back(), "libopenvino_c.so.2510");
  EXPECT_TRUE(std::is_sorted(names.begin() + 1, names.end(), std::greater<>()));
  for (const char* name : {"libopenvino_c.so.2541", "libopenvino_c.so.2641"}) {
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  }
  EXPECT_EQ(system_library_names(Os::Windows), std::vector<std::string>{"openvino_c.dll"});
}

}  // namespace
}  // namespace pteron
