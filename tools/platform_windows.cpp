#include <windows.h>

#include "platform.h"
// windows.h comes first.
#include <psapi.h>
#include <shellapi.h>

#include <cstdlib>

#include "text_windows.h"

namespace tools {
namespace {

UINT code_page_before = 0;

void restore_code_page() { SetConsoleOutputCP(code_page_before); }

// The process ends at once: an orderly exit would wait for OpenVINO's threads, which it has ended.
BOOL WINAPI end_at_once(DWORD) {
  restore_code_page();
  return TerminateProcess(GetCurrentProcess(), STATUS_CONTROL_C_EXIT);
}

bool is_console(DWORD which) {
  DWORD mode = 0;
  return GetConsoleMode(GetStdHandle(which), &mode) != 0;
}

}  // namespace

std::vector<std::string> arguments(int, char**) {
  int count = 0;
  wchar_t** wide = CommandLineToArgvW(GetCommandLineW(), &count);
  std::vector<std::string> out;
  for (int i = 1; wide != nullptr && i < count; ++i) out.push_back(utf8_from_wide(wide[i]));
  LocalFree(wide);
  return out;
}

void prepare_console() {
  // The code page is the console's, not ours, and outlives us there.
  code_page_before = GetConsoleOutputCP();
  if (code_page_before != 0 && SetConsoleOutputCP(CP_UTF8)) std::atexit(restore_code_page);
  SetConsoleCtrlHandler(end_at_once, TRUE);
}

// Not the device NUL, which is one of characters too.
bool is_terminal_stdout() { return is_console(STD_OUTPUT_HANDLE); }
bool is_terminal_stderr() { return is_console(STD_ERROR_HANDLE); }

int terminal_width() {
  CONSOLE_SCREEN_BUFFER_INFO info{};
  return GetConsoleScreenBufferInfo(GetStdHandle(STD_OUTPUT_HANDLE), &info)
             ? info.srWindow.Right - info.srWindow.Left + 1
             : 100;
}

double peak_memory_mb() {
  PROCESS_MEMORY_COUNTERS counters{};
  GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof(counters));
  return static_cast<double>(counters.PeakWorkingSetSize) / 1e6;
}

std::string environment(const char* name) {
  const std::wstring wide(name, name + std::char_traits<char>::length(name));
  std::wstring value(128, L'\0');
  while (true) {
    const DWORD length =
        GetEnvironmentVariableW(wide.c_str(), value.data(), static_cast<DWORD>(value.size()));
    if (length < value.size()) return utf8_from_wide({value.data(), length});
    value.resize(static_cast<size_t>(length) + 1);
  }
}

std::string program_folder() {
  std::wstring name(260, L'\0');
  while (true) {
    const DWORD length = GetModuleFileNameW(nullptr, name.data(), static_cast<DWORD>(name.size()));
    if (length < name.size()) {
      const std::string file = utf8_from_wide({name.data(), length});
      const size_t slash = file.find_last_of("\\/");
      return slash == std::string::npos ? std::string() : file.substr(0, slash);
    }
    name.resize(name.size() * 2);
  }
}

}  // namespace tools
