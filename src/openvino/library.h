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
#include "openvino/types.h"
#include "openvino/version.h"

namespace pteron {

// Every required function is there; an optional one may be null.
struct OpenvinoFunctions {
  using ov_status_e = ov::ov_status_e;
  using ov_element_type_e = ov::ov_element_type_e;
  using ov_core_t = ov::ov_core_t;
  using ov_model_t = ov::ov_model_t;
  using ov_compiled_model_t = ov::ov_compiled_model_t;
  using ov_infer_request_t = ov::ov_infer_request_t;
  using ov_tensor_t = ov::ov_tensor_t;
  using ov_output_const_port_t = ov::ov_output_const_port_t;
  using ov_version_t = ov::ov_version_t;
  using ov_available_devices_t = ov::ov_available_devices_t;
  using ov_shape_t = ov::ov_shape_t;
  using ov_partial_shape_t = ov::ov_partial_shape_t;
  using ov_profiling_info_list_t = ov::ov_profiling_info_list_t;

#define OV_REQUIRED(type, name, arguments) type(*name) arguments = nullptr;
#define OV_OPTIONAL OV_REQUIRED
#include "openvino/functions.inc"
#undef OV_OPTIONAL
#undef OV_REQUIRED
};

class OpenvinoLibrary {
 public:
  OpenvinoLibrary(const OpenvinoFunctions& functions, std::string file, std::string version_text)
      : functions_(functions),
        file_(std::move(file)),
        version_text_(std::move(version_text)),
        version_(parse_openvino_version(version_text_)) {}

  // library->ov_core_create(&core)
  const OpenvinoFunctions* operator->() const { return &functions_; }

  const std::string& file() const { return file_; }                  // Full path.
  const std::string& version_text() const { return version_text_; }  // OpenVINO's whole build text.
  OpenvinoVersion version() const { return version_; }

 private:
  OpenvinoFunctions functions_;
  std::string file_;
  std::string version_text_;
  OpenvinoVersion version_;
};

// Checks an opened library and fills the table: every required function is there, the version is
// not below 2025.1, and the numbers of the element types are those that we compiled in.
// Fails with Missing (a function) or Unsupported (the version, the numbers); `file` names it.
Result<OpenvinoLibrary> check_openvino(const SharedLibrary& library, const std::string& file);

// The process's OpenVINO, which lives to the end of the process. `requested` is a file or a folder,
// or empty: then it is searched for, as docs/finding_openvino.md says. Thread-safe.
// Fails with Missing (every place tried, and the remedy) or Unsupported (too old, or another
// OpenVINO than the requested one is in this process).
Result<const OpenvinoLibrary*> load_openvino(const std::string& requested);

// The same, with what the search met on its way, for `pteron doctor`.
struct OpenvinoSearch {
  Result<const OpenvinoLibrary*> library;
  std::vector<SearchStep> steps;
  std::vector<std::string> others;  // Copies in the places searched that are not the loaded one.
};
OpenvinoSearch search_openvino(const std::string& requested);

}  // namespace pteron
