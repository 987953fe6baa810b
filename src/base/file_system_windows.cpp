#include <windows.h>

#include "base/file_system.h"
#include "base/system_text_windows.h"

namespace pteron {
namespace fs = std::filesystem;
namespace {

// A file or folder opened to be asked about; shared with everybody.
class Opened {
 public:
  explicit Opened(const fs::path& path)
      : handle_(CreateFileW(system_path(path).c_str(), 0,
                            FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                            OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr)) {}
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() {
    if (ok()) CloseHandle(handle_);
  }
  bool ok() const { return handle_ != INVALID_HANDLE_VALUE; }
  HANDLE get() const { return handle_; }

 private:
  HANDLE handle_;
};

}  // namespace

FileStatus file_status(const fs::path& path) {
  const Opened opened(path);
  if (!opened.ok()) {
    const DWORD problem = GetLastError();
    // What may not be opened may still be seen.
    const DWORD attributes = GetFileAttributesW(system_path(path).c_str());
    if (attributes == INVALID_FILE_ATTRIBUTES) return {FileKind::None, system_error_text(problem)};
    return {attributes & FILE_ATTRIBUTE_DIRECTORY ? FileKind::Folder : FileKind::File, {}};
  }
  if (GetFileType(opened.get()) != FILE_TYPE_DISK) return {FileKind::Other, {}};
  BY_HANDLE_FILE_INFORMATION what{};
  if (!GetFileInformationByHandle(opened.get(), &what)) {
    return {FileKind::None, system_error_text(GetLastError())};
  }
  return {what.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? FileKind::Folder : FileKind::File, {}};
}

fs::path real_path(const fs::path& path) {
  const Opened opened(path);
  std::wstring real(MAX_PATH, L'\0');
  while (opened.ok()) {
    const DWORD length =
        GetFinalPathNameByHandleW(opened.get(), real.data(), static_cast<DWORD>(real.size()),
                                  FILE_NAME_NORMALIZED | VOLUME_NAME_DOS);
    if (length == 0) break;  // A file system without drive letters, as of a container's.
    if (length < real.size()) return plain_path({real.data(), length});
    real.resize(length);
  }
  return plain_path(system_path(path));
}

bool is_same_file(const fs::path& a, const fs::path& b) {
  const Opened first(a);
  const Opened second(b);
  BY_HANDLE_FILE_INFORMATION one{};
  BY_HANDLE_FILE_INFORMATION other{};
  return first.ok() && second.ok() && GetFileInformationByHandle(first.get(), &one) &&
         GetFileInformationByHandle(second.get(), &other) &&
         one.dwVolumeSerialNumber == other.dwVolumeSerialNumber &&
         one.nFileIndexHigh == other.nFileIndexHigh && one.nFileIndexLow == other.nFileIndexLow;
}

std::vector<FolderEntry> list_folder(const fs::path& folder) {
  std::vector<FolderEntry> entries;
  WIN32_FIND_DATAW found{};
  const HANDLE search = FindFirstFileW(system_path(folder / L"*").c_str(), &found);
  if (search == INVALID_HANDLE_VALUE) return entries;
  do {
    const std::wstring_view name = found.cFileName;
    if (name == L"." || name == L"..") continue;
    entries.push_back(
        {utf8_from_wide(name), (found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0});
  } while (FindNextFileW(search, &found));
  FindClose(search);
  return entries;
}

}  // namespace pteron
