#include "base/system_text_windows.h"

#include <windows.h>

namespace pteron {

std::wstring wide_from_utf8(std::string_view utf8) {
  const int length = static_cast<int>(utf8.size());
  std::wstring wide(
      static_cast<size_t>(MultiByteToWideChar(CP_UTF8, 0, utf8.data(), length, nullptr, 0)), L'\0');
  MultiByteToWideChar(CP_UTF8, 0, utf8.data(), length, wide.data(), static_cast<int>(wide.size()));
  return wide;
}

std::string utf8_from_wide(std::wstring_view wide) {
  const int length = static_cast<int>(wide.size());
  std::string utf8(static_cast<size_t>(WideCharToMultiByte(CP_UTF8, 0, wide.data(), length, nullptr,
                                                           0, nullptr, nullptr)),
                   '\0');
  WideCharToMultiByte(CP_UTF8, 0, wide.data(), length, utf8.data(), static_cast<int>(utf8.size()),
                      nullptr, nullptr);
  return utf8;
}

namespace {

constexpr std::wstring_view kLong = L"\\\\?\\";
constexpr std::wstring_view kLongServer = L"\\\\?\\UNC\\";
constexpr std::wstring_view kServer = L"\\\\";
constexpr std::wstring_view kDevice = L"\\\\.\\";

}  // namespace

std::wstring system_path(const std::filesystem::path& path) {
  std::wstring full(MAX_PATH, L'\0');
  // The current folder may change between two calls, so ask until it fits.
  while (true) {
    const DWORD length =
        GetFullPathNameW(path.c_str(), static_cast<DWORD>(full.size()), full.data(), nullptr);
    if (length == 0) return path.native();  // An empty one: the system says so when it is used.
    const bool fits = length < full.size();
    full.resize(length);
    if (fits) break;
  }
  if (full.size() < MAX_PATH || full.starts_with(kLong) || full.starts_with(kDevice)) return full;
  if (full.starts_with(kServer)) {
    return std::wstring(kLongServer).append(full, kServer.size());
  }
  return std::wstring(kLong).append(full);
}

std::filesystem::path plain_path(std::wstring_view system_path) {
  if (system_path.starts_with(kLongServer)) {
    return std::wstring(kServer).append(system_path.substr(kLongServer.size()));
  }
  // Behind the prefix may also stand a volume's name, which is none without it.
  const bool has_drive =
      system_path.size() > kLong.size() + 1 && system_path[kLong.size() + 1] == L':';
  if (system_path.starts_with(kLong) && has_drive) system_path.remove_prefix(kLong.size());
  return std::wstring(system_path);
}

std::string system_error_text(unsigned long number) {
  wchar_t* text = nullptr;
  const DWORD length = FormatMessageW(
      FORMAT_MESSAGE_ALLOCATE_BUFFER | FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS,
      nullptr, number, 0, reinterpret_cast<wchar_t*>(&text), 0, nullptr);
  std::string words = length > 0 ? utf8_from_wide({text, length}) : "unknown error";
  LocalFree(text);
  // One line; "%1", where the system would put a name, is the file that the message is about.
  std::string line;
  for (size_t i = 0; i < words.size(); ++i) {
    const bool is_space = words[i] == '\r' || words[i] == '\n' || words[i] == ' ';
    if (!is_space) {
      line += words[i];
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  if (!line.empty() && line.back() == ' ') line.pop_back();
  if (const size_t at = line.find("%1"); at != std::string::npos)
    line.replace(at, 2, at == 0 ? "The file" : "the file");
  return line + " (error " + std::to_string(number) + ")";
}

}  // namespace pteron
