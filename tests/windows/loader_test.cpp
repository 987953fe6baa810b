// Loading OpenVINO on Windows. ctest runs each test in a process of its own: a process has one
// OpenVINO. Codes and our own words are looked at, not the system's.
#include <windows.h>
// windows.h comes first.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <vector>

#include "base/environment.h"
#include "base/environment_windows.h"
#include "base/file_system.h"
#include "base/mapped_file.h"
#include "base/paths.h"
#include "base/system_text_windows.h"
#include "base/temp_folder.h"
#include "openvino/installation.h"
#include "openvino/library.h"
#include "pteron/pteron.h"

namespace pteron {
namespace {

namespace fs = std::filesystem;

const std::string kFakes = PTERON_FAKE_OPENVINO_DIR;
const std::string kSmall = PTERON_LOADER_LIBRARIES;
const std::string kGood = kFakes + "/good/openvino_c.dll";

SearchSurroundings nothing(std::map<std::string, std::string> variables = {}) {
  SearchSurroundings around;
  around.variable = [variables](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  return around;
}

// Nothing is named, so the system is asked for openvino_c.dll.
SearchSurroundings by_name_only() {
  SearchSurroundings around = nothing();
  around.system_names = system_library_names(Os::Windows);
  return around;
}

testing::AssertionResult loads(const OpenvinoAttempt& attempt, const fs::path& file) {
  if (!attempt.library.ok()) {
    return testing::AssertionFailure() << attempt.library.error().message;
  }
  if (!is_same_file(path_from_utf8(attempt.library->file()), file)) {
    return testing::AssertionFailure() << "loaded " << attempt.library->file();
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult fails_with(const OpenvinoAttempt& attempt,
                                    std::initializer_list<std::string> words) {
  if (attempt.library.ok()) return testing::AssertionFailure() << attempt.library->file();
  const Error& error = attempt.library.error();
  if (error.code != Code::Missing) return testing::AssertionFailure() << "another code";
  if (error.message.find_first_of("\r\n") != std::string::npos) {
    return testing::AssertionFailure() << "more than one line: " << error.message;
  }
  for (const std::string& word : words) {
    if (error.message.find(word) == std::string::npos) {
      return testing::AssertionFailure() << "lacks \"" << word << "\": " << error.message;
    }
  }
  std::printf("%s\n", error.message.c_str());  // For whoever reads the log.
  return testing::AssertionSuccess();
}

bool is_loaded(const wchar_t* name) { return GetModuleHandleW(name) != nullptr; }
bool planted_ran() { return read_environment("PTERON_TEST_PLANTED").has_value(); }

// std::filesystem and the C runtime end at 260 characters on a real Windows.
void make_long_folders(const fs::path& folder) {
  if (file_status(folder).kind == FileKind::Folder) return;
  make_long_folders(folder.parent_path());
  ASSERT_TRUE(CreateDirectoryW(system_path(folder).c_str(), nullptr)) << GetLastError();
}
void copy_long(const fs::path& from, const fs::path& to) {
  ASSERT_TRUE(CopyFileW(system_path(from).c_str(), system_path(to).c_str(), TRUE))
      << GetLastError();
}

// OpenVINO's own DLLs; empty if they are not on this machine.
std::string real_openvino(const std::string& version) {
  const std::string folder =
      PTERON_WINDOWS_KIT "/openvino-" + version + "/openvino/libs/openvino_c.dll";
  return file_status(path_from_utf8(folder)).kind == FileKind::File
             ? path_to_utf8(path_from_utf8(folder).parent_path())
             : "";
}

#define NEEDS_REAL_OPENVINO(name, version)         \
  const std::string name = real_openvino(version); \
  if (name.empty()) GTEST_SKIP() << "no OpenVINO " version " for Windows in " PTERON_WINDOWS_KIT

// ---- What is planted
// -----------------------------------------------------------------------------

TEST(Loader, LoadsNoDllThatIsPlantedInTheCurrentFolder) {
  const TempFolder top;
  fs::copy(kSmall + "/planted/openvino_c.dll", top / "openvino_c.dll");
  fs::current_path(top.path());
  EXPECT_TRUE(fails_with(try_openvino("", by_name_only()),
                         {"openvino_c.dll (it is neither in the program's folder nor in the "
                          "system's",
                          "(error 126)"}));
  EXPECT_TRUE(fails_with(try_openvino("openvino_c.dll", nothing()),
                         {"for the file in the current folder write ./openvino_c.dll"}));
  EXPECT_FALSE(is_loaded(L"openvino_c.dll"));
  EXPECT_FALSE(planted_ran());
  // The plant works: whoever names it gets it.
  EXPECT_TRUE(fails_with(try_openvino("./openvino_c.dll", nothing()),
                         {"no usable OpenVINO C library: it lacks"}));
  EXPECT_TRUE(planted_ran());
}

TEST(Loader, LoadsNoDllThatIsPlantedOnPath) {
  const TempFolder top;
  fs::copy(kSmall + "/planted/openvino_c.dll", top / "openvino_c.dll");
  const std::wstring path =
      top.path().native() + L";" + wide_from_utf8(read_environment("PATH").value_or(""));
  ASSERT_TRUE(SetEnvironmentVariableW(L"PATH", path.c_str()));
  EXPECT_TRUE(fails_with(try_openvino("", by_name_only()), {"(error 126)"}));
  EXPECT_FALSE(is_loaded(L"openvino_c.dll"));
  EXPECT_FALSE(planted_ran());
  // The plant works: a search as of old finds it.
  EXPECT_NE(LoadLibraryW(L"openvino_c.dll"), nullptr);
  EXPECT_TRUE(planted_ran());
}

TEST(Loader, LoadsNoDependencyThatIsPlantedInTheCurrentFolderOrOnPath) {
  const TempFolder top;
  const TempFolder bait;
  fs::copy(kSmall + "/split/openvino_c.dll", top / "openvino_c.dll");
  for (const char* name : {"openvino.dll", "tbb12.dll"}) {
    fs::copy(kSmall + "/split/" + name, bait / name);
  }
  fs::current_path(bait.path());
  ASSERT_TRUE(SetEnvironmentVariableW(L"PATH", bait.path().c_str()));
  EXPECT_TRUE(fails_with(try_openvino(top.text(), nothing()), {"it needs openvino.dll"}));
  EXPECT_FALSE(is_loaded(L"openvino.dll"));
}

// ---- Ways to name it
// -----------------------------------------------------------------------------

TEST(Loader, TakesAFullPath) { EXPECT_TRUE(loads(try_openvino(kGood, nothing()), kGood)); }

TEST(Loader, TakesAFolder) { EXPECT_TRUE(loads(try_openvino(kFakes + "/good", nothing()), kGood)); }

TEST(Loader, TakesBackslashesAndForwardSlashes) {
  for (const char slash : {'/', '\\'}) {
    std::string path = path_to_utf8(fs::absolute(kGood));
    std::replace(path.begin(), path.end(), slash == '/' ? '\\' : '/', slash);
    EXPECT_TRUE(loads(try_openvino(path, nothing()), kGood)) << path;
  }
}

TEST(Loader, TakesARelativePath) {
  const TempFolder top;
  fs::create_directory(top / "sub");
  fs::copy(kGood, top / "sub/openvino_c.dll");
  fs::current_path(top / "sub");
  for (const char* path : {"./openvino_c.dll", "..\\sub\\openvino_c.dll", "../sub", "."}) {
    EXPECT_TRUE(loads(try_openvino(path, nothing()), top / "sub/openvino_c.dll")) << path;
  }
}

TEST(Loader, TakesAFolderWithSpacesAndLettersOutsideAscii) {
  const TempFolder top;
  const fs::path folder = top / path_from_utf8("привет 模型 é");
  fs::create_directory(folder);
  for (const char* name : {"openvino_c.dll", "openvino.dll", "tbb12.dll"}) {
    fs::copy(kSmall + "/split/" + name, folder / name);
  }
  const auto attempt = try_openvino(path_to_utf8(folder), nothing());
  ASSERT_TRUE(loads(attempt, folder / "openvino_c.dll"));
  EXPECT_NE(attempt.library->file().find("привет 模型 é"), std::string::npos);
}

TEST(Loader, TakesAPathOver260Characters) {
  const TempFolder top;
  fs::path folder = top.path();
  while (folder.native().size() < 400)
    folder /= "a folder with a long name, so that it is too long";
  make_long_folders(folder);
  for (const char* name : {"openvino_c.dll", "openvino.dll", "tbb12.dll"}) {
    copy_long(kSmall + "/split/" + name, folder / name);
  }
  EXPECT_TRUE(loads(try_openvino(path_to_utf8(folder / "openvino_c.dll"), nothing()),
                    folder / "openvino_c.dll"));
  EXPECT_TRUE(loads(try_openvino(path_to_utf8(folder), nothing()), folder / "openvino_c.dll"));
}

TEST(Loader, TakesWhatIsNoUtf8ForAPathThatIsNotThere) {
  EXPECT_TRUE(fails_with(try_openvino("C:/\xff\xfe/openvino_c.dll", nothing()), {"(error "}));
}

// ---- The variable
// --------------------------------------------------------------------------------

TEST(Loader, ReadsAVariableThatIsSetAfterStartUp) {
  ASSERT_TRUE(SetEnvironmentVariableW(L"OPENVINO_LIB_PATH", nullptr));
  ASSERT_FALSE(load_openvino("").ok());
  ASSERT_TRUE(SetEnvironmentVariableW(L"OPENVINO_LIB_PATH", wide_from_utf8(kGood).c_str()));
  const auto loaded = load_openvino("");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_TRUE(is_same_file(path_from_utf8((*loaded)->file()), kGood));
}

// What a reader answers each time it is asked.
class Growing {
 public:
  explicit Growing(std::vector<std::wstring> values) : values_(std::move(values)) {}
  DWORD operator()(wchar_t* buffer, DWORD size) {
    const std::wstring& value = values_[std::min(calls_++, values_.size() - 1)];
    if (value.size() + 1 > size) return static_cast<DWORD>(value.size() + 1);
    std::copy_n(value.c_str(), value.size() + 1, buffer);
    return static_cast<DWORD>(value.size());
  }

 private:
  std::vector<std::wstring> values_;
  size_t calls_ = 0;
};

TEST(Loader, ReadsAVariableThatGrowsWhileItIsRead) {
  const std::wstring last(30000, L'd');
  EXPECT_EQ(read_variable(Growing({std::wstring(200, L'a'), std::wstring(900, L'b'),
                                   std::wstring(5000, L'c'), last})),
            last);
  // At each side of the first buffer's end, and shrinking.
  for (const size_t size : {126, 127, 128, 129, 130}) {
    const std::wstring value(size, L'x');
    EXPECT_EQ(read_variable(Growing({value})), value);
  }
  EXPECT_EQ(read_variable(Growing({std::wstring(500, L'a'), L"short"})), L"short");
  EXPECT_EQ(read_variable(Growing({std::wstring(500, L'a'), L""})), L"");
  EXPECT_EQ(read_variable([](wchar_t*, DWORD) {
              SetLastError(ERROR_ENVVAR_NOT_FOUND);
              return DWORD{0};
            }),
            std::nullopt);
}

TEST(Loader, RefusesAnEmptyVariable) {
  // The system itself has no empty variables set by SetEnvironmentVariable of old; this one is.
  EXPECT_TRUE(
      fails_with(try_openvino("", nothing({{"OPENVINO_LIB_PATH", ""}})),
                 {"$OPENVINO_LIB_PATH (set, but empty; unset it", "Correct OPENVINO_LIB_PATH"}));
  ASSERT_TRUE(SetEnvironmentVariableW(L"OPENVINO_LIB_PATH", L""));
  const auto loaded = load_openvino("");
  ASSERT_FALSE(loaded.ok());
  EXPECT_NE(loaded.error().message.find("$OPENVINO_LIB_PATH (set, but empty"), std::string::npos)
      << loaded.error().message;
}

// ---- What is wrong with it
// -----------------------------------------------------------------------

TEST(Loader, TakesAGoodOneAfterFailuresInTheSameProcess) {
  const TempFolder top;
  ASSERT_TRUE(SetEnvironmentVariableW(L"OPENVINO_LIB_PATH", nullptr));
  ASSERT_FALSE(load_openvino(top.text()).ok());
  ASSERT_FALSE(load_openvino(path_to_utf8(top.write("openvino_c.dll", "text"))).ok());
  ASSERT_FALSE(load_openvino(kFakes + "/old").ok());
  ASSERT_FALSE(load_openvino(kSmall + "/planted").ok());
  const auto loaded = load_openvino(kGood);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ((*loaded)->version(), (OpenvinoVersion{2025, 4, 1}));
}

TEST(Loader, NamesATextFile) {
  const TempFolder top;
  const std::string file = path_to_utf8(top.write("openvino_c.dll", "not a library\n"));
  EXPECT_TRUE(fails_with(
      try_openvino(file, nothing()),
      {"openvino_c.dll (it is no DLL: it does not begin as a DLL does (MZ)", "(error 193)"}));
  EXPECT_TRUE(fails_with(try_openvino("", nothing({{"OPENVINO_LIB_PATH", file}})),
                         {"$OPENVINO_LIB_PATH=" + file}));
}

TEST(Loader, NamesADllForAnotherMachine) {
  const TempFolder top;
  const auto bytes = read_file(kGood);
  ASSERT_TRUE(bytes.ok());
  std::string text(reinterpret_cast<const char*>(bytes->bytes.data()), bytes->bytes.size());
  const size_t header =
      static_cast<unsigned char>(text[60]) + 256U * static_cast<unsigned char>(text[61]);
  text[header + 4] = '\x64';  // ARM64, which is 0xaa64.
  text[header + 5] = '\xaa';
  const std::string file = path_to_utf8(top.write("openvino_c.dll", text));
  EXPECT_TRUE(fails_with(try_openvino(file, nothing()),
                         {"it is for ARM64, and this process is for x86-64"}));
}

TEST(Loader, NamesTheDependencyThatIsMissing) {
  const TempFolder top;
  fs::copy(kSmall + "/split/openvino_c.dll", top / "openvino_c.dll");
  EXPECT_TRUE(fails_with(try_openvino(top.text(), nothing()),
                         {"it needs openvino.dll, which is neither beside it nor among the "
                          "system's DLLs (",
                          "(error 126)"}));
  fs::copy(kSmall + "/split/openvino.dll", top / "openvino.dll");
  EXPECT_TRUE(fails_with(try_openvino(top.text(), nothing()),
                         {"its openvino.dll needs tbb12.dll", "(error 126)"}));
  fs::copy(kSmall + "/split/tbb12.dll", top / "tbb12.dll");
  EXPECT_TRUE(loads(try_openvino(top.text(), nothing()), top / "openvino_c.dll"));
}

TEST(Loader, NamesADependencyThatIsNoDll) {
  const TempFolder top;
  fs::copy(kSmall + "/split/openvino_c.dll", top / "openvino_c.dll");
  fs::copy(kSmall + "/split/openvino.dll", top / "openvino.dll");
  top.write("tbb12.dll", "cut short");
  EXPECT_TRUE(fails_with(try_openvino(top.text(), nothing()),
                         {"its openvino.dll needs tbb12.dll", "tbb12.dll is no DLL"}));
}

TEST(Loader, NamesTheRedistributableWhereVisualCppsRuntimeIsMissing) {
  EXPECT_TRUE(fails_with(try_openvino(kSmall + "/needs_runtime", nothing()),
                         {"it needs msvcp140_9.dll", "(error 126)",
                          "install Microsoft's Visual C++ redistributable for x86-64"}));
}

TEST(Loader, FindsTbbWhereAnArchiveHasIt) {
  const TempFolder top;
  const fs::path folder = top / "runtime/bin/intel64/Release";
  const fs::path tbb = top / "runtime/3rdparty/tbb/bin";
  fs::create_directories(folder);
  fs::create_directories(tbb);
  fs::copy(kSmall + "/split/openvino_c.dll", folder / "openvino_c.dll");
  fs::copy(kSmall + "/split/openvino.dll", folder / "openvino.dll");
  fs::copy(kSmall + "/split/tbb12.dll", tbb / "tbb12.dll");
  EXPECT_TRUE(loads(try_openvino(top.text(), nothing()), folder / "openvino_c.dll"));
  // The folder was the loader's for that moment only.
  EXPECT_EQ(LoadLibraryExW(L"no_such.dll", nullptr, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS), nullptr);
  EXPECT_FALSE(is_loaded(L"no_such.dll"));
}

// ---- One OpenVINO a process
// ----------------------------------------------------------------------

TEST(Loader, RefusesAnotherOneThanTheProcessHas) {
  const TempFolder other;
  for (const char* name : {"openvino.dll", "tbb12.dll"}) {
    fs::copy(kSmall + "/split/" + name, other / name);
  }
  ASSERT_NE(LoadLibraryExW((other / "openvino.dll").c_str(), nullptr,
                           LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS),
            nullptr);
  const std::string mine = path_to_utf8(real_path(kSmall + "/split/openvino_c.dll"));
  EXPECT_TRUE(
      fails_with(try_openvino(kSmall + "/split", nothing()),
                 {path_to_utf8(other / "openvino.dll"), mine, "a process has one OpenVINO"}));
  EXPECT_FALSE(is_loaded(L"openvino_c.dll"));
}

TEST(Loader, TakesTheOneThatTheProcessHasByAnyOfItsNames) {
  const std::string folder = kFakes + "/good";
  ASSERT_NE(LoadLibraryW(system_path(path_from_utf8(kGood)).c_str()), nullptr);
  for (const std::string& name : {std::string("openvino_c.dll"), std::string("OpenVINO_C.DLL"),
                                  folder, folder + "/OPENVINO_C.dll", std::string()}) {
    EXPECT_TRUE(loads(try_openvino(name, nothing()), kGood)) << name;
  }
}

TEST(Loader, RefusesACLibraryThatGotTheCoreOfAnotherFolder) {
  const TempFolder other;
  const TempFolder mine;
  fs::copy(kSmall + "/split/openvino_c.dll", mine / "openvino_c.dll");
  for (const char* name : {"openvino.dll", "tbb12.dll"}) {
    fs::copy(kSmall + "/split/" + name, other / name);
  }
  // As in the program's folder: a place that the loader searches.
  ASSERT_NE(AddDllDirectory(other.path().c_str()), nullptr);
  EXPECT_TRUE(fails_with(try_openvino(mine.text(), nothing()),
                         {path_to_utf8(mine / "openvino_c.dll"),
                          path_to_utf8(other / "openvino.dll"), "which is not the one beside it"}));
}

// ---- OpenVINO's own DLLs
// -------------------------------------------------------------------------

void expect_a_working_core(const std::string& folder, OpenvinoVersion version) {
  const auto attempt = try_openvino(folder, nothing());
  ASSERT_TRUE(attempt.library.ok()) << attempt.library.error().message;
  const OpenvinoLibrary& ov = *attempt.library;
  EXPECT_EQ(ov.version(), version);
  ov::ov_core_t* core = nullptr;
  ASSERT_EQ(ov->ov_core_create(&core), ov::ov_status_e::Ok);
  const auto reads = check_reads_models(ov, core);
  EXPECT_TRUE(reads.ok()) << reads.error().message;
  ov->ov_core_free(core);
}

TEST(RealLoader, LoadsOpenvino2025) {
  NEEDS_REAL_OPENVINO(folder, "2025.4.1");
  expect_a_working_core(folder, {2025, 4, 1});
}

TEST(RealLoader, LoadsOpenvino2026) {
  NEEDS_REAL_OPENVINO(folder, "2026.4.1");
  expect_a_working_core(folder, {2026, 4, 1});
}

void copy_dlls(const std::string& from, const fs::path& to, const std::string& left_out = "") {
  fs::create_directories(to);
  for (const FolderEntry& entry : list_folder(path_from_utf8(from))) {
    const bool is_needed = entry.name == "openvino_c.dll" || entry.name == "openvino.dll" ||
                           entry.name == "openvino_ir_frontend.dll" ||
                           entry.name.starts_with("tbb");
    if (is_needed && entry.name != left_out) {
      fs::copy(path_from_utf8(from) / entry.name, to / entry.name);
    }
  }
}

TEST(RealLoader, LoadsFromAFolderWithSpacesAndLettersOutsideAscii) {
  NEEDS_REAL_OPENVINO(real, "2025.4.1");
  const TempFolder top;
  copy_dlls(real, top / path_from_utf8("привет 模型 é"));
  expect_a_working_core(path_to_utf8(top / path_from_utf8("привет 模型 é")), {2025, 4, 1});
}

TEST(RealLoader, NamesTbbWhereItIsMissing) {
  NEEDS_REAL_OPENVINO(real, "2025.4.1");
  const TempFolder top;
  copy_dlls(real, top.path(), "tbb12.dll");
  EXPECT_TRUE(fails_with(try_openvino(top.text(), nothing()), {"needs tbb12.dll", "(error 126)"}));
  fs::copy(path_from_utf8(real) / "tbb12.dll", top / "tbb12.dll");
  EXPECT_TRUE(loads(try_openvino(top.text(), nothing()), top / "openvino_c.dll"));
}

TEST(RealLoader, RefusesTheSecondVersionOfTwo) {
  NEEDS_REAL_OPENVINO(first, "2025.4.1");
  NEEDS_REAL_OPENVINO(second, "2026.4.1");
  const auto loaded = try_openvino(first, nothing());
  ASSERT_TRUE(loaded.library.ok()) << loaded.library.error().message;
  EXPECT_TRUE(fails_with(try_openvino(second, nothing()),
                         {"openvino-2025.4.1", "openvino-2026.4.1", "a process has one OpenVINO"}));
}

// What Windows does where nobody looks: the second C library works on the first one's core.
TEST(RealLoader, RefusesAnOpenvinoOfAnotherVersionThatTheSystemWouldMix) {
  NEEDS_REAL_OPENVINO(first, "2025.4.1");
  NEEDS_REAL_OPENVINO(second, "2026.4.1");
  constexpr DWORD kFlags = LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS;
  ASSERT_NE(
      LoadLibraryExW(system_path(path_from_utf8(first + "/openvino.dll")).c_str(), nullptr, kFlags),
      nullptr);
  EXPECT_TRUE(fails_with(try_openvino(second, nothing()),
                         {"openvino-2025.4.1", "openvino-2026.4.1", "a process has one OpenVINO"}));
  EXPECT_FALSE(is_loaded(L"openvino_c.dll"));
}

// The functions of pteron.dll, opened by hand.
class Library {
 public:
  Library() : module_(LoadLibraryW(wide_from_utf8(PTERON_LIBRARY).c_str())) {}
  bool ok() const { return module_ != nullptr; }
  template <typename Function>
  Function* find(const char* name) const {
    return reinterpret_cast<Function*>(reinterpret_cast<void (*)()>(GetProcAddress(module_, name)));
  }
  void free() { EXPECT_TRUE(FreeLibrary(module_)) << GetLastError(); }

 private:
  HMODULE module_;
};

void run_and_free(const std::string& model, const std::string& openvino) {
  Library library;
  ASSERT_TRUE(library.ok()) << GetLastError();
  const auto open = library.find<decltype(pteron_program_open)>("pteron_program_open");
  const auto load = library.find<decltype(pteron_method_load)>("pteron_method_load");
  const auto bind = library.find<decltype(pteron_method_bind_input)>("pteron_method_bind_input");
  const auto start = library.find<decltype(pteron_method_start)>("pteron_method_start");
  const auto wait = library.find<decltype(pteron_method_wait)>("pteron_method_wait");
  const auto free_method = library.find<decltype(pteron_method_free)>("pteron_method_free");
  const auto free_program = library.find<decltype(pteron_program_free)>("pteron_program_free");
  const auto text = library.find<decltype(pteron_error_message)>("pteron_error_message");

  pteron_program_options options = PTERON_INIT(pteron_program_options);
  options.openvino = openvino.empty() ? nullptr : openvino.c_str();
  options.threads = 2;
  pteron_program* program = nullptr;
  pteron_method* method = nullptr;
  pteron_error* error = nullptr;
  const std::string path = std::string(PTERON_TEST_DATA) + "/models/" + model;
  ASSERT_EQ(open(path.c_str(), &options, &program, &error), PTERON_OK) << text(error);
  ASSERT_EQ(load(program, nullptr, nullptr, &method, &error), PTERON_OK) << text(error);
  static float zeros[8 * 1024];
  const int64_t shape[] = {8, 1024};
  pteron_value in{};
  in.kind = PTERON_KIND_TENSOR;
  in.as.tensor.data = zeros;
  in.as.tensor.dtype = PTERON_FLOAT32;
  in.as.tensor.rank = 2;
  in.as.tensor.shape = shape;
  ASSERT_EQ(bind(method, 0, &in, &error), PTERON_OK) << text(error);
  ASSERT_EQ(start(method, &error), PTERON_OK) << text(error);
  ASSERT_EQ(wait(method, &error), PTERON_OK) << text(error);
  free_method(method);
  free_program(program);
  library.free();
}

// That the process ends with 0 is for ctest to see.
TEST(Unload, OfPteronAfterARunLeavesOpenvinoAndEndsWell) {
  NEEDS_REAL_OPENVINO(folder, "2025.4.1");
  for (int i = 0; i < 5; ++i) {
    run_and_free("crepe_openvino.pte", folder);
    EXPECT_TRUE(is_loaded(L"openvino_c.dll"));
    EXPECT_TRUE(is_loaded(L"openvino.dll"));
  }
}

TEST(Unload, OfPteronAfterARunOnItsKernelsEndsWell) {
  for (int i = 0; i < 5; ++i) {
    run_and_free("crepe_portable.pte", "");
    EXPECT_FALSE(is_loaded(L"pteron.dll"));
  }
}

}  // namespace
}  // namespace pteron
