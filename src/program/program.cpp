#include "program/program.h"

namespace pteron {

size_t TensorDef::nbytes() const {
  size_t bytes = dtype_size(dtype);
  for (const int32_t size : sizes) bytes *= static_cast<size_t>(size);
  return bytes;
}

}  // namespace pteron
