// Files and the console on Windows: locked ones, long names, letters outside ASCII, Ctrl-C.
#include <windows.h>
// windows.h comes first.
#include <gtest/gtest.h>

#include <cstdio>
#include <optional>
#include <ostream>
#include <string>

#include "base/file_system.h"
#include "base/mapped_file.h"
#include "base/paths.h"
#include "base/system_text_windows.h"
#include "base/temp_folder.h"
#include "files.h"

namespace pteron {
namespace {

namespace fs = std::filesystem;

const fs::path kCommand = path_from_utf8(PTERON_COMMAND);

std::string text_of(const FileContents& file) {
  return {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()};
}

// A file that somebody holds, others being allowed to do what `share` says.
class Held {
 public:
  Held(const fs::path& path, DWORD access, DWORD share)
      : handle_(CreateFileW(path.c_str(), access, share, nullptr, OPEN_EXISTING, 0, nullptr)) {
    EXPECT_NE(handle_, INVALID_HANDLE_VALUE) << GetLastError();
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { CloseHandle(handle_); }

 private:
  HANDLE handle_;
};

std::string refusal(const fs::path& path, const std::string& content) {
  try {
    tools::write_file(path_to_utf8(path), [&](std::ostream& out) { out << content; });
    return "";
  } catch (const tools::UsageError& e) {
    return e.what();
  }
}

TEST(MapFileOnWindows, NamesAFileThatAnotherProgramWritesTo) {
  const TempFolder top;
  const fs::path path = top.write("model.pte", "content");
  const Held writer(path, GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE);
  for (const auto open : {map_file, read_file}) {
    const auto file = open(path_to_utf8(path));
    ASSERT_FALSE(file.ok());
    EXPECT_EQ(file.error().code, Code::Io);
    EXPECT_NE(file.error().message.find("another program has it open for writing"),
              std::string::npos);
    EXPECT_NE(file.error().message.find("(error 32)"), std::string::npos);
  }
}

TEST(MapFileOnWindows, TakesAPathOver260Characters) {
  const TempFolder top;
  fs::path folder = top.path();
  while (folder.native().size() < 400) {
    folder /= path_from_utf8("папка with a long name 模型");
    ASSERT_TRUE(CreateDirectoryW(system_path(folder).c_str(), nullptr)) << GetLastError();
  }
  const fs::path path = folder / "model.pte";
  EXPECT_EQ(refusal(path, "content"), "");
  for (const auto open : {map_file, read_file}) {
    const auto file = open(path_to_utf8(path));
    ASSERT_TRUE(file.ok()) << file.error().message;
    EXPECT_EQ(text_of(*file), "content");
  }
  EXPECT_EQ(list_folder(folder).size(), 1U);  // And no part of it beside it.
}

TEST(SystemPath, IsAbsoluteAndHasItsPrefixOnlyWhereItMust) {
  const TempFolder top;
  fs::current_path(top.path());
  EXPECT_EQ(system_path("a/b/../c.dll"), (top / "a" / "c.dll").native());
  const std::wstring name(300, L'n');
  EXPECT_EQ(system_path(L"C:/" + name), L"\\\\?\\C:\\" + name);
  EXPECT_EQ(system_path(L"//server/share/" + name), L"\\\\?\\UNC\\server\\share\\" + name);
  EXPECT_EQ(system_path(L"\\\\?\\C:\\" + name), L"\\\\?\\C:\\" + name);
  EXPECT_EQ(plain_path(L"\\\\?\\C:\\" + name), L"C:\\" + name);
  EXPECT_EQ(plain_path(L"\\\\?\\UNC\\server\\share"), L"\\\\server\\share");
  EXPECT_EQ(plain_path(L"\\\\?\\Volume{1}\\a"), L"\\\\?\\Volume{1}\\a");
  EXPECT_EQ(plain_path(L"C:\\a"), L"C:\\a");
}

TEST(SystemErrorText, IsOneLineWithTheNumber) {
  for (const DWORD number : {2UL, 5UL, 126UL, 193UL, 1114UL, 999999UL}) {
    const std::string text = system_error_text(number);
    EXPECT_NE(text.find(" (error " + std::to_string(number) + ")"), std::string::npos);
    EXPECT_EQ(text.find_first_of("\r\n%"), std::string::npos) << text;
  }
}

TEST(Utf8, TakesWhatIsNone) {
  EXPECT_EQ(wide_from_utf8("a\xff"), L"a\xfffd");
  EXPECT_EQ(utf8_from_wide(L"a\xd800"), "a\xef\xbf\xbd");  // Half of a pair.
  EXPECT_EQ(path_to_utf8(path_from_utf8("привет 模型 é")), "привет 模型 é");
}

TEST(WriteFileOnWindows, ExplainsAFileThatIsHeld) {
  const TempFolder top;
  const fs::path path = top.write("out.npz", "before");
  {
    const Held reader(path, GENERIC_READ, FILE_SHARE_READ);
    const std::string why = refusal(path, "after");
    EXPECT_NE(why.find("Windows replaces no file that a program has open or mapped"),
              std::string::npos)
        << why;
    EXPECT_NE(why.find("(error "), std::string::npos) << why;
  }
  EXPECT_EQ(tools::read_file(path_to_utf8(path)), "before");
  EXPECT_EQ(list_folder(top.path()).size(), 1U);
  EXPECT_EQ(refusal(path, "after"), "");
  EXPECT_EQ(tools::read_file(path_to_utf8(path)), "after");
}

TEST(MapFileOnWindows, LocksTheFileUnlessItIsRead) {
  const TempFolder top;
  const fs::path path = top.write("model.pte", std::string(100000, 'x'));
  const auto cut = [&] {
    const HANDLE file = CreateFileW(path.c_str(), GENERIC_WRITE, 0, nullptr, TRUNCATE_EXISTING,
                                    FILE_ATTRIBUTE_NORMAL, nullptr);
    const DWORD number = file == INVALID_HANDLE_VALUE ? GetLastError() : 0;
    if (number == 0) CloseHandle(file);
    return number;
  };
  {
    const auto mapped = map_file(path_to_utf8(path));
    ASSERT_TRUE(mapped.ok()) << mapped.error().message;
    EXPECT_EQ(cut(), static_cast<DWORD>(ERROR_USER_MAPPED_FILE));
    EXPECT_EQ(text_of(*mapped), std::string(100000, 'x'));
  }
  const auto read = read_file(path_to_utf8(path));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(cut(), 0U);
  EXPECT_EQ(text_of(*read), std::string(100000, 'x'));
}

TEST(WriteFileOnWindows, ExplainsAFileThatIsMapped) {
  const TempFolder top;
  const fs::path path = top.write("model.pte", "before");
  auto mapped = map_file(path_to_utf8(path));
  ASSERT_TRUE(mapped.ok()) << mapped.error().message;
  const std::string why = refusal(path, "after");
  EXPECT_NE(why.find("Windows replaces no file that a program has open or mapped, as a .pte is"),
            std::string::npos)
      << why;
  EXPECT_EQ(text_of(*mapped), "before");
  *mapped = FileContents{};
  EXPECT_EQ(refusal(path, "after"), "");
}

// ---- Processes of their own
// ----------------------------------------------------------------------

struct Started {
  PROCESS_INFORMATION process{};
  HANDLE output = nullptr;  // What it writes to either stream; null if it writes to the console.

  // The exit status, or nothing after `seconds`.
  std::optional<DWORD> wait(DWORD seconds) const {
    if (WaitForSingleObject(process.hProcess, seconds * 1000) != WAIT_OBJECT_0) {
      TerminateProcess(process.hProcess, 1);
      return std::nullopt;
    }
    DWORD code = 0;
    GetExitCodeProcess(process.hProcess, &code);
    return code;
  }
  // Up to `end`, or to the stream's end where that does not come.
  std::string read_to(const std::string& end) const {
    std::string text;
    char byte = 0;
    DWORD got = 0;
    while (text.find(end) == std::string::npos && ReadFile(output, &byte, 1, &got, nullptr) &&
           got) {
      text += byte;
    }
    return text;
  }
};

Started start(std::wstring command, DWORD flags = 0) {
  Started started;
  SECURITY_ATTRIBUTES inherited{sizeof(inherited), nullptr, TRUE};
  HANDLE write_end = nullptr;
  EXPECT_TRUE(CreatePipe(&started.output, &write_end, &inherited, 0));
  SetHandleInformation(started.output, HANDLE_FLAG_INHERIT, 0);
  STARTUPINFOW how{};
  how.cb = sizeof(how);
  how.dwFlags = STARTF_USESTDHANDLES;
  how.hStdOutput = write_end;
  how.hStdError = write_end;
  EXPECT_TRUE(CreateProcessW(nullptr, command.data(), nullptr, nullptr, TRUE, flags, nullptr,
                             nullptr, &how, &started.process))
      << GetLastError();
  CloseHandle(write_end);
  return started;
}

std::wstring quoted(const fs::path& path) { return L"\"" + path.native() + L"\""; }

// A console, in which Ctrl-C reaches us, who go on, and those whom we start.
bool open_console() {
  if (GetConsoleWindow() == nullptr) {
    FreeConsole();
    if (!AllocConsole()) return false;
  }
  SetConsoleCtrlHandler(nullptr, FALSE);
  return SetConsoleCtrlHandler([](DWORD) -> BOOL { return TRUE; }, TRUE);
}

void write_half_and_wait(const fs::path& folder) {
  tools::write_file(path_to_utf8(folder / "out.npz"), [&](std::ostream& out) {
    out << "half" << std::flush;
    std::printf("files: %d;", static_cast<int>(list_folder(folder).size()));
    std::fflush(stdout);
    Sleep(20000);
  });
}

// Starts itself: the variable tells the one that is interrupted.
TEST(WriteFileOnWindows, LeavesNothingAtCtrlC) {
  wchar_t folder[MAX_PATH];
  if (GetEnvironmentVariableW(L"PTERON_TEST_INTERRUPTED", folder, MAX_PATH) != 0) {
    return write_half_and_wait(folder);
  }
  const TempFolder top;
  ASSERT_TRUE(open_console()) << GetLastError();
  ASSERT_TRUE(SetEnvironmentVariableW(L"PTERON_TEST_INTERRUPTED", top.path().c_str()));
  wchar_t self[MAX_PATH];
  ASSERT_NE(GetModuleFileNameW(nullptr, self, MAX_PATH), 0U);
  const Started child =
      start(quoted(self) + L" --gtest_filter=WriteFileOnWindows.LeavesNothingAtCtrlC");
  // The half is there, so that it could be left behind.
  EXPECT_NE(child.read_to("files: 1;").find("files: 1;"), std::string::npos);
  ASSERT_TRUE(GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0)) << GetLastError();
  EXPECT_TRUE(child.wait(10).has_value()) << "the interrupt did not end it";
  EXPECT_EQ(list_folder(top.path()).size(), 0U);
}

TEST(CommandOnWindows, EndsAtCtrlCWithTheSystemsStatusForIt) {
  ASSERT_TRUE(open_console()) << GetLastError();
  const Started command =
      start(quoted(kCommand) + L" bench --hint latency --seconds 100 " +
            quoted(path_from_utf8(PTERON_TEST_DATA)) + L"/models/crepe_portable.pte");
  // That is said just before the first run.
  EXPECT_NE(command.read_to("without effect").find("without effect"), std::string::npos);
  ASSERT_TRUE(GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0)) << GetLastError();
  EXPECT_EQ(command.wait(10), STATUS_CONTROL_C_EXIT) << command.read_to("\x01");
}

TEST(CommandOnWindows, TakesItsArgumentsAndWritesItsWordsInUtf8) {
  const TempFolder top;
  const fs::path absent = top / path_from_utf8("привет 模型 é.pte");
  const Started command = start(quoted(kCommand) + L" info " + quoted(absent));
  const std::string said = command.read_to("\x01");
  EXPECT_EQ(command.wait(10), 2U);
  EXPECT_NE(said.find("cannot read " + path_to_utf8(absent)), std::string::npos) << said;

  fs::copy(path_from_utf8(PTERON_TEST_DATA "/models/crepe_openvino.pte"), absent);
  const Started again = start(quoted(kCommand) + L" info " + quoted(absent));
  again.read_to("\x01");
  EXPECT_EQ(again.wait(10), 0U);
}

TEST(CommandOnWindows, GivesTheConsoleItsCodePageBack) {
  ASSERT_TRUE(open_console()) << GetLastError();
  if (!SetConsoleOutputCP(437)) {
    GTEST_SKIP() << "the console takes no code page (error " << GetLastError()
                 << "), as Wine's without a screen";
  }
  const Started command = start(quoted(kCommand) + L" --version");
  command.read_to("\x01");
  EXPECT_EQ(command.wait(10), 0U);
  EXPECT_EQ(GetConsoleOutputCP(), 437U);
}

}  // namespace
}  // namespace pteron
