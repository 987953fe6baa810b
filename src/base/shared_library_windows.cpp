#include <windows.h>

#include <string>
#include <utility>

#include "base/paths.h"
#include "base/shared_library.h"
#include "base/system_text_windows.h"

namespace pteron {
namespace {

// Grows the buffer until GetModuleFileNameW stops cutting the path.
std::filesystem::path module_file(HMODULE module) {
  std::wstring name(260, L'\0');
  while (true) {
    const DWORD length = GetModuleFileNameW(module, name.data(), static_cast<DWORD>(name.size()));
    if (length < name.size()) return std::wstring(name.data(), length);
    name.resize(name.size() * 2);
  }
}

}  // namespace

Result<SharedLibrary> SharedLibrary::open(const std::filesystem::path& path) {
  std::filesystem::path full = path;
  DWORD flags = LOAD_LIBRARY_SEARCH_DEFAULT_DIRS;
  // A bare name is searched for in the system's safe folders only. Anything else becomes an
  // absolute path with backslashes, and its own folder serves its dependencies.
  if (path.has_parent_path()) {
    full = std::filesystem::absolute(path).make_preferred();
    flags |= LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR;
  }
  const HMODULE module = LoadLibraryExW(full.c_str(), nullptr, flags);
  if (module == nullptr) return Error{Code::Missing, system_error_text(GetLastError())};
  return SharedLibrary(static_cast<void*>(module));
}

SharedLibrary::Address SharedLibrary::find_address(const char* name) const {
  return reinterpret_cast<Address>(GetProcAddress(static_cast<HMODULE>(handle_), name));
}

void SharedLibrary::close() { FreeLibrary(static_cast<HMODULE>(std::exchange(handle_, nullptr))); }

std::filesystem::path SharedLibrary::file_of(void (*of)()) {
  HMODULE module = nullptr;
  if (!GetModuleHandleExW(
          GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
          reinterpret_cast<LPCWSTR>(of), &module)) {
    return {};
  }
  return module_file(module);
}

std::filesystem::path SharedLibrary::find_loaded(const std::string& prefix) {
  // Windows knows modules by base name; OpenVINO's has no version in it.
  const HMODULE module = GetModuleHandleW(wide_from_utf8(prefix + ".dll").c_str());
  return module ? module_file(module) : std::filesystem::path();
}

}  // namespace pteron
