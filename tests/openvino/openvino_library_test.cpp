// Loading, on fake libraries. ctest runs each test in a process of its own: a process has one
// OpenVINO.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <map>
#include <thread>

#include "base/paths.h"
#include "base/temp_folder.h"
#include "openvino/library.h"

namespace pteron {
namespace {

namespace fs = std::filesystem;

std::string fake_folder(const std::string& name) { return PTERON_FAKE_OPENVINO_DIR "/" + name; }
std::string good_file() { return fake_folder("good") + "/libopenvino_c.so.2541"; }

// Surroundings with nothing in them but what a test puts there.
SearchSurroundings nothing(std::map<std::string, std::string> variables = {}) {
  SearchSurroundings around;
  around.variable = [variables](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  return around;
}

testing::AssertionResult says(const Error& error, std::initializer_list<std::string> words) {
  if (error.message.find('\n') != std::string::npos) {
    return testing::AssertionFailure() << "more than one line: " << error.message;
  }
  for (const std::string& word : words) {
    if (error.message.find(word) == std::string::npos) {
      return testing::AssertionFailure() << "lacks \"" << word << "\": " << error.message;
    }
  }
  return testing::AssertionSuccess();
}

constexpr const char* kRemedy = "pip install openvino";

TEST(LoadOpenvino, TakesAFile) {
  const auto attempt = try_openvino(good_file(), nothing());
  ASSERT_TRUE(attempt.library.ok()) << attempt.library.error().message;
  EXPECT_EQ(attempt.library->file(), fs::canonical(good_file()));
  EXPECT_EQ(attempt.library->version_text(), "2025.4.1-0-fake");
  EXPECT_EQ(attempt.library->version(), (OpenvinoVersion{2025, 4, 1}));
  EXPECT_NE((*attempt.library)->ov_infer_request_infer, nullptr);
  ASSERT_EQ(attempt.steps.size(), 1U);
  EXPECT_EQ(attempt.steps[0].outcome, "loaded");
}

TEST(LoadOpenvino, TakesTheNewestOfAFolder) {
  const TempFolder top;
  fs::copy(good_file(), top / "libopenvino_c.so.2541");
  fs::copy(fake_folder("newer") + "/libopenvino_c.so.2641", top / "libopenvino_c.so.2641");
  fs::copy(fake_folder("old") + "/libopenvino_c.so.2500", top / "libopenvino_c.so.999");
  const auto attempt = try_openvino(top.text(), nothing());
  ASSERT_TRUE(attempt.library.ok()) << attempt.library.error().message;
  EXPECT_EQ(attempt.library->version(), (OpenvinoVersion{2026, 4, 1}));
}

TEST(LoadOpenvino, TakesTheNextOfAFolderWhereTheNewestIsBroken) {
  const TempFolder top;
  fs::copy(good_file(), top / "libopenvino_c.so.2541");
  top.write("libopenvino_c.so.2641", "cut short");
  const auto attempt = try_openvino(top.text(), nothing());
  ASSERT_TRUE(attempt.library.ok()) << attempt.library.error().message;
  EXPECT_EQ(attempt.library->version(), (OpenvinoVersion{2025, 4, 1}));
  ASSERT_EQ(attempt.steps.size(), 2U);
  EXPECT_NE(attempt.steps[0].place.find("2641"), std::string::npos);
}

TEST(LoadOpenvino, TakesARelativePath) {
  const TempFolder top;
  fs::create_directory(top / "sub");
  fs::copy(good_file(), top / "sub/libopenvino_c.so.2541");
  fs::current_path(top.path());
  const auto attempt = try_openvino("sub", nothing());
  ASSERT_TRUE(attempt.library.ok()) << attempt.library.error().message;
  EXPECT_EQ(attempt.library->file(), path_to_utf8(top / "sub/libopenvino_c.so.2541"));
}

TEST(LoadOpenvino, LeavesABareNameToTheSystemAndNotToTheCurrentFolder) {
  const TempFolder top;
  fs::copy(good_file(), top / "libopenvino_c.so.2541");
  fs::current_path(top.path());
  const auto attempt = try_openvino("libopenvino_c.so.2541", nothing());
  ASSERT_FALSE(attempt.library.ok());
  EXPECT_TRUE(says(attempt.library.error(), {"write ./libopenvino_c.so.2541"}));
}

TEST(LoadOpenvino, ReadsItsVariableAsAFileOrAFolder) {
  const auto file = try_openvino("", nothing({{"OPENVINO_LIB_PATH", good_file()}}));
  ASSERT_TRUE(file.library.ok()) << file.library.error().message;
  const auto folder = try_openvino("", nothing({{"OPENVINO_LIB_PATH", fake_folder("good")}}));
  ASSERT_TRUE(folder.library.ok()) << folder.library.error().message;
}

TEST(LoadOpenvino, PutsTheCallersPathBeforeTheVariable) {
  const auto attempt =
      try_openvino(fake_folder("good"), nothing({{"OPENVINO_LIB_PATH", fake_folder("newer")}}));
  ASSERT_TRUE(attempt.library.ok()) << attempt.library.error().message;
  EXPECT_EQ(attempt.library->version(), (OpenvinoVersion{2025, 4, 1}));
}

// A bad value must fail, though another OpenVINO would be there to take.
TEST(LoadOpenvino, NamesABadValueOfItsVariable) {
  const TempFolder top;
  const std::string text_file = path_to_utf8(top.write("notes.txt", "not a library\n"));
  for (const std::string& value : {top.text(), text_file, std::string(), top.text() + "/none"}) {
    SearchSurroundings around = nothing({{"OPENVINO_LIB_PATH", value}});
    around.added = {fake_folder("good")};
    const auto attempt = try_openvino("", around);
    ASSERT_FALSE(attempt.library.ok());
    EXPECT_EQ(attempt.library.error().code, Code::Missing);
    EXPECT_TRUE(says(attempt.library.error(),
                     {"$OPENVINO_LIB_PATH", value, ". Correct OPENVINO_LIB_PATH", kRemedy}));
  }
  const auto name = try_openvino("", nothing({{"OPENVINO_LIB_PATH", "nonsense"}}));
  ASSERT_FALSE(name.library.ok());
  EXPECT_TRUE(says(name.library.error(),
                   {"$OPENVINO_LIB_PATH=nonsense (nonsense: cannot open shared object file",
                    "so give a path", ". Correct OPENVINO_LIB_PATH"}));
  const auto home = try_openvino("", nothing({{"OPENVINO_LIB_PATH", "~/openvino"}}));
  EXPECT_TRUE(says(home.library.error(), {"$OPENVINO_LIB_PATH=~/openvino (", "~ is not expanded"}));
  const auto empty = try_openvino("", nothing({{"OPENVINO_LIB_PATH", ""}}));
  EXPECT_TRUE(says(empty.library.error(), {"$OPENVINO_LIB_PATH (set, but empty"}));
  const auto folder = try_openvino("", nothing({{"OPENVINO_LIB_PATH", top.text()}}));
  EXPECT_TRUE(says(folder.library.error(), {"no libopenvino_c.so*", "openvino/,}libs"}));
}

TEST(LoadOpenvino, RefusesAPipeAtOnce) {
  const TempFolder top;
  const fs::path pipe = top / "libopenvino_c.so";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto attempt = try_openvino(path_to_utf8(pipe), nothing());
  ASSERT_FALSE(attempt.library.ok());
  EXPECT_TRUE(says(attempt.library.error(), {"neither a file nor a folder"}));
}

TEST(LoadOpenvino, ReadsNoEnvironmentInAPrivilegedProcess) {
  SearchSurroundings around =
      nothing({{"OPENVINO_LIB_PATH", good_file()}, {"INTEL_OPENVINO_DIR", fake_folder("good")}});
  around.privileged = true;
  const auto attempt = try_openvino("", around);
  ASSERT_FALSE(attempt.library.ok());
  EXPECT_TRUE(
      says(attempt.library.error(), {"$OPENVINO_LIB_PATH (not read: this process has more"}));
}

TEST(LoadOpenvino, SearchesAddedPathsThenTheInstallsAndSaysWhereItLooked) {
  const TempFolder top;
  SearchSurroundings around = nothing({{"INTEL_OPENVINO_DIR", top.text() + "/intel"}});
  around.added = {top.text() + "/added"};
  around.standard_folders = {top / "standard"};
  around.system_names = {"libopenvino_c_of_no_system.so", "libopenvino_c_of_no_system.so.1"};
  const auto none = try_openvino("", around);
  ASSERT_FALSE(none.library.ok());
  EXPECT_TRUE(says(none.library.error(),
                   {"OpenVINO not found", "$OPENVINO_LIB_PATH (not set)", "/added (No such file",
                    "$INTEL_OPENVINO_DIR=" + top.text(), "/standard (No such file",
                    "libopenvino_c_of_no_system.so (", ". Install it with: pip install openvino;",
                    "--openvino PATH", "or OPENVINO_LIB_PATH"}));
  ASSERT_EQ(none.steps.size(), 6U);

  fs::create_directories(top / "standard");
  fs::copy(fake_folder("newer"), top / "standard");
  fs::create_directories(top / "intel/runtime/lib/intel64");
  fs::copy(good_file(), top / "intel/runtime/lib/intel64");
  const auto found = try_openvino("", around);
  ASSERT_TRUE(found.library.ok()) << found.library.error().message;
  EXPECT_EQ(found.library->version(), (OpenvinoVersion{2025, 4, 1}));
}

TEST(LoadOpenvino, SaysWhichUsualPlacesHaveNone) {
  SearchSurroundings around = nothing();
  around.standard_pattern = "/opt/openvino*";
  const auto attempt = try_openvino("", around);
  ASSERT_FALSE(attempt.library.ok());
  EXPECT_TRUE(says(attempt.library.error(), {"/opt/openvino* (no such folder)"}));
  const std::string real = real_surroundings().standard_pattern;
  EXPECT_NE(real.find("openvino*"), std::string::npos) << real;
}

TEST(LoadOpenvino, SkipsAnOldVersionOnItsWay) {
  SearchSurroundings around = nothing();
  around.added = {fake_folder("old"), fake_folder("good")};
  const auto attempt = try_openvino("", around);
  ASSERT_TRUE(attempt.library.ok()) << attempt.library.error().message;
  EXPECT_EQ(attempt.library->version(), (OpenvinoVersion{2025, 4, 1}));
}

TEST(LoadOpenvino, RefusesAnOldVersionByItsFileName) {
  const auto attempt = try_openvino(fake_folder("old"), nothing());
  ASSERT_FALSE(attempt.library.ok());
  EXPECT_TRUE(says(attempt.library.error(), {"OpenVINO 2025.0.0 is too old", "2025.1.0 or newer",
                                             ". Correct --openvino PATH", kRemedy}));
  EXPECT_TRUE(SharedLibrary::find_loaded("libopenvino_c.so").empty());
}

TEST(LoadOpenvino, RefusesAnOldVersionByWhatItSays) {
  const auto attempt = try_openvino(fake_folder("old_without_number"), nothing());
  ASSERT_FALSE(attempt.library.ok());
  EXPECT_TRUE(says(attempt.library.error(), {"OpenVINO 2025.0.0 is too old", "2025.1.0 or newer"}));
}

TEST(LoadOpenvino, LoadsNoSecondOneBesideARefusedOneThatStays) {
  SearchSurroundings around = nothing();
  around.added = {fake_folder("old_without_number"), fake_folder("good")};
  const auto attempt = try_openvino("", around);
  // Whether it stays is the system's to decide; both at once must not be.
  const bool stays = SharedLibrary::find_loaded("libopenvino_c.so").native().find("old_without") !=
                     std::string::npos;
  EXPECT_EQ(attempt.library.ok(), !stays);
  if (stays) {
    EXPECT_TRUE(says(attempt.library.error(), {"it stays in this process"}));
  }
}

TEST(LoadOpenvino, RefusesOtherNumbersOfElementTypes) {
  const auto attempt = try_openvino(fake_folder("renumbered"), nothing());
  ASSERT_FALSE(attempt.library.ok());
  EXPECT_TRUE(
      says(attempt.library.error(), {"2025.4.1-0-fake numbers its element types otherwise"}));
}

TEST(LoadOpenvino, NamesAFunctionThatIsNotThere) {
  const auto attempt = try_openvino(fake_folder("without_infer"), nothing());
  ASSERT_FALSE(attempt.library.ok());
  EXPECT_TRUE(
      says(attempt.library.error(), {"it lacks ov_infer_request_infer", "2025.4.1-0-fake"}));
}

TEST(LoadOpenvino, DoesWithoutAnOptionalFunction) {
  const auto attempt = try_openvino(fake_folder("without_last_error"), nothing());
  ASSERT_TRUE(attempt.library.ok()) << attempt.library.error().message;
  EXPECT_EQ((*attempt.library)->ov_get_last_err_msg, nullptr);
}

TEST(LoadOpenvino, RefusesALibraryThatIsNotOpenvinos) {
  const auto attempt = try_openvino("libm.so.6", nothing());
  ASSERT_FALSE(attempt.library.ok());
  EXPECT_TRUE(says(attempt.library.error(), {"libm.so.6 (no usable OpenVINO C library: it lacks "
                                             "ov_get_openvino_version and"}));
}

TEST(LoadOpenvino, FreesWhatItMadeToCheck) {
  void* fake = ::dlopen(good_file().c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(fake, nullptr);
  const auto attempt = try_openvino(good_file(), nothing());
  ASSERT_TRUE(attempt.library.ok()) << attempt.library.error().message;
  const auto count = reinterpret_cast<long long (*)(const char*)>(::dlsym(fake, "fake_count"));
  EXPECT_EQ(count("live"), 0);
  EXPECT_EQ(count("bad_frees"), 0);
  EXPECT_EQ(count("ov_core_create"), 0);
}

TEST(LoadOpenvino, UsesTheOneThatIsAlreadyInTheProcess) {
  ASSERT_NE(::dlopen(good_file().c_str(), RTLD_NOW | RTLD_LOCAL), nullptr);
  SearchSurroundings around = nothing();
  around.added = {fake_folder("newer")};
  const auto attempt = try_openvino("", around);
  ASSERT_TRUE(attempt.library.ok()) << attempt.library.error().message;
  EXPECT_EQ(attempt.library->version(), (OpenvinoVersion{2025, 4, 1}));
}

TEST(LoadOpenvino, RefusesASecondOneBesideTheOneInTheProcess) {
  ASSERT_NE(::dlopen(good_file().c_str(), RTLD_NOW | RTLD_LOCAL), nullptr);
  for (const bool by_variable : {false, true}) {
    const auto attempt =
        by_variable ? try_openvino("", nothing({{"OPENVINO_LIB_PATH", fake_folder("newer")}}))
                    : try_openvino(fake_folder("newer"), nothing());
    ASSERT_FALSE(attempt.library.ok());
    EXPECT_TRUE(says(attempt.library.error(),
                     {"good/libopenvino_c.so.2541 (2025.4.1)",
                      "newer/libopenvino_c.so.2641 (2026.4.1)", "a process has one OpenVINO"}));
  }
}

TEST(LoadOpenvino, SaysWhatToDoInTheWordsOfWhoeverInstallsIt) {
  SearchSurroundings around = nothing();
  around.system_names = {"libopenvino_c_of_no_system.so"};
  around.remedy = "Ask your administrator";
  const auto attempt = try_openvino("", around);
  ASSERT_FALSE(attempt.library.ok());
  EXPECT_TRUE(
      says(attempt.library.error(), {"libopenvino_c_of_no_system.so", ". Ask your administrator"}));
  EXPECT_EQ(attempt.library.error().message.find(kRemedy), std::string::npos);
}

TEST(LoadOpenvino, KeepsASuccessAndRetriesAFailure) {
  ASSERT_EQ(::unsetenv("OPENVINO_LIB_PATH"), 0);
  const TempFolder top;
  ASSERT_FALSE(load_openvino(top.text()).ok());
  ASSERT_FALSE(load_openvino(fake_folder("old")).ok());
  ASSERT_FALSE(load_openvino(path_to_utf8(top.write("notes.txt", "text"))).ok());
  fs::copy(good_file(), top / "libopenvino_c.so.2541");
  const auto first = load_openvino(top.text());
  ASSERT_TRUE(first.ok()) << first.error().message;
  const auto again = load_openvino("");
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(*first, *again);
  EXPECT_EQ((*first)->file(), path_to_utf8(top / "libopenvino_c.so.2541"));
  const auto same = load_openvino(path_to_utf8(top / "libopenvino_c.so.2541"));
  ASSERT_TRUE(same.ok()) << same.error().message;
  const auto other = load_openvino(fake_folder("newer"));
  ASSERT_FALSE(other.ok());
  EXPECT_TRUE(says(other.error(), {"2025.4.1 from " + top.text(), "(2026.4.1)"}));
}

TEST(LoadOpenvino, GivesAllThreadsTheSameOne) {
  std::vector<const OpenvinoLibrary*> got(8, nullptr);
  std::vector<std::thread> threads;
  for (auto& result : got) {
    threads.emplace_back([&result] {
      const auto library = load_openvino(fake_folder("good"));
      if (library.ok()) result = *library;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const OpenvinoLibrary* library : got) {
    EXPECT_NE(library, nullptr);
    EXPECT_EQ(library, got[0]);
  }
}

TEST(SearchOpenvino, ListsTheCopiesThatItDidNotLoad) {
  ASSERT_EQ(::setenv("OPENVINO_LIB_PATH", fake_folder("newer").c_str(), 1), 0);
  add_openvino_path(fake_folder("old"));
  add_openvino_path(fake_folder("good"));
  const OpenvinoSearch search = search_openvino("");
  ASSERT_TRUE(search.library.ok()) << search.library.error().message;
  EXPECT_EQ((*search.library)->version(), (OpenvinoVersion{2026, 4, 1}));
  ASSERT_GE(search.others.size(), 2U);
  EXPECT_NE(search.others[0].find("libopenvino_c.so.2500 (2025.0.0)"), std::string::npos);
  EXPECT_NE(search.others[1].find("libopenvino_c.so.2541 (2025.4.1)"), std::string::npos);
}

}  // namespace
}  // namespace pteron
