#include <windows.h>

#include <string>
#include <utility>

#include "base/file_system.h"
#include "base/mapped_file.h"
#include "base/paths.h"
#include "base/pe_imports.h"
#include "base/shared_library.h"
#include "base/system_text_windows.h"

namespace pteron {
namespace fs = std::filesystem;
namespace {

#if defined(_M_ARM64) || defined(__aarch64__)
constexpr PeMachine kThisMachine = PeMachine::Arm64;
#elif defined(_M_IX86) || defined(__i386__)
constexpr PeMachine kThisMachine = PeMachine::X86;
#else
constexpr PeMachine kThisMachine = PeMachine::X64;
#endif

// Grows the buffer until GetModuleFileNameW stops cutting the path. Null: the program.
fs::path module_file(HMODULE module) {
  std::wstring name(MAX_PATH, L'\0');
  while (true) {
    const DWORD length = GetModuleFileNameW(module, name.data(), static_cast<DWORD>(name.size()));
    if (length < name.size()) return plain_path({name.data(), length});
    name.resize(name.size() * 2);
  }
}

fs::path system_folder() {
  std::wstring name(MAX_PATH, L'\0');
  const UINT length = GetSystemDirectoryW(name.data(), static_cast<UINT>(name.size()));
  name.resize(length < name.size() ? length : 0);
  return name;
}

fs::path program_folder() { return module_file(nullptr).parent_path(); }

// A damaged DLL is an error of ours to report, not a box for the user to click away.
class NoErrorBoxes {
 public:
  NoErrorBoxes() { SetThreadErrorMode(SEM_FAILCRITICALERRORS | SEM_NOOPENFILEERRORBOX, &before_); }
  NoErrorBoxes(const NoErrorBoxes&) = delete;
  NoErrorBoxes& operator=(const NoErrorBoxes&) = delete;
  ~NoErrorBoxes() { SetThreadErrorMode(before_, nullptr); }

 private:
  DWORD before_ = 0;
};

// Folders that the loader searches as well while this lives.
class SearchedFolders {
 public:
  explicit SearchedFolders(const std::vector<fs::path>& folders) {
    for (const fs::path& folder : folders) {
      cookies_.push_back(AddDllDirectory(system_path(folder).c_str()));
    }
  }
  SearchedFolders(const SearchedFolders&) = delete;
  SearchedFolders& operator=(const SearchedFolders&) = delete;
  ~SearchedFolders() {
    for (const DLL_DIRECTORY_COOKIE cookie : cookies_) {
      if (cookie != nullptr) RemoveDllDirectory(cookie);
    }
  }

 private:
  std::vector<DLL_DIRECTORY_COOKIE> cookies_;
};

bool is_file(const fs::path& path) { return file_status(path).kind == FileKind::File; }

// Where the loader would find an import of a DLL in the first of `folders`. The folders that the
// program has added itself cannot be asked for.
ImportPlace find_import(const std::string& name, const std::vector<fs::path>& folders) {
  const std::wstring wide = wide_from_utf8(name);
  if (is_windows_contract(name) || GetModuleHandleW(wide.c_str()) != nullptr) return {true, {}};
  for (const fs::path& folder : folders) {
    if (is_file(folder / wide)) return {true, folder / wide};
  }
  return {is_file(program_folder() / wide) || is_file(system_folder() / wide), {}};
}

// What keeps a file from being a DLL that this process can load; empty if nothing does.
std::string why_no_dll(const fs::path& file) {
  const auto contents = map_file(path_to_utf8(file));
  if (!contents.ok()) return "";
  const auto pe = read_pe(contents->bytes);
  if (!pe.ok()) return "is no DLL: " + pe.error().message;
  if (pe->machine != kThisMachine) {
    return "is for " + name_of(pe->machine) + ", and this process is for " + name_of(kThisMachine);
  }
  return pe->is_dll ? "" : "is a program, no DLL";
}

// The first of what `file` imports, and its imports in turn, that is missing or is no DLL.
std::string explain_imports(const fs::path& file, const std::vector<fs::path>& folders,
                            const std::string& reason) {
  std::string why = why_no_dll(file);
  if (!why.empty()) return "it " + why + " (" + reason + ")";
  std::string culprit;
  const auto missing = find_missing_import(file, [&](const std::string& name) {
    ImportPlace place = find_import(name, folders);
    if (!place.found) return place;
    if (!place.file.empty()) why = why_no_dll(place.file);
    if (why.empty()) return place;
    culprit = path_to_utf8(place.file);
    return ImportPlace{};
  });
  if (!missing) return reason;
  const bool is_own = missing->needed_by == path_to_utf8(file.filename());
  std::string text = (is_own ? "it" : "its " + missing->needed_by) + " needs " + missing->name;
  if (!culprit.empty()) return text + ", and " + culprit + " " + why + " (" + reason + ")";
  text += ", which is neither beside it nor among the system's DLLs";
  if (is_visual_cpp_runtime(missing->name)) {
    text += "; install Microsoft's Visual C++ redistributable for " + name_of(kThisMachine);
  }
  return text + " (" + reason + ")";
}

std::string explain(DWORD number, const fs::path& path, const std::vector<fs::path>& also) {
  const std::string reason = system_error_text(number);
  if (number != ERROR_MOD_NOT_FOUND && number != ERROR_BAD_EXE_FORMAT) return reason;
  fs::path file = path;
  if (!path.has_parent_path()) {
    for (const fs::path& folder : {program_folder(), system_folder()}) {
      if (is_file(folder / path)) {
        file = folder / path;
        break;
      }
    }
    if (!file.has_parent_path()) {
      return "it is neither in the program's folder nor in the system's, and a bare name is looked "
             "for nowhere else (" +
             reason + ")";
    }
  }
  std::vector<fs::path> folders = {file.parent_path()};
  folders.insert(folders.end(), also.begin(), also.end());
  return explain_imports(file, folders, reason);
}

}  // namespace

Result<SharedLibrary> SharedLibrary::open(const fs::path& path, const std::vector<fs::path>& also) {
  // A bare name is searched for in the program's folder, the system's, and those that the program
  // added: not in the current one, nor on PATH. Anything else becomes an absolute path with
  // backslashes, and its own folder serves its dependencies first.
  const bool is_bare = !path.has_parent_path();
  const std::wstring file = is_bare ? path.native() : system_path(path);
  const DWORD flags =
      LOAD_LIBRARY_SEARCH_DEFAULT_DIRS | (is_bare ? 0 : LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR);
  const NoErrorBoxes quiet;
  const SearchedFolders searched(also);
  const HMODULE module = LoadLibraryExW(file.c_str(), nullptr, flags);
  if (module == nullptr) return Error{Code::Missing, explain(GetLastError(), path, also)};
  return SharedLibrary(static_cast<void*>(module));
}

SharedLibrary::Address SharedLibrary::find_address(const char* name) const {
  return reinterpret_cast<Address>(GetProcAddress(static_cast<HMODULE>(handle_), name));
}

void SharedLibrary::close() { FreeLibrary(static_cast<HMODULE>(std::exchange(handle_, nullptr))); }

fs::path SharedLibrary::file_of(void (*of)()) {
  HMODULE module = nullptr;
  // Null would mean the program itself.
  if (of == nullptr || !GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                                               GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                                           reinterpret_cast<LPCWSTR>(of), &module)) {
    return {};
  }
  return module_file(module);
}

fs::path SharedLibrary::find_loaded(const std::string& prefix) {
  // Windows knows modules by base name; OpenVINO's has no version in it.
  const HMODULE module = GetModuleHandleW(wide_from_utf8(prefix + ".dll").c_str());
  return module ? module_file(module) : fs::path();
}

void SharedLibrary::keep_own() {
  HMODULE module = nullptr;
  GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
                     reinterpret_cast<LPCWSTR>(&SharedLibrary::keep_own), &module);
}

}  // namespace pteron
