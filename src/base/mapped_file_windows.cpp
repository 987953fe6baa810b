#include <windows.h>

#include <string>
#include <utility>

#include "base/aligned_block.h"
#include "base/mapped_file.h"
#include "base/paths.h"
#include "base/system_text_windows.h"

namespace pteron {
namespace {

struct Handle {
  HANDLE value;
  explicit Handle(HANDLE handle) : value(handle) {}
  Handle(Handle&& other) noexcept : value(std::exchange(other.value, INVALID_HANDLE_VALUE)) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (value != INVALID_HANDLE_VALUE && value != nullptr) CloseHandle(value);
  }
};

Error io_error(const std::string& path, const std::string& reason) {
  return {Code::Io, "cannot read " + path + ": " + reason};
}

struct OpenFile {
  Handle handle;
  size_t size;
};

// Others may read it, rename it and mark it for deletion; who writes to it keeps us out.
Result<OpenFile> open_regular(const std::string& path) {
  const std::wstring native = system_path(path_from_utf8(path));
  const DWORD attributes = GetFileAttributesW(native.c_str());
  if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY)) {
    return io_error(path, "it is a folder, not a file");
  }
  Handle handle(CreateFileW(native.c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE,
                            nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr));
  if (handle.value == INVALID_HANDLE_VALUE) {
    const DWORD number = GetLastError();
    const bool is_missing = number == ERROR_FILE_NOT_FOUND || number == ERROR_PATH_NOT_FOUND;
    return io_error(path, number == ERROR_SHARING_VIOLATION
                              ? "another program has it open for writing; let that one finish (" +
                                    system_error_text(number) + ")"
                              : system_error_text(number) + (is_missing ? tilde_remedy(path) : ""));
  }
  if (GetFileType(handle.value) != FILE_TYPE_DISK)
    return io_error(path, "it is not a regular file");
  LARGE_INTEGER size;
  if (!GetFileSizeEx(handle.value, &size)) return io_error(path, system_error_text(GetLastError()));
  return OpenFile{std::move(handle), static_cast<size_t>(size.QuadPart)};
}

}  // namespace

Result<FileContents> map_file(const std::string& utf8_path) {
  PTERON_ASSIGN(OpenFile file, open_regular(utf8_path));
  if (file.size == 0) return FileContents{};
  const Handle mapping(
      CreateFileMappingW(file.handle.value, nullptr, PAGE_READONLY, 0, 0, nullptr));
  if (mapping.value == nullptr) return io_error(utf8_path, system_error_text(GetLastError()));
  const void* data = MapViewOfFile(mapping.value, FILE_MAP_READ, 0, 0, 0);
  if (data == nullptr) return io_error(utf8_path, system_error_text(GetLastError()));
  std::shared_ptr<const void> storage(data, [](const void* p) { UnmapViewOfFile(p); });
  return FileContents{{static_cast<const std::byte*>(data), file.size}, std::move(storage), true};
}

Result<FileContents> read_file(const std::string& utf8_path) {
  PTERON_ASSIGN(OpenFile file, open_regular(utf8_path));
  const std::shared_ptr<std::byte> block = aligned_block(file.size);
  size_t done = 0;
  while (done < file.size) {
    const size_t chunk = file.size - done < (size_t{1} << 30) ? file.size - done : size_t{1} << 30;
    DWORD got = 0;
    if (!ReadFile(file.handle.value, block.get() + done, static_cast<DWORD>(chunk), &got,
                  nullptr)) {
      return io_error(utf8_path, system_error_text(GetLastError()));
    }
    if (got == 0) break;
    done += got;
  }
  return FileContents{{block.get(), done}, block};
}

void release_pages(const FileContents& file, std::span<const std::byte> part) {
  if (!file.is_mapping || part.empty()) return;
  // Unlocking what is not locked takes the pages out of the working set.
  VirtualUnlock(const_cast<std::byte*>(part.data()), part.size());
}

}  // namespace pteron
