#include <windows.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "output_file.h"
#include "text_windows.h"

namespace tools {
namespace {

int errno_of(DWORD number) {
  switch (number) {
    case ERROR_SUCCESS:
      return 0;
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
      return ENOENT;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
      return ENOSPC;
    case ERROR_BROKEN_PIPE:
    case ERROR_NO_DATA:
      return EPIPE;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
    case ERROR_WRITE_PROTECT:
      return EACCES;
    default:
      return EIO;
  }
}

class OutputFile : public std::streambuf {
 public:
  explicit OutputFile(HANDLE handle) : handle_(handle), held_(size_t{1} << 16) {
    setp(held_.data(), held_.data() + held_.size());
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile() override { close(); }

  bool close() {
    if (handle_ == INVALID_HANDLE_VALUE) return true;
    const bool is_whole = sync() == 0;
    return CloseHandle(std::exchange(handle_, INVALID_HANDLE_VALUE)) && is_whole;
  }

 protected:
  int overflow(int c) override {
    if (sync() != 0) return traits_type::eof();
    return c == traits_type::eof() ? 0 : sputc(static_cast<char>(c));
  }

  int sync() override {
    const char* at = pbase();
    while (at < pptr()) {
      DWORD written = 0;
      if (!WriteFile(handle_, at, static_cast<DWORD>(pptr() - at), &written, nullptr) ||
          written == 0) {
        errno = errno_of(GetLastError());
        return -1;
      }
      at += written;
    }
    setp(held_.data(), held_.data() + held_.size());
    return 0;
  }

 private:
  HANDLE handle_;
  std::vector<char> held_;
};

}  // namespace

std::unique_ptr<std::streambuf> create_file(const std::filesystem::path& path) {
  const HANDLE handle =
      CreateFileW(long_path(path).c_str(), GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_DELETE,
                  nullptr, CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (handle == INVALID_HANDLE_VALUE) {
    errno = errno_of(GetLastError());
    return nullptr;
  }
  return std::make_unique<OutputFile>(handle);
}

bool close_file(std::streambuf& file) { return static_cast<OutputFile&>(file).close(); }

std::string replace_file(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (MoveFileExW(long_path(from).c_str(), long_path(to).c_str(), MOVEFILE_REPLACE_EXISTING)) {
    return "";
  }
  const DWORD number = GetLastError();
  const std::string reason = system_error_text(number);
  if (number != ERROR_ACCESS_DENIED && number != ERROR_SHARING_VIOLATION &&
      number != ERROR_USER_MAPPED_FILE) {
    return reason;
  }
  return reason +
         "; Windows replaces no file that a program has open or mapped, as a .pte is while it is "
         "loaded, and none that is read-only: end that program, or write to another name";
}

}  // namespace tools
