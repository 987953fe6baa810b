#include <windows.h>

#include "platform.h"
// windows.h comes first.
#include <psapi.h>
#include <shellapi.h>

#include <cstdio>
#include <string_view>

namespace tools {
namespace {

std::string utf8(std::wstring_view wide) {
  const int length = static_cast<int>(wide.size());
  std::string out(static_cast<size_t>(WideCharToMultiByte(CP_UTF8, 0, wide.data(), length, nullptr,
                                                          0, nullptr, nullptr)),
                  '\0');
  WideCharToMultiByte(CP_UTF8, 0, wide.data(), length, out.data(), static_cast<int>(out.size()),
                      nullptr, nullptr);
  return out;
}

}  // namespace

std::vector<std::string> arguments(int, char**) {
  int count = 0;
  wchar_t** wide = CommandLineToArgvW(GetCommandLineW(), &count);
  std::vector<std::string> out;
  for (int i = 1; i < count; ++i) out.push_back(utf8(wide[i]));
  LocalFree(wide);
  return out;
}

void prepare_console() { SetConsoleOutputCP(CP_UTF8); }

bool is_terminal_stdout() { return GetFileType(GetStdHandle(STD_OUTPUT_HANDLE)) == FILE_TYPE_CHAR; }
bool is_terminal_stderr() { return GetFileType(GetStdHandle(STD_ERROR_HANDLE)) == FILE_TYPE_CHAR; }

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

std::string program_folder() {
  std::wstring name(260, L'\0');
  while (true) {
    const DWORD length = GetModuleFileNameW(nullptr, name.data(), static_cast<DWORD>(name.size()));
    if (length < name.size()) {
      const std::string file = utf8({name.data(), length});
      const size_t slash = file.find_last_of("\\/");
      return slash == std::string::npos ? std::string() : file.substr(0, slash);
    }
    name.resize(name.size() * 2);
  }
}

}  // namespace tools
