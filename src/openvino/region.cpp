// Compiles models that Pteron wrote itself (src/lowering).
#include <cstring>

#include "openvino/compiled_model.h"
#include "openvino/core.h"
#include "openvino/handle.h"
#include "openvino/openvino.h"
#include "openvino/status.h"

namespace pteron {

using Status = ov::ov_status_e;

Result<std::shared_ptr<CompiledDelegate>> compile_model(OpenvinoOptions options, ModelSource model,
                                                        std::vector<bool> staged) {
  std::string device = normalize_device(options.device);
  if (device.empty()) device = "CPU";
  if (device == "NONE")
    return Error{Code::Missing, "OpenVINO is switched off by the option device=none"};
  PTERON_ASSIGN(const OpenvinoLibrary* library, load_openvino(options.library));
  // OpenVINO would hash what the constants lie in, and between them there may be no memory.
  options.cache_dir.clear();
  PTERON_ASSIGN(const Core* core, find_core(*library, device, options));
  TensorHandle weights;
  if (model.weights_size > 0) {
    int64_t size = static_cast<int64_t>(model.weights_size);
    ov::ov_tensor_t* raw = nullptr;
    const Status status = (*library)->ov_tensor_create_from_host_ptr(
        ov::ov_element_type_e::U8, {1, &size}, const_cast<std::byte*>(model.weights), &raw);
    if (status != Status::Ok)
      return openvino_error(*library, Code::Failed, "its constants cannot be given", status);
    weights = TensorHandle(*library, raw);
  }
  ov::ov_model_t* read = nullptr;
  Status status = (*library)->ov_core_read_model_from_memory_buffer(
      core->handle, model.text.data(), model.text.size(), weights.get(), &read);
  if (status != Status::Ok)
    return openvino_error(*library, Code::Unsupported, "OpenVINO does not read it", status);
  const ModelHandle source(*library, read);
  ov::ov_compiled_model_t* compiled = nullptr;
  status =
      (*library)->ov_core_compile_model(core->handle, source.get(), device.c_str(), 0, &compiled);
  if (status != Status::Ok)
    return openvino_error(*library, Code::Unsupported, "OpenVINO does not compile it", status);
  return make_compiled_model(*core, CompiledModelHandle(*library, compiled), std::move(staged),
                             std::move(model.keep));
}

}  // namespace pteron
