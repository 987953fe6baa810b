#include "text_windows.h"

#include <windows.h>

namespace tools {

std::string utf8_from_wide(std::wstring_view wide) {
  const int length = static_cast<int>(wide.size());
  std::string out(static_cast<size_t>(WideCharToMultiByte(CP_UTF8, 0, wide.data(), length, nullptr,
                                                          0, nullptr, nullptr)),
                  '\0');
  WideCharToMultiByte(CP_UTF8, 0, wide.data(), length, out.data(), static_cast<int>(out.size()),
                      nullptr, nullptr);
  return out;
}

std::wstring long_path(const std::filesystem::path& path) {
  std::wstring full(MAX_PATH, L'\0');
  while (true) {
    const DWORD length =
        GetFullPathNameW(path.c_str(), static_cast<DWORD>(full.size()), full.data(), nullptr);
    if (length == 0) return path.native();
    const bool fits = length < full.size();
    full.resize(length);
    if (fits) break;
  }
  if (full.size() < MAX_PATH || full.starts_with(L"\\\\?\\") || full.starts_with(L"\\\\.\\"))
    return full;
  if (full.starts_with(L"\\\\")) return std::wstring(L"\\\\?\\UNC\\").append(full, 2);
  return std::wstring(L"\\\\?\\").append(full);
}

std::string system_error_text(unsigned long number) {
  wchar_t* text = nullptr;
  const DWORD length = FormatMessageW(
      FORMAT_MESSAGE_ALLOCATE_BUFFER | FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS |
          FORMAT_MESSAGE_MAX_WIDTH_MASK,  // One line.
      nullptr, number, 0, reinterpret_cast<wchar_t*>(&text), 0, nullptr);
  std::string words = length > 0 ? utf8_from_wide({text, length}) : "unknown error";
  LocalFree(text);
  while (!words.empty() && words.back() == ' ') words.pop_back();
  return words + " (error " + std::to_string(number) + ")";
}

}  // namespace tools
