#include "api/accelerate.h"

#include "lowering/lowering.h"

namespace pteron {

std::shared_ptr<Accelerator> make_openvino_accelerator(OpenvinoOptions options, bool everywhere) {
  return make_accelerator(
      [options](LoweredRegion region) {
        ir::Model& model = region.model;
        auto copies = std::make_shared<decltype(model.copies)>(std::move(model.copies));
        return compile_model(
            options, {std::move(model.text), model.weights, model.weights_size, std::move(copies)},
            std::move(region.staged));
      },
      everywhere ? Accelerate::On : Accelerate::Auto);
}

}  // namespace pteron
