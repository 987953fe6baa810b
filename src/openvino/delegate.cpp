// The delegate "OpenvinoBackend": payloads that ExecuTorch's OpenVINO partitioner exported.
#include <algorithm>
#include <initializer_list>

#include "base/text.h"
#include "openvino/blob.h"
#include "openvino/compiled_model.h"
#include "openvino/core.h"
#include "openvino/installation.h"
#include "openvino/status.h"

namespace pteron {
namespace {

// The compile spec's device: text from a file, so it is bounded and printable before anyone uses
// it.
Result<std::string> spec_device(const DelegateDef& def) {
  std::string device;
  bool found = false;
  for (const CompileSpec& spec : def.specs) {
    if (spec.key != "device") continue;
    if (found) return Error{Code::Malformed, "the compile spec \"device\" is there twice"};
    found = true;
    device.assign(reinterpret_cast<const char*>(spec.value.data()),
                  std::min<size_t>(spec.value.size(), 256));
    while (!device.empty() && device.back() == '\0') device.pop_back();
    const bool plain = std::all_of(device.begin(), device.end(), [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
             c == '.' || c == ':' || c == ',' || c == '_' || c == '-' || c == '(' || c == ')' ||
             c == ' ';
    });
    if (spec.value.size() > 256 || !plain) {
      return Error{Code::Malformed, "the compile spec \"device\" holds no device name but " +
                                        counted(spec.value.size(), "byte") + ", \"" +
                                        printable(device.substr(0, 32)) + "\""};
    }
  }
  return device;
}

Result<void> refuse_virtual_device(const std::string& device) {
  for (const char* kind : {"AUTO", "HETERO", "MULTI", "BATCH"}) {
    const std::string name(kind);
    if (device == name || device.rfind(name + ":", 0) == 0) {
      return Error{Code::Unsupported,
                   "device " + printable(device) +
                       " takes no compiled model, and the program holds only that; "
                       "name a device itself, such as CPU"};
    }
  }
  return {};
}

bool has_any(const std::string& text, std::initializer_list<const char*> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const char* part) { return text.find(part) != std::string::npos; });
}

// A driver's words for a model that another version of it compiled.
bool blames_driver(const std::string& text) {
  return has_any(text,
                 {"driver version", "MAPPED_INFERENCE_VERSION", "compatible with the ELF",
                  "ZE_RESULT_ERROR_UNSUPPORTED_VERSION", "ZE_RESULT_ERROR_INVALID_NATIVE_BINARY"});
}

// An operator set that only some releases of OpenVINO know: 2025.1 writes type_relaxed_opset, and
// 2025.4 type_relaxed_opset1.
bool blames_operator_set(const std::string& text) {
  return has_any(text, {"unsupported opset: type_relaxed_opset", "unsupported opset: SnippetsOpset",
                        "unsupported opset: ie_internal_opset"});
}

// The system's words, in whatever plugin they come up.
bool lacks_memory(const std::string& text) {
  return has_any(text, {"bad_alloc", "Cannot allocate memory", "Resource temporarily unavailable",
                        "ut of memory"});
}

// OpenVINO refused the blob: is it damaged, or was it made for another version, machine or driver,
// or is it this OpenVINO or machine that lacks something?
Error import_error(const Core& core, const BlobInfo& blob, ov::ov_status_e status) {
  const std::string text = take_last_error(core.library, status);
  const auto error = [&](Code code, const std::string& what) {
    return openvino_error(core.library, code, what, status, text);
  };
  if (lacks_memory(text)) {
    return error(Code::ResourceLimit,
                 "there is not enough memory, or no further thread is allowed, to import the "
                 "model; raise the limits of this process (ulimit -v, ulimit -u) or container");
  }
  if (auto reads = check_reads_models(core.library, core.handle); !reads.ok()) return reads.error();

  const std::string running = "OpenVINO " + core.library.version().text();
  const std::string remedy =
      "export the model again beside " + running + ", or run it on the OpenVINO that made it";
  const std::string family = core.device.substr(0, core.device.find('.'));
  const std::string made_by = "the model was compiled by " + blob.maker() + ", ";

  if (family == "NPU" && has_any(text, {"dynamic shape"})) {
    return error(Code::Unsupported,
                 "device " + core.device +
                     " needs fixed shapes: export the model again without dynamic dimensions");
  }
  if (blob.kind == BlobKind::Unknown) {
    if (family == "CPU") {
      return error(Code::Unsupported,
                   "the compiled model is not the CPU's: it was made for another device, or is "
                   "damaged; export it for the CPU");
    }
    if (blames_driver(text)) {
      return error(Code::Unsupported, "the model was compiled for another " + family +
                                          " driver; export it again with the driver of this "
                                          "machine, or install the one that it was made with");
    }
    return error(Code::Unsupported, "device " + core.device +
                                        " refuses the compiled model: it may be for another "
                                        "device, OpenVINO or driver version; " +
                                        remedy);
  }
  if (family != "CPU") {
    return error(Code::Unsupported, "the model was compiled for the CPU, and the device is " +
                                        core.device + "; use the device CPU, or export it for " +
                                        core.device);
  }
  const bool is_other_version = blob.kind == BlobKind::CpuStamped
                                    ? blob.version != core.library.version().text()
                                    : core.library.version().year >= 2026;
  if (is_other_version)
    return error(Code::Unsupported, made_by + "and this process runs " + running + "; " + remedy);
  if (blob.kind == BlobKind::CpuStamped) {
    return error(Code::Unsupported,
                 made_by + "the version in use, " +
                     (blob.isa.empty() ? "" : "for a CPU of " + blob.isa + ", ") +
                     "and perhaps this CPU is of another kind; export it again "
                     "on this one");
  }
  if (blames_operator_set(text)) {
    return error(Code::Unsupported,
                 made_by + "but not by " + running + ", which runs here; " + remedy);
  }
  return error(Code::Malformed, "the OpenVINO blob is damaged; export the model again");
}

class OpenvinoDelegate final : public Delegate {
 public:
  explicit OpenvinoDelegate(OpenvinoOptions options) : options_(std::move(options)) {}

  std::string_view id() const override { return "OpenvinoBackend"; }

  Result<std::shared_ptr<CompiledDelegate>> compile(const DelegateSource& source) override {
    PTERON_ASSIGN(const std::string from_spec, spec_device(source.def));
    std::string device = normalize_device(options_.device.empty() ? from_spec : options_.device);
    if (device.empty()) device = "CPU";
    if (device == "NONE") {
      return Error{Code::Missing, "it needs OpenVINO, which the option device=none switches off"};
    }
    PTERON_TRY(refuse_virtual_device(device));
    PTERON_ASSIGN(const BlobInfo blob, inspect_blob(source.def.payload));
    PTERON_ASSIGN(const OpenvinoLibrary* library, load_openvino(options_.library));
    PTERON_ASSIGN(const Core* core, find_core(*library, device, options_));

    ov::ov_compiled_model_t* raw = nullptr;
    // From 2026 on OpenVINO reads the blob where it lies for as long as the model lives; the
    // program keeps it.
    const auto status = (*library)->ov_core_import_model(
        core->handle, reinterpret_cast<const char*>(source.def.payload.data()),
        source.def.payload.size(), device.c_str(), &raw);
    if (status != ov::ov_status_e::Ok) return import_error(*core, blob, status);
    CompiledModelHandle model(*library, raw);
    return make_compiled_model(*core, std::move(model), {}, nullptr);
  }

 private:
  OpenvinoOptions options_;
};

}  // namespace

std::shared_ptr<Delegate> make_openvino_delegate(OpenvinoOptions options) {
  return std::make_shared<OpenvinoDelegate>(std::move(options));
}

}  // namespace pteron
