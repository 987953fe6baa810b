#include "openvino/search.h"

#include <algorithm>
#include <span>

#include "base/environment.h"
#include "base/file_system.h"
#include "base/paths.h"
#include "base/version_text.h"

namespace pteron {
namespace fs = std::filesystem;
namespace {

// Sub-folders of an install, from whichever level of it is given; {a,b} stands for either.
constexpr std::string_view kLinuxSubfolders[] = {
    ".",
    "{openvino/,}libs",                                          // pip
    "{runtime/,}{lib,bin}/{intel64,aarch64}{,/Release,/Debug}",  // archives, from their top
    "{runtime/,}{lib,lib64,bin}",                                // packages
    "{intel64,aarch64}{,/Release,/Debug}",                       // archives, from lib or bin
    "{Release,Debug}",                                           // and from the last level
    "{lib/,}{x86_64,aarch64}-linux-gnu",                         // Debian's, from /usr or /usr/lib
    "site-packages/openvino/libs",
};
constexpr std::string_view kWindowsSubfolders[] = {
    ".",
    "{openvino/,}libs",
    "{runtime/,}{bin,lib}/{intel64,arm64,aarch64}{,/Release,/Debug}",
    "{runtime/,}{bin,lib}",
    "{intel64,arm64,aarch64}{,/Release,/Debug}",
    "{Release,Debug}",
    "{Lib/,}site-packages/openvino/libs",             // an environment of Python's
    "Library/bin{,/intel64/Release,/intel64/Debug}",  // one of conda's
};

std::span<const std::string_view> subfolder_patterns(Os os) {
  if (os == Os::Windows) return kWindowsSubfolders;
  return kLinuxSubfolders;
}

// Appends each text that `pattern` stands for, in the order of its alternatives.
void expand(std::string_view prefix, std::string_view pattern, std::vector<std::string>& out) {
  const size_t open = pattern.find('{');
  if (open == std::string_view::npos) {
    out.push_back(std::string(prefix) + std::string(pattern));
    return;
  }
  const size_t close = pattern.find('}', open);
  std::string_view alternatives = pattern.substr(open + 1, close - open - 1);
  while (true) {
    const size_t comma = alternatives.find(',');
    std::string taken(prefix);
    taken += pattern.substr(0, open);
    taken += alternatives.substr(0, comma);
    expand(taken, pattern.substr(close + 1), out);
    if (comma == std::string_view::npos) return;
    alternatives.remove_prefix(comma + 1);
  }
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return result;
}

// The sub-folders of `folder` whose name starts with `prefix`, newest version first.
std::vector<fs::path> versioned_folders(const fs::path& folder, std::string_view prefix) {
  std::vector<std::string> found;
  for (FolderEntry& entry : list_folder(folder)) {
    if (entry.is_folder && entry.name.starts_with(prefix)) found.push_back(std::move(entry.name));
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return version_less(b, a); });
  std::vector<fs::path> folders;
  folders.reserve(found.size());
  for (const std::string& name : found) folders.push_back(folder / path_from_utf8(name));
  return folders;
}

// The C libraries directly in `folder`, newest version first; a name without a version comes last,
// and openvino_cd.dll, the debug build, after openvino_c.dll.
std::vector<fs::path> libraries_directly_in(const fs::path& folder, Os os) {
  std::vector<std::pair<std::optional<OpenvinoVersion>, fs::path>> found;
  for (const FolderEntry& entry : list_folder(folder)) {
    if (!is_c_library_name(entry.name, os)) continue;
    // A dangling link stays itself: loading it will say so.
    fs::path file = real_path(folder / path_from_utf8(entry.name));
    const auto version = version_in_file_name(path_to_utf8(file.filename()));
    found.emplace_back(version, std::move(file));
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? b.first < a.first : a.second < b.second;
  });
  std::vector<fs::path> files;
  files.reserve(found.size());
  for (auto& [version, file] : found) files.push_back(std::move(file));
  return files;
}

}  // namespace

bool is_c_library_name(std::string_view name, Os os) {
  if (os == Os::Windows) {
    const std::string plain = lower(name);
    return plain == "openvino_c.dll" || plain == "openvino_cd.dll";
  }
  constexpr std::string_view kName = "libopenvino_c.so";
  if (!name.starts_with(kName)) return false;
  const std::string_view suffix = name.substr(kName.size());
  if (suffix.empty()) return true;
  return suffix.size() > 1 && suffix.front() == '.' &&
         suffix.find_first_not_of("0123456789.") == std::string_view::npos;
}

std::string_view c_library_pattern(Os os) {
  return os == Os::Windows ? "openvino_c.dll" : "libopenvino_c.so*";
}

std::vector<std::string> library_subfolders(Os os) {
  std::vector<std::string> folders;
  for (const std::string_view pattern : subfolder_patterns(os)) expand("", pattern, folders);
  return folders;
}

std::string library_subfolders_text(Os os) {
  std::string text;
  for (const std::string_view pattern : subfolder_patterns(os)) {
    if (pattern == ".") continue;
    text += pattern;
    text += ' ';
  }
  return text + "lib{,64}/python3*/site-packages/openvino/libs";
}

std::vector<fs::path> find_c_libraries(const fs::path& folder, Os os) {
  std::vector<fs::path> places;
  for (const std::string& name : library_subfolders(os)) {
    places.push_back(name == "." ? folder : folder / path_from_utf8(name));
  }
  for (const char* lib : {"lib", "lib64"}) {
    for (const fs::path& python : versioned_folders(folder / lib, "python3")) {
      places.push_back(python / "site-packages" / "openvino" / "libs");
    }
  }
  std::vector<fs::path> files;
  for (const fs::path& place : places) {
    for (fs::path& file : libraries_directly_in(place, os)) {
      if (std::find(files.begin(), files.end(), file) == files.end()) {
        files.push_back(std::move(file));
      }
    }
  }
  return files;
}

std::vector<fs::path> dependency_folders(const fs::path& c_library, Os os) {
  if (os != Os::Windows || !c_library.is_absolute()) return {};
  const fs::path runtime = c_library.parent_path()
                               .parent_path()
                               .parent_path()
                               .parent_path();  // From bin/intel64/Release
  std::vector<fs::path> folders;
  for (const char* name : {"bin", "bin/intel64/vc14", "redist/intel64/vc14"}) {
    fs::path folder = runtime / "3rdparty" / "tbb" / name;
    if (file_status(folder).kind == FileKind::Folder) folders.push_back(std::move(folder));
  }
  return folders;
}

std::vector<std::string> system_library_names(Os os) {
  if (os == Os::Windows) return {"openvino_c.dll"};
  std::vector<std::string> names = {"libopenvino_c.so"};
  // There is no asking the system for "any version", so all that may exist are named: two years
  // ahead of this release, to the oldest that we take.
  constexpr int kNewestYear = 28;
  for (int year = kNewestYear; year >= kOldestOpenvino.year - 2000; --year) {
    for (int minor = 9; minor >= (year == kOldestOpenvino.year - 2000 ? kOldestOpenvino.minor : 0);
         --minor) {
      for (int patch = 3; patch >= 0; --patch) {
        names.push_back("libopenvino_c.so." + std::to_string(year * 100 + minor * 10 + patch));
      }
    }
  }
  return names;
}

namespace {

// The folders that have installs in the system's usual places, under a name that begins so.
constexpr const char* kInstallPrefix = "openvino";
std::vector<fs::path> standard_parents() {
  std::vector<fs::path> parents;
  if (kThisOs == Os::Windows) {
    for (const char* variable : {"ProgramFiles(x86)", "ProgramFiles", "ProgramW6432"}) {
      if (const auto folder = read_environment(variable)) {
        parents.push_back(path_from_utf8(*folder) / "Intel");
      }
    }
  } else {
    parents = {"/opt/intel", "/opt"};
  }
  return parents;
}

}  // namespace

SearchSurroundings real_surroundings() {
  SearchSurroundings around;
  around.variable = read_environment;
  around.privileged = is_privileged_process();
  for (const fs::path& parent : standard_parents()) {
    for (fs::path& folder : versioned_folders(parent, kInstallPrefix))
      around.standard_folders.push_back(std::move(folder));
    around.standard_pattern +=
        (around.standard_pattern.empty() ? "" : ", ") + path_to_utf8(parent / kInstallPrefix) + "*";
  }
  around.system_names = system_library_names(kThisOs);
  return around;
}

}  // namespace pteron
