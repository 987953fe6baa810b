#include "api/accelerate.h"

#include "lowering/lowering.h"

namespace pteron {

std::shared_ptr<Accelerator> make_openvino_accelerator(OpenvinoOptions options, bool everywhere) {
  return make_accelerator(
      [options](LoweredRegion region) {
        return compile_model(options, std::move(region.model), std::move(region.staged));
      },
      everywhere ? Accelerate::On : Accelerate::Auto);
}

}  // namespace pteron
