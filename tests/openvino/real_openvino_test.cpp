// Loading real versions of OpenVINO, wherever the environment says that they are:
// PTERON_TEST_OPENVINO_2025_4_1 and so on, each a folder that holds the libraries, or
// site-packages.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/paths.h"
#include "base/temp_folder.h"
#include "openvino/library.h"

namespace pteron {
namespace {

namespace fs = std::filesystem;

std::string variable_of(const OpenvinoVersion& version) {
  return "PTERON_TEST_OPENVINO_" + std::to_string(version.year) + "_" +
         std::to_string(version.minor) + "_" + std::to_string(version.patch);
}

std::string place_of(const OpenvinoVersion& version) {
  const char* value = std::getenv(variable_of(version).c_str());
  return value != nullptr ? value : "";
}

#define NEEDS(version, place)                                                                   \
  const std::string place = place_of(version);                                                  \
  if (place.empty()) {                                                                          \
    GTEST_SKIP() << variable_of(version) << " does not say where OpenVINO " << (version).text() \
                 << " is";                                                                      \
  }

constexpr OpenvinoVersion k2025_0{2025, 0, 0};
constexpr OpenvinoVersion k2025_1{2025, 1, 0};
constexpr OpenvinoVersion k2025_4{2025, 4, 1};
constexpr OpenvinoVersion k2026_4{2026, 4, 1};

// The folder that holds the libraries themselves.
fs::path libraries_of(const std::string& place) {
  const auto files = find_c_libraries(path_from_utf8(place), kThisOs);
  return files.empty() ? fs::path() : files.front().parent_path();
}

class RealOpenvino : public testing::TestWithParam<OpenvinoVersion> {};

TEST_P(RealOpenvino, LoadsAndHasACpu) {
  NEEDS(GetParam(), place);
  const auto loaded = load_openvino(place);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  const OpenvinoLibrary& ov = **loaded;
  EXPECT_EQ(ov.version(), GetParam());
  EXPECT_TRUE(fs::path(ov.file()).is_absolute());

  ov::ov_core_t* core = nullptr;
  ASSERT_EQ(ov->ov_core_create(&core), ov::ov_status_e::Ok);
  char* name = nullptr;
  ASSERT_EQ(ov->ov_core_get_property(core, "CPU", "FULL_DEVICE_NAME", &name), ov::ov_status_e::Ok);
  EXPECT_STRNE(name, "");
  ov->ov_free(name);
  ov->ov_core_free(core);
}

TEST_P(RealOpenvino, LoadsFromAFolderWithASpaceInItsName) {
  NEEDS(GetParam(), place);
  const TempFolder top;
  fs::create_directory(top / "Open VINO");
  for (const fs::directory_entry& entry : fs::directory_iterator(libraries_of(place))) {
    const std::string name = entry.path().filename().string();
    // What loading itself needs: the two libraries and TBB. Copies, as links would be followed.
    if (name.find("plugin") == std::string::npos && name.find("frontend") == std::string::npos) {
      fs::copy(entry.path(), top / "Open VINO" / name);
    }
  }
  const auto loaded = load_openvino(path_to_utf8(top / "Open VINO"));
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ((*loaded)->version(), GetParam());
  EXPECT_EQ(path_from_utf8((*loaded)->file()).parent_path(), top / "Open VINO");
}

#ifndef _WIN32  // What Windows says, and names, has its own tests.
TEST_P(RealOpenvino, NamesTheDependencyThatIsMissing) {
  NEEDS(GetParam(), place);
  const TempFolder top;
  const fs::path file = find_c_libraries(path_from_utf8(place), kThisOs).front();
  fs::copy(file, top / file.filename());
  const auto loaded = load_openvino(top.text());
  ASSERT_FALSE(loaded.ok());
  const std::string missing =
      "it needs libopenvino.so." +
      file.filename().string().substr(std::string("libopenvino_c.so.").size());
  EXPECT_NE(loaded.error().message.find(missing), std::string::npos) << loaded.error().message;
}

TEST_P(RealOpenvino, NamesTheDependencyOfADependencyThatIsMissing) {
  NEEDS(GetParam(), place);
  const TempFolder top;
  for (const fs::directory_entry& entry : fs::directory_iterator(libraries_of(place))) {
    const fs::path name = entry.path().filename();
    const bool wanted =
        name.string().find("libopenvino.so") == 0 || name.string().find("libopenvino_c.so") == 0;
    if (wanted) fs::copy(entry.path(), top / name);
  }
  const auto loaded = load_openvino(top.text());
  ASSERT_FALSE(loaded.ok());
  EXPECT_NE(loaded.error().message.find("it needs libtbb.so.12"), std::string::npos)
      << loaded.error().message;
}
#endif

// As `import openvino` does: libopenvino is mapped, its C library is not.
TEST_P(RealOpenvino, UsesTheOneThatIsInTheProcess) {
  NEEDS(GetParam(), place);
  const fs::path c_library = find_c_libraries(path_from_utf8(place), kThisOs).front();
  std::string name = c_library.filename().string();
  name.erase(name.rfind("_c"), 2);
  const auto mapped = SharedLibrary::open(c_library.parent_path() / name);
  ASSERT_TRUE(mapped.ok()) << mapped.error().message;
  const auto loaded = load_openvino("");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ((*loaded)->file(), c_library);
  EXPECT_EQ((*loaded)->version(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    All, RealOpenvino, testing::Values(k2025_1, k2025_4, k2026_4), [](const auto& tested) {
      return variable_of(tested.param).substr(std::string("PTERON_TEST_").size());
    });

TEST(RealOpenvinoVersions, Refuses2025_0AndTakesAnotherAfterwards) {
  NEEDS(k2025_0, old);
  const auto refused = load_openvino(old);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("OpenVINO 2025.0.0 is too old"), std::string::npos)
      << refused.error().message;
  NEEDS(k2025_4, place);
  const auto loaded = load_openvino(place);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ((*loaded)->version(), k2025_4);
}

#ifndef _WIN32  // There no file name has a number.
// Without a number in its name it is loaded before it is refused, and it forbids its unloading:
// then nothing else may be loaded beside it.
TEST(RealOpenvinoVersions, Refuses2025_0WithoutItsNumberAndLoadsNoSecondOneBesideIt) {
  NEEDS(k2025_0, old);
  const TempFolder top;
  for (const fs::directory_entry& entry : fs::directory_iterator(libraries_of(old))) {
    const fs::path name = entry.path().filename();
    if (is_c_library_name(name.string(), kThisOs)) {
      fs::copy(entry.path(), top / "libopenvino_c.so");
    } else {
      fs::create_symlink(entry.path(), top / name);
    }
  }
  const auto refused = load_openvino(top.text());
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("OpenVINO 2025.0.0 is too old"), std::string::npos)
      << refused.error().message;
  NEEDS(k2025_4, place);
  const bool stays = !SharedLibrary::find_loaded("libopenvino").empty();
  EXPECT_EQ(load_openvino(place).ok(), !stays);
}
#endif

TEST(RealOpenvinoVersions, RefusesASecondVersionAndNamesBoth) {
  NEEDS(k2025_4, first);
  NEEDS(k2026_4, second);
  ASSERT_TRUE(load_openvino(first).ok());
  const auto refused = load_openvino(second);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("2025.4.1"), std::string::npos) << refused.error().message;
  EXPECT_NE(refused.error().message.find("2026.4.1"), std::string::npos) << refused.error().message;
}

}  // namespace
}  // namespace pteron
