// The OpenVINO half, as the C interface's implementation sees it: the delegate, the devices, the
// doctor.
//
// OpenVINO is loaded at run time through its C library, when it is first needed; a failed load can
// be tried again. Everything here may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/delegate.h"

namespace pteron {

enum class Precision : int { Program = 0, Fast = 1, F32 = 2, F16 = 3, BF16 = 4 };
enum class Hint : int { Latency = 0, Throughput = 1 };

struct OpenvinoOptions {
  std::string library;  // File or folder; empty: searched for.
  std::string
      device;  // Empty: what the compile spec says, else CPU. "none" refuses to load OpenVINO.
  std::string cache_dir;  // Empty: no cache.
  Precision precision = Precision::Program;
  Hint hint = Hint::Latency;
  int threads = 0;  // 0: the cores that this process may use.
  bool profile = false;
  std::vector<std::pair<std::string, std::string>> config;  // OpenVINO properties of the device.
};

// The delegate "OpenvinoBackend".
std::shared_ptr<Delegate> make_openvino_delegate(OpenvinoOptions options);

// A model in OpenVINO's own format (IR).
struct ModelSource {
  std::string text;  // XML.
  // What the text's offsets count from; between constants there may be no memory at all.
  const std::byte* weights = nullptr;
  size_t weights_size = 0;
  std::shared_ptr<const void> keep;  // What holds weights, if the caller does not see to it.
};

// Compiles a model on the device that the options name, CPU if none; its weights must outlive it.
// `staged`: by output, whether it must not be written before the model has run. Thread-safe. Fails
// with Missing (no OpenVINO, no device) or Unsupported (with OpenVINO's text).
Result<std::shared_ptr<CompiledDelegate>> compile_model(OpenvinoOptions options, ModelSource model,
                                                        std::vector<bool> staged);

struct DeviceReport {
  std::string name;                       // "CPU", "GPU.1"
  std::string full_name;                  // "Intel(R) Xeon(R) ..."
  std::vector<std::string> capabilities;  // OPTIMIZATION_CAPABILITIES: "FP32", "BF16", "INT8", ...
  int64_t memory_bytes = 0;               // 0: the device does not say.
  std::string error;                      // Why the device cannot be used, if so.
};

// A place where OpenVINO was looked for.
struct SearchStep {
  std::string place;    // "$OPENVINO_LIB_PATH", "/opt/intel/...", "libopenvino_c.so"
  std::string outcome;  // "not set", "no libopenvino_c.so*", "loaded", the system's error text
};

struct OpenvinoReport {
  bool ok = false;      // Loaded, supported, and has a device.
  std::string library;  // The file that was loaded.
  std::string version;  // "2025.4.1-20426-82bbf0292c5-releases/2025/4"
  std::vector<SearchStep> searched;
  std::vector<std::string> others;  // Further copies that were found and not loaded.
  std::vector<DeviceReport> devices;
  std::vector<std::string> problems;  // Each with its remedy.
};

Result<OpenvinoReport> list_devices(const std::string& library);
// Never fails: what is wrong is in the report.
OpenvinoReport inspect_openvino(const std::string& library);

// A further place to search, after the caller's and the environment's.
void add_openvino_path(std::string path);
// What to do where none is found, in the words of whoever installs it; empty: our own.
void set_openvino_remedy(std::string remedy);

}  // namespace pteron
