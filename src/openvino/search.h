// Where OpenVINO's C library may lie, and which file in a folder is the one to load.
//
// Nothing here loads anything: it looks at names and folders only.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "openvino/version.h"

namespace pteron {

enum class Os { Linux, Windows };
#ifdef _WIN32
inline constexpr Os kThisOs = Os::Windows;
#else
inline constexpr Os kThisOs = Os::Linux;
#endif

// Whether a file of this name is OpenVINO's C library: libopenvino_c.so with or without a version,
// openvino_c.dll or its debug build openvino_cd.dll in any case of letters.
bool is_c_library_name(std::string_view name, Os os);

// What messages call the C library: "libopenvino_c.so*", "openvino_c.dll".
std::string_view c_library_pattern(Os os);

// The sub-folders of an install that may hold the C library, with forward slashes, "." first. They
// serve whichever level of the install is given: the top of an archive or its runtime folder or
// anything on the way down, a package manager's prefix, an environment of Python's or conda's, its
// site-packages, the openvino package.
std::vector<std::string> library_subfolders(Os os);

// The same for messages, short: "libs {runtime/,}lib/{intel64,aarch64} ..."
std::string library_subfolders_text(Os os);

// The C libraries in `folder` and those of its sub-folders, symbolic links resolved, each file
// once: sub-folders in their order, in each the newest version first.
std::vector<std::filesystem::path> find_c_libraries(const std::filesystem::path& folder, Os os);

// Where an archive of OpenVINO keeps what its libraries need and do not have beside them: TBB, in
// runtime/3rdparty. Its script for PATH would say so; on Linux the libraries say it themselves.
std::vector<std::filesystem::path> dependency_folders(const std::filesystem::path& c_library,
                                                      Os os);

// The names for the system's own search: the plain one, then versioned ones from new to old.
std::vector<std::string> system_library_names(Os os);

// What a search reads from its surroundings. Tests bring their own.
struct SearchSurroundings {
  // Environment variables; none are read in a process with more rights than its caller.
  std::function<std::optional<std::string>(const char*)> variable;
  bool privileged = false;
  std::vector<std::string> added;  // By add_openvino_path(), in order.
  std::string remedy;              // Of set_openvino_remedy(); empty: our own.
  // Installs in the system's usual places that exist, newest first; and those places, for messages.
  std::vector<std::filesystem::path> standard_folders;
  std::string standard_pattern;
  std::vector<std::string> system_names;
};
SearchSurroundings real_surroundings();

}  // namespace pteron
