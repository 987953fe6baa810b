// The functions of openvino/openvino.h for a build with PTERON_OPENVINO=OFF: each says so.
#include "api/accelerate.h"
#include "openvino/openvino.h"

namespace pteron {
namespace {

constexpr const char* kLeftOut =
    "this library was built without OpenVINO (PTERON_OPENVINO=OFF); use a build that has it";

class NoOpenvino final : public Delegate {
 public:
  std::string_view id() const override { return "OpenvinoBackend"; }
  Result<std::shared_ptr<CompiledDelegate>> compile(const DelegateSource&) override {
    return Error{Code::Missing, kLeftOut};
  }
};

}  // namespace

std::shared_ptr<Delegate> make_openvino_delegate(OpenvinoOptions) {
  return std::make_shared<NoOpenvino>();
}

std::shared_ptr<Accelerator> make_openvino_accelerator(OpenvinoOptions, bool) { return nullptr; }

Result<OpenvinoReport> list_devices(const std::string&) { return Error{Code::Missing, kLeftOut}; }

OpenvinoReport inspect_openvino(const std::string&) {
  OpenvinoReport report;
  report.problems.emplace_back(kLeftOut);
  return report;
}

void add_openvino_path(std::string) {}
void set_openvino_remedy(std::string) {}

}  // namespace pteron
