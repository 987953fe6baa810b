// Owners of OpenVINO's objects: each frees its object with the function for it.
#pragma once

#include <utility>

#include "openvino/library.h"

namespace pteron {

template <typename T, void (*ov::Functions::*kFree)(T*)>
class OvHandle {
 public:
  OvHandle() = default;
  OvHandle(const OpenvinoLibrary& library, T* object) : library_(&library), object_(object) {}
  OvHandle(OvHandle&& other) noexcept
      : library_(other.library_), object_(std::exchange(other.object_, nullptr)) {}
  OvHandle& operator=(OvHandle&& other) noexcept {
    std::swap(library_, other.library_);
    std::swap(object_, other.object_);
    return *this;
  }
  ~OvHandle() {
    if (object_ != nullptr) ((*library_).operator->()->*kFree)(object_);
  }
  T* get() const { return object_; }

 private:
  const OpenvinoLibrary* library_ = nullptr;
  T* object_ = nullptr;
};

using CompiledModelHandle =
    OvHandle<ov::ov_compiled_model_t, &ov::Functions::ov_compiled_model_free>;
using ModelHandle = OvHandle<ov::ov_model_t, &ov::Functions::ov_model_free>;
using InferRequestHandle = OvHandle<ov::ov_infer_request_t, &ov::Functions::ov_infer_request_free>;
using TensorHandle = OvHandle<ov::ov_tensor_t, &ov::Functions::ov_tensor_free>;
using PortHandle = OvHandle<ov::ov_output_const_port_t, &ov::Functions::ov_output_const_port_free>;

}  // namespace pteron
