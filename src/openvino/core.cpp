#include "openvino/core.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "base/cpu.h"
#include "openvino/installation.h"
#include "openvino/status.h"

namespace pteron {
namespace {

using Properties = std::vector<std::pair<std::string, std::string>>;

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "none" : text;
}

bool is_cpu(const std::string& device) { return device == "CPU"; }

struct PrecisionName {
  const char* capability;  // In OPTIMIZATION_CAPABILITIES
  const char* hint;        // For INFERENCE_PRECISION_HINT
};

PrecisionName precision_name(Precision precision) {
  switch (precision) {
    case Precision::F16:
      return {"FP16", "f16"};
    case Precision::BF16:
      return {"BF16", "bf16"};
    default:
      return {"FP32", "f32"};
  }
}

Result<Properties> choose_properties(const std::string& device,
                                     const std::vector<std::string>& capabilities,
                                     const OpenvinoOptions& options) {
  Properties properties;
  const auto can = [&](const char* what) {
    return std::find(capabilities.begin(), capabilities.end(), what) != capabilities.end();
  };
  switch (options.precision) {
    case Precision::Program:
      // The f32 hint alone leaves OpenVINO free to quantize activations beside 4- and 8-bit
      // weights.
      properties.emplace_back("EXECUTION_MODE_HINT", "ACCURACY");
      if (can("FP32")) properties.emplace_back("INFERENCE_PRECISION_HINT", "f32");
      break;
    case Precision::Fast:
      break;
    case Precision::F32:
    case Precision::F16:
    case Precision::BF16: {
      const PrecisionName name = precision_name(options.precision);
      if (!can(name.capability)) {
        return Error{Code::InvalidArgument, "device " + device + " cannot compute in " + name.hint +
                                                "; it can do " + join(capabilities)};
      }
      properties.emplace_back("INFERENCE_PRECISION_HINT", name.hint);
      break;
    }
  }
  properties.emplace_back("PERFORMANCE_HINT",
                          options.hint == Hint::Throughput ? "THROUGHPUT" : "LATENCY");
  if (is_cpu(device)) {
    const int usable = usable_cores();
    const bool limited = usable < hardware_cores();
    if (options.threads > 0 || limited) {
      properties.emplace_back("INFERENCE_NUM_THREADS",
                              std::to_string(options.threads > 0 ? options.threads : usable));
      // Pinned threads of several processes would all sit on the same first cores.
      properties.emplace_back("ENABLE_CPU_PINNING", "NO");
    }
  }
  if (options.profile) properties.emplace_back("PERF_COUNT", "YES");
  if (!options.cache_dir.empty()) properties.emplace_back("CACHE_DIR", options.cache_dir);
  for (const auto& [key, value] : options.config) {
    const auto same = std::find_if(properties.begin(), properties.end(),
                                   [&](const auto& p) { return p.first == key; });
    if (same != properties.end()) {
      same->second = value;
    } else {
      properties.emplace_back(key, value);
    }
  }
  return properties;
}

class CoreHandle {
 public:
  CoreHandle(const OpenvinoLibrary& library, ov::ov_core_t* core)
      : library_(library), core_(core) {}
  CoreHandle(const CoreHandle&) = delete;
  CoreHandle& operator=(const CoreHandle&) = delete;
  ~CoreHandle() {
    if (core_ != nullptr) library_->ov_core_free(core_);
  }
  ov::ov_core_t* get() const { return core_; }
  ov::ov_core_t* release() { return std::exchange(core_, nullptr); }

 private:
  const OpenvinoLibrary& library_;
  ov::ov_core_t* core_;
};

std::string no_such_device(const std::string& device,
                           const Result<std::vector<std::string>>& devices) {
  return "device \"" + printable(device) + "\" is not there; this machine has " +
         (devices.ok() ? join(*devices) : "none that OpenVINO can list");
}

std::string family_of(const std::string& device) { return device.substr(0, device.find('.')); }

// A plugin loads without a device of its kind, and then refuses whatever it is asked.
Result<void> check_presence(const OpenvinoLibrary& library, const ov::ov_core_t* core,
                            const std::string& device) {
  const auto devices = available_devices(library, core);
  if (!devices.ok()) return {};
  const bool listed = std::any_of(devices->begin(), devices->end(), [&](const std::string& name) {
    return family_of(name) == family_of(device);
  });
  if (listed) return {};
  return Error{Code::Missing, no_such_device(device, devices)};
}

// The program's precision is asked for where the device knows the words: an NPU's driver may not.
bool is_beyond(const std::vector<std::string>& supported, const std::string& key,
               const OpenvinoOptions& options) {
  const bool is_ours = options.precision == Precision::Program &&
                       (key == "EXECUTION_MODE_HINT" || key == "INFERENCE_PRECISION_HINT") &&
                       std::none_of(options.config.begin(), options.config.end(),
                                    [&](const auto& asked) { return asked.first == key; });
  return is_ours && !supported.empty() &&
         std::find(supported.begin(), supported.end(), key) == supported.end();
}

Result<const Core*> make_core(const OpenvinoLibrary& library, const std::string& device,
                              const OpenvinoOptions& options) {
  ov::ov_core_t* made = nullptr;
  if (const auto status = library->ov_core_create(&made); status != ov::ov_status_e::Ok) {
    return openvino_error(library, Code::Missing, "OpenVINO's core cannot be made", status);
  }
  CoreHandle core(library, made);
  char* text = nullptr;
  const auto status =
      library->ov_core_get_property(core.get(), device.c_str(), "OPTIMIZATION_CAPABILITIES", &text);
  if (status != ov::ov_status_e::Ok) {
    const std::string reason = take_last_error(library, status);  // Before listing fails as well.
    const std::string what = is_cpu(device)
                                 ? explain_missing_cpu(library)
                                 : no_such_device(device, available_devices(library, core.get()));
    return openvino_error(library, Code::Missing, what, status, reason);
  }
  const std::vector<std::string> capabilities = split_words(take_text(library, text));
  std::vector<std::string> supported;
  if (!is_cpu(device)) {
    PTERON_TRY(check_presence(library, core.get(), device));
    supported = split_words(device_property(library, core.get(), device, "SUPPORTED_PROPERTIES"));
  }
  PTERON_ASSIGN(Properties properties, choose_properties(device, capabilities, options));
  for (const auto& [key, value] : properties) {
    if (is_beyond(supported, key, options)) continue;
    const auto set =
        library->ov_core_set_property(core.get(), device.c_str(), key.c_str(), value.c_str());
    if (set != ov::ov_status_e::Ok) {
      return openvino_error(
          library, Code::InvalidArgument,
          "device " + device + " refuses the property " + printable(key) + "=" + printable(value),
          set);
    }
  }
  // Only the CPU takes a number of threads; asked of another device it is shown as asked for.
  if (!is_cpu(device) && options.threads > 0)
    properties.emplace_back("INFERENCE_NUM_THREADS", std::to_string(options.threads));
  return new Core{library, core.release(), device, std::move(properties)};
}

std::string core_key(const OpenvinoLibrary& library, const std::string& device,
                     const OpenvinoOptions& options) {
  std::string key = library.file() + '\0' + device + '\0' + options.cache_dir + '\0';
  for (const int number : {static_cast<int>(options.precision), static_cast<int>(options.hint),
                           options.threads, static_cast<int>(options.profile)}) {
    key += std::to_string(number) + ',';
  }
  for (const auto& [name, value] : options.config) key += name + '\0' + value + '\0';
  return key;
}

}  // namespace

std::string normalize_device(const std::string& name) {
  const size_t first = name.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  std::string out = name.substr(first, name.find_last_not_of(" \t") - first + 1);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return out;
}

std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text + " ") {
    if (c != ' ' && c != ',' && c != '\n') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  return words;
}

Result<std::vector<std::string>> available_devices(const OpenvinoLibrary& library,
                                                   const ov::ov_core_t* core) {
  ov::ov_available_devices_t list{};
  const auto status = library->ov_core_get_available_devices(core, &list);
  if (status != ov::ov_status_e::Ok) {
    return openvino_error(library, Code::Failed, "the devices cannot be listed", status);
  }
  std::vector<std::string> names(list.devices, list.devices + list.size);
  library->ov_available_devices_free(&list);
  return names;
}

std::string device_property(const OpenvinoLibrary& library, const ov::ov_core_t* core,
                            const std::string& device, const char* key) {
  char* text = nullptr;
  const auto status = library->ov_core_get_property(core, device.c_str(), key, &text);
  return status == ov::ov_status_e::Ok ? take_text(library, text) : std::string();
}

Result<const Core*> find_core(const OpenvinoLibrary& library, const std::string& device,
                              const OpenvinoOptions& options) {
  // Never destroyed: OpenVINO's threads outlive us.
  static std::mutex mutex;
  static auto* const cores = new std::map<std::string, const Core*>;
  const std::lock_guard lock(mutex);
  std::string key = core_key(library, device, options);
  if (const auto found = cores->find(key); found != cores->end()) return found->second;
  PTERON_ASSIGN(const Core* core, make_core(library, device, options));
  cores->emplace(std::move(key), core);
  return core;
}

}  // namespace pteron
