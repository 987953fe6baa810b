#include "openvino/library.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <span>
#include <system_error>
#include <type_traits>
#include <utility>

#include "base/file_system.h"
#include "base/paths.h"
#include "base/process.h"

namespace pteron {
namespace fs = std::filesystem;
namespace {

constexpr const char* kInstall =
    "Install it with: pip install openvino; then name that Python environment, or any other place "
    "that has OpenVINO, with --openvino PATH (the option openvino) or OPENVINO_LIB_PATH";
constexpr const char* kCorrectOption =
    "Correct --openvino PATH (the option openvino), or leave it out to search elsewhere; OpenVINO "
    "is installed with: pip install openvino";
constexpr const char* kCorrectVariable =
    "Correct OPENVINO_LIB_PATH, or unset it to search elsewhere; OpenVINO is installed with: pip "
    "install openvino";

Error missing(std::string message) { return {Code::Missing, std::move(message)}; }

// "/opt/x/libopenvino.so.2541 (2025.4.1)": a file with the version that its name tells.
std::string describe(const fs::path& file) {
  const auto version = version_in_file_name(path_to_utf8(file.filename()));
  return path_to_utf8(file) + (version ? " (" + version->text() + ")" : "");
}

std::string too_old(const OpenvinoVersion& version) {
  return "OpenVINO " + version.text() + " is too old: Pteron needs " + kOldestOpenvino.text() +
         " or newer, since element types have other numbers before";
}

// OpenVINO's numbers for element types moved once; a library that counts otherwise than we do
// would misread every tensor, so one tensor is made and looked at.
bool counts_element_types_as_we_do(const ov::Functions& ov) {
  using ov::ov_element_type_e;
  using ov::ov_status_e;
  int64_t dim = 1;
  ov::ov_tensor_t* tensor = nullptr;
  if (ov.ov_tensor_create(ov_element_type_e::F32, {1, &dim}, &tensor) != ov_status_e::Ok) {
    return false;
  }
  size_t bytes = 0;
  ov_element_type_e type = ov_element_type_e::Dynamic;
  const bool same = ov.ov_tensor_get_byte_size(tensor, &bytes) == ov_status_e::Ok &&
                    ov.ov_tensor_get_element_type(tensor, &type) == ov_status_e::Ok && bytes == 4 &&
                    type == ov_element_type_e::F32;
  ov.ov_tensor_free(tensor);
  return same;
}

// dlopen reports a missing dependency by its own name, not by the library that was asked for.
std::string explain_load_failure(const std::string& reason, const fs::path& file) {
  constexpr std::string_view kNotFound = ": cannot open shared object file";
  const size_t end = reason.find(kNotFound);
  if (end == std::string::npos) return reason;
  const std::string lacking = reason.substr(0, end);
  if (fs::path(lacking).filename() == file.filename()) return reason;
  return "it needs " + lacking + ", which is not found (" + reason + ")";
}

// The OpenVINO in this process, whoever loaded it: its C library or libopenvino; empty if none.
fs::path loaded_openvino() {
  constexpr const char* kLinux[] = {"libopenvino_c.so", "libopenvino.so"};
  constexpr const char* kWindows[] = {"openvino_c", "openvino_cd", "openvino", "openvinod"};
  const std::span<const char* const> names =
      kThisOs == Os::Windows ? std::span<const char* const>(kWindows) : kLinux;
  for (const char* name : names) {
    if (fs::path file = SharedLibrary::find_loaded(name); !file.empty()) return file;
  }
  return {};
}

// Windows binds a DLL to whichever openvino.dll the process has already, or to that in the
// program's folder where none lies beside it; two versions would mix without a word. Empty if all
// is well.
std::string wrong_core(const fs::path& c_library) {
  if (kThisOs != Os::Windows) return "";
  const bool is_debug = path_to_utf8(c_library.stem()).back() == 'd';
  const fs::path core = SharedLibrary::find_loaded(is_debug ? "openvinod" : "openvino");
  if (core.empty() || is_same_file(core.parent_path(), c_library.parent_path())) return "";
  return path_to_utf8(c_library) + " got " + path_to_utf8(core) +
         ", which is not the one beside it: give both one folder, and load them before another "
         "OpenVINO is in this process";
}

// What a user's text for a place means.
struct Place {
  enum class Kind { Name, File, Folder, Unusable };
  Kind kind = Kind::Unusable;
  fs::path path;                // Absolute, unless it is a name for the system's search.
  std::vector<fs::path> files;  // The C libraries there.
  std::string problem;          // Why there is none.
};

Place resolve(const std::string& text) {
  Place place;
  const fs::path given = path_from_utf8(text);
  const FileStatus status = file_status(given);
  if (!given.has_parent_path() && status.kind != FileKind::Folder) {
    // As everywhere, a bare name is the system's to find; the current folder is not searched.
    place.kind = Place::Kind::Name;
    place.path = given;
    place.problem = status.kind != FileKind::None
                        ? "for the file in the current folder write ./" + text
                        : "a name without a folder is the system's to find, so give a path";
    return place;
  }
  std::error_code error;
  place.path = fs::absolute(given, error);
  if (error) place.path = given;
  switch (status.kind) {
    case FileKind::Folder:
      place.files = find_c_libraries(place.path, kThisOs);
      place.kind = place.files.empty() ? Place::Kind::Unusable : Place::Kind::Folder;
      if (place.files.empty()) {
        place.problem = "no " + std::string(c_library_pattern(kThisOs)) +
                        " in this folder, nor in its sub-folders " +
                        library_subfolders_text(kThisOs);
      }
      break;
    case FileKind::File:
      // $ORIGIN and the DLL's own folder mean where the file really lies.
      place.kind = Place::Kind::File;
      place.files = {real_path(given)};
      break;
    case FileKind::Other:
      place.problem = "neither a file nor a folder";
      break;
    case FileKind::None:
      place.problem = status.problem + tilde_remedy(text);
      break;
  }
  return place;
}

// Loads what a search meets, keeping a record.
class Attempt {
 public:
  std::optional<OpenvinoLibrary> library;
  std::vector<SearchStep> steps;

  size_t refused = 0;  // What was there, but of no use.
  bool stuck = false;  // What was refused stays in the process, so nothing else may be loaded.

  void note(std::string place, std::string outcome) {
    steps.push_back({std::move(place), std::move(outcome)});
  }
  void refuse(std::string place, std::string outcome) {
    ++refused;
    note(std::move(place), std::move(outcome));
  }

  // Loads one file; `place` is what the record calls it.
  bool try_file(const std::string& place, const fs::path& file) {
    if (stuck) return false;
    const std::string name = path_to_utf8(file);
    // Refused by its name an old version does not even enter the process.
    const auto version = version_in_file_name(path_to_utf8(file.filename()));
    if (version && *version < kOldestOpenvino) {
      refuse(place, too_old(*version));
      return false;
    }
    auto opened = SharedLibrary::open(file, dependency_folders(file, kThisOs));
    if (!opened.ok()) {
      refuse(place, explain_load_failure(opened.error().message, file));
      return false;
    }
    return check(place, *opened, name);
  }

  // Loads by a name that the system looks up; `place` is what the record calls it. False also if
  // there is nothing of that name.
  bool try_name(const std::string& place, const std::string& name, bool note_absence) {
    if (stuck) return false;
    auto opened = SharedLibrary::open(path_from_utf8(name));
    if (!opened.ok()) {
      const std::string& reason = opened.error().message;
      const std::string explained = explain_load_failure(reason, path_from_utf8(name));
      if (note_absence || explained != reason) note(place, explained);
      return false;
    }
    const fs::path file = SharedLibrary::file_of(opened->find<void()>("ov_get_openvino_version"));
    return check(place, *opened, file.empty() ? name : path_to_utf8(real_path(file)));
  }

  // The first of the files in `place` that loads.
  bool try_place(const std::string& label, const Place& place) {
    if (place.kind == Place::Kind::Name) {
      const size_t before = refused;
      if (try_name(label, path_to_utf8(place.path), true)) return true;
      if (!stuck && refused == before) steps.back().outcome += "; " + place.problem;
      return false;
    }
    if (place.files.empty()) note(label, place.problem);
    for (const fs::path& file : place.files) {
      const std::string name = path_to_utf8(file);
      // A path tells where the file is; a variable's label must stay visible.
      std::string where = name;
      if (label.starts_with('$')) {
        where = place.kind == Place::Kind::File ? label : label + ": " + name;
      } else if (place.kind == Place::Kind::Folder && !name.starts_with(label)) {
        where = label + ": " + name;
      }
      if (try_file(where, file)) return true;
    }
    return false;
  }

 private:
  bool check(const std::string& place, SharedLibrary& opened, const std::string& file) {
    std::string core_problem = wrong_core(path_from_utf8(file));
    auto checked = core_problem.empty() ? check_openvino(opened, file)
                                        : Result<OpenvinoLibrary>(missing(std::move(core_problem)));
    if (!checked.ok()) {
      // Unloaded, so that a right version can still have this process; where the system keeps it
      // all the same (a library may forbid its unloading), two of them must not mix.
      opened.close();
      stuck = !loaded_openvino().empty();
      refuse(place,
             checked.error().message +
                 (stuck ? "; it stays in this process, so only a new one can load another" : ""));
      return false;
    }
    library = *std::move(checked);
    note(place, "loaded");
    return true;
  }
};

OpenvinoAttempt found(Attempt attempt) {
  return {*std::move(attempt.library), std::move(attempt.steps)};
}

OpenvinoAttempt not_found(Attempt attempt, const std::string& remedy) {
  std::string message =
      attempt.refused > 0 ? "no usable OpenVINO found; tried:" : "OpenVINO not found; tried:";
  const char* separator = " ";
  for (const SearchStep& step : attempt.steps) {
    message += separator + step.place + " (" + step.outcome + ")";
    separator = ", ";
  }
  return {missing(message + ". " + remedy), std::move(attempt.steps)};
}

constexpr const char* kVariable = "OPENVINO_LIB_PATH";

std::string label_of_variable(const char* name, const std::string& value) {
  return "$" + std::string(name) + "=" + value;
}

// The OpenVINO that something else has loaded into this process; empty if there is none.
struct Present {
  fs::path mapped;     // libopenvino or its C library.
  fs::path c_library;  // The one to use; empty if there is none beside the mapped one.
};

Present find_present() {
  Present present{loaded_openvino(), {}};
  if (present.mapped.empty()) return present;
  present.mapped = real_path(present.mapped);
  if (is_c_library_name(path_to_utf8(present.mapped.filename()), kThisOs)) {
    present.c_library = present.mapped;
    return present;
  }
  // Of several beside it only the one of its own version fits.
  const auto version = version_in_file_name(path_to_utf8(present.mapped.filename()));
  for (const fs::path& file : find_c_libraries(present.mapped.parent_path(), kThisOs)) {
    const auto other = version_in_file_name(path_to_utf8(file.filename()));
    if (!version || !other || *version == *other) {
      present.c_library = file;
      break;
    }
  }
  return present;
}

Error other_is_present(const std::string& asked_for, const Place& asked,
                       const std::string& present) {
  const std::string which = asked.files.empty() ? "" : ", that is " + describe(asked.files.front());
  return missing("this process has already loaded OpenVINO " + present + ", so " + asked_for +
                 which +
                 " cannot be loaded beside it: a process has one OpenVINO. Ask for the loaded one, "
                 "or start a process that loads the other first");
}

bool names(const Place& asked, const fs::path& file) {
  if (asked.kind == Place::Kind::Name) {
    return asked.path == file.filename() ||
           (kThisOs == Os::Windows && is_c_library_name(path_to_utf8(asked.path), kThisOs) &&
            is_c_library_name(path_to_utf8(file.filename()), kThisOs));
  }
  return std::any_of(asked.files.begin(), asked.files.end(),
                     [&](const fs::path& f) { return is_same_file(f, file); });
}

}  // namespace

Result<OpenvinoLibrary> check_openvino(const SharedLibrary& library, const std::string& file) {
  ov::Functions table;
  std::vector<std::string> absent;
#define OV_OPTIONAL(type, name, arguments) \
  table.name = library.find<std::remove_pointer_t<decltype(table.name)>>(#name);
#define OV_REQUIRED(type, name, arguments) \
  OV_OPTIONAL(type, name, arguments)       \
  if (table.name == nullptr) absent.emplace_back(#name);
#include "openvino/functions.inc"
#undef OV_REQUIRED
#undef OV_OPTIONAL
  // The version first: an old library may lack functions for being old.
  std::string text;
  ov::ov_version_t version{};
  if (table.ov_get_openvino_version != nullptr && table.ov_version_free != nullptr &&
      table.ov_get_openvino_version(&version) == ov::ov_status_e::Ok) {
    if (version.build_number != nullptr) text = version.build_number;
    table.ov_version_free(&version);
    if (parse_openvino_version(text) < kOldestOpenvino) {
      return missing(too_old(parse_openvino_version(text)));
    }
  }
  if (!absent.empty()) {
    std::string lacking = absent.front();
    if (absent.size() > 1)
      lacking += " and " + std::to_string(absent.size() - 1) + " more functions";
    return missing("no usable OpenVINO C library" + (text.empty() ? "" : ", version " + text) +
                   ": it lacks " + lacking);
  }
  if (text.empty()) return missing("it does not tell its version");
  if (!counts_element_types_as_we_do(table)) {
    return missing("OpenVINO " + text +
                   " numbers its element types otherwise than Pteron does, so every "
                   "tensor would be misread; " +
                   kOldestOpenvino.text() + " or newer is needed");
  }
  return OpenvinoLibrary(table, file, text);
}

OpenvinoAttempt try_openvino(const std::string& requested, const SearchSurroundings& around) {
  Attempt attempt;
  const std::optional<std::string> variable =
      around.privileged ? std::nullopt : around.variable(kVariable);

  // What the user named: the caller's path, else the variable's. It is taken or it fails; quietly
  // taking another OpenVINO than the one named would hide a typing error.
  std::optional<std::string> asked;
  std::string label;
  if (!requested.empty()) {
    asked = requested;
    label = requested;
  } else if (variable) {
    asked = variable;
    label = label_of_variable(kVariable, *variable);
  }

  const Present present = find_present();
  if (!present.mapped.empty()) {
    if (asked) {
      const Place place = resolve(*asked);
      if (!names(place, present.c_library)) {
        attempt.note(label, "not loaded: this process has OpenVINO already");
        return {other_is_present(label, place, describe(present.mapped)), std::move(attempt.steps)};
      }
    }
    const std::string where = "already in this process: " + path_to_utf8(present.mapped);
    if (present.c_library.empty()) {
      attempt.note(where, "no " + std::string(c_library_pattern(kThisOs)) + " beside it");
      return not_found(std::move(attempt), kInstall);
    }
    return attempt.try_file(where, present.c_library) ? found(std::move(attempt))
                                                      : not_found(std::move(attempt), kInstall);
  }

  if (asked) {
    if (asked->empty()) {
      attempt.note("$" + std::string(kVariable), "set, but empty; unset it to search elsewhere");
      return not_found(std::move(attempt), kCorrectVariable);
    }
    return attempt.try_place(label, resolve(*asked))
               ? found(std::move(attempt))
               : not_found(std::move(attempt),
                           requested.empty() ? kCorrectVariable : kCorrectOption);
  }
  constexpr const char* kNotRead = "not read: this process has more rights than its caller";
  attempt.note("$" + std::string(kVariable), around.privileged ? kNotRead : "not set");

  for (const std::string& path : around.added) {
    if (attempt.try_place(path, resolve(path))) return found(std::move(attempt));
  }
  constexpr const char* kInstallDir = "INTEL_OPENVINO_DIR";
  const auto install = around.privileged ? std::nullopt : around.variable(kInstallDir);
  if (install && !install->empty()) {
    if (attempt.try_place(label_of_variable(kInstallDir, *install), resolve(*install))) {
      return found(std::move(attempt));
    }
  } else {
    attempt.note("$" + std::string(kInstallDir),
                 around.privileged ? kNotRead : (install ? "empty" : "not set"));
  }
  if (around.standard_folders.empty() && !around.standard_pattern.empty())
    attempt.note(around.standard_pattern, "no such folder");
  for (const fs::path& folder : around.standard_folders) {
    const std::string path = path_to_utf8(folder);
    if (attempt.try_place(path, resolve(path))) return found(std::move(attempt));
  }
  for (const std::string& name : around.system_names) {
    // Absence is noted once, for the plain name; the versioned ones would fill a page.
    if (attempt.try_name(name, name, name == around.system_names.front())) {
      return found(std::move(attempt));
    }
  }
  if (around.system_names.size() > 1) {
    attempt.note(around.system_names.back() + " to " + around.system_names[1],
                 "none of them found");
  }
  return not_found(std::move(attempt), around.remedy.empty() ? kInstall : around.remedy);
}

namespace {

struct State {
  std::mutex mutex;
  std::vector<std::string> added;
  std::string remedy;
  const OpenvinoLibrary* library = nullptr;
  uint64_t process = 0;           // That loaded it.
  std::vector<SearchStep> steps;  // Of the search that found it.
};

// Never destroyed: other threads may still run when the process ends.
State& state() {
  static State* const the_state = new State;
  return *the_state;
}

SearchSurroundings surroundings_of(const State& s) {
  SearchSurroundings around = real_surroundings();
  around.added = s.added;
  around.remedy = s.remedy;
  return around;
}

OpenvinoSearch load_locked(State& s, const std::string& requested) {
  if (s.library != nullptr && s.process != process_id()) {
    // Its threads are the parent's, and a compilation would wait for them for ever.
    return {
        Error{Code::Unsupported,
              "OpenVINO was loaded before this process was forked, and does not work in a fork; "
              "load programs after forking only, or start processes anew (in Python, "
              "multiprocessing's \"spawn\")"},
        {{s.library->file(), "not used: loaded before this process was forked"}},
        {}};
  }
  if (s.library != nullptr) {
    if (requested.empty()) return {s.library, s.steps, {}};
    const Place asked = resolve(requested);
    if (names(asked, path_from_utf8(s.library->file()))) return {s.library, s.steps, {}};
    return {other_is_present(requested, asked,
                             s.library->version().text() + " from " + s.library->file()),
            {{requested, "not loaded: this process has OpenVINO already"}},
            {}};
  }
  OpenvinoAttempt attempt = try_openvino(requested, surroundings_of(s));
  if (!attempt.library.ok()) {
    return {std::move(attempt.library).error(), std::move(attempt.steps), {}};
  }
  s.library = new OpenvinoLibrary(*std::move(attempt.library));
  s.process = process_id();
  SharedLibrary::keep_own();
  s.steps = std::move(attempt.steps);
  return {s.library, s.steps, {}};
}

}  // namespace

Result<const OpenvinoLibrary*> load_openvino(const std::string& requested) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return load_locked(s, requested).library;
}

OpenvinoSearch search_openvino(const std::string& requested) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  OpenvinoSearch search = load_locked(s, requested);

  const SearchSurroundings around = surroundings_of(s);
  std::vector<fs::path> places;
  const auto add = [&places](const std::optional<std::string>& text) {
    if (text && !text->empty()) places.push_back(path_from_utf8(*text));
  };
  add(requested);
  add(around.variable(kVariable));
  for (const std::string& path : around.added) add(path);
  add(around.variable("INTEL_OPENVINO_DIR"));
  places.insert(places.end(), around.standard_folders.begin(), around.standard_folders.end());
  if (kThisOs == Os::Linux) places.insert(places.end(), {"/usr/local", "/usr"});
  std::vector<fs::path> seen;
  if (search.library.ok()) seen.push_back(path_from_utf8((*search.library)->file()));
  for (const fs::path& place : places) {
    for (const fs::path& file : resolve(path_to_utf8(place)).files) {
      if (!is_c_library_name(path_to_utf8(file.filename()), kThisOs)) continue;
      const bool known = std::any_of(seen.begin(), seen.end(),
                                     [&](const fs::path& f) { return is_same_file(f, file); });
      if (known) continue;
      seen.push_back(file);
      search.others.push_back(describe(file));
    }
  }
  return search;
}

void add_openvino_path(std::string path) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.added.push_back(std::move(path));
}

void set_openvino_remedy(std::string remedy) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.remedy = std::move(remedy);
}

}  // namespace pteron
