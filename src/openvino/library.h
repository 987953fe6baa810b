// OpenVINO's C library, loaded into this process: its functions, its file and its version.
//
// A process has one OpenVINO, loaded when it is first asked for and never unloaded, since
// OpenVINO's threads outlive us. A failure is not kept: the next call searches anew.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/shared_library.h"
#include "openvino/openvino.h"
#include "openvino/search.h"
#include "openvino/types.h"
#include "openvino/version.h"

namespace pteron {

namespace ov {
// In a loaded library every required function is there; an optional one may be null.
struct Functions {
#define OV_REQUIRED(type, name, arguments) type(*name) arguments = nullptr;
#define OV_OPTIONAL OV_REQUIRED
#include "openvino/functions.inc"
#undef OV_OPTIONAL
#undef OV_REQUIRED
};
}  // namespace ov

class OpenvinoLibrary {
 public:
  OpenvinoLibrary(const ov::Functions& functions, std::string file, std::string version_text)
      : functions_(functions),
        file_(std::move(file)),
        version_text_(std::move(version_text)),
        version_(parse_openvino_version(version_text_)) {}

  // library->ov_core_create(&core)
  const ov::Functions* operator->() const { return &functions_; }

  const std::string& file() const { return file_; }                  // Full path.
  const std::string& version_text() const { return version_text_; }  // OpenVINO's whole build text.
  OpenvinoVersion version() const { return version_; }

 private:
  ov::Functions functions_;
  std::string file_;
  std::string version_text_;
  OpenvinoVersion version_;
};

// Checks an opened library and fills the table: every required function is there, the version is
// not below 2025.1, and the numbers of the element types are those that we compiled in. Fails with
// Missing; the message says what is wrong, and leaves naming the file to the caller.
Result<OpenvinoLibrary> check_openvino(const SharedLibrary& library, const std::string& file);

// The process's OpenVINO, which lives to the end of the process. `requested` is a file or a folder,
// or empty: then it is searched for, as docs/finding_openvino.md says. Thread-safe.
// Fails with Missing: every place tried, what was wrong there, and the remedy; or which OpenVINO
// this process has already, if another one is asked for.
Result<const OpenvinoLibrary*> load_openvino(const std::string& requested);

// The same, with what the search met on its way, for `pteron doctor`.
struct OpenvinoSearch {
  Result<const OpenvinoLibrary*> library;
  std::vector<SearchStep> steps;
  std::vector<std::string>
      others;  // Copies in the places of the search that are not the loaded one.
};
OpenvinoSearch search_openvino(const std::string& requested);

// One attempt in the given surroundings, whatever was loaded before by this function's callers:
// what load_openvino does when the process has no OpenVINO of ours yet.
struct OpenvinoAttempt {
  Result<OpenvinoLibrary> library;
  std::vector<SearchStep> steps;
};
OpenvinoAttempt try_openvino(const std::string& requested, const SearchSurroundings& surroundings);

}  // namespace pteron
