#include "openvino/compiled_model.h"

#include <algorithm>

#include "base/text.h"
#include "openvino/request.h"
#include "openvino/status.h"

namespace pteron {
namespace {

class CompiledModel final : public CompiledDelegate {
 public:
  CompiledModel(const Core& core, CompiledModelHandle model, Ports ports, std::vector<bool> staged,
                std::shared_ptr<const void> keep)
      : core_(core),
        keep_(std::move(keep)),
        model_(std::make_shared<CompiledModelHandle>(std::move(model))),
        ports_(std::move(ports)),
        staged_(std::move(staged)) {}

  Result<std::unique_ptr<DelegateInstance>> instantiate(const Args& args) override {
    const size_t wanted = ports_.inputs.size() + ports_.outputs.size();
    if (args.size() != wanted) {
      return Error{Code::Malformed, "the model has " + counted(ports_.inputs.size(), "input") +
                                        " and " + counted(ports_.outputs.size(), "output") +
                                        ", but the program gives " +
                                        counted(args.size(), "argument")};
    }
    for (size_t i = 0; i < ports_.inputs.size(); ++i)
      PTERON_TRY(check_input(ports_.inputs[i], args.value(i)));
    for (size_t i = 0; i < ports_.outputs.size(); ++i) {
      PTERON_TRY(check_output(ports_.outputs[i], args.value(ports_.inputs.size() + i)));
    }
    return make_request(core_.library, model_, ports_, args, staged_);
  }

  ExecutionReport report() const override {
    ExecutionReport report;
    report.ran_by = "OpenVINO " + core_.library.version().text();
    report.library = core_.library.file();
    report.device = core_.device;
    report.precision = property("INFERENCE_PRECISION_HINT");
    for (const char* key : {"EXECUTION_DEVICES", "EXECUTION_MODE_HINT", "INFERENCE_NUM_THREADS",
                            "NUM_STREAMS", "PERFORMANCE_HINT", "ENABLE_CPU_PINNING"}) {
      add(report, key);
    }
    for (const auto& asked : core_.properties) add(report, asked.first.c_str());
    report.requested = core_.properties;
    return report;
  }

 private:
  std::string property(const char* key) const {
    char* text = nullptr;
    const auto status = core_.library->ov_compiled_model_get_property(model_->get(), key, &text);
    return status == ov::ov_status_e::Ok ? take_text(core_.library, text) : std::string();
  }

  void add(ExecutionReport& report, const char* key) const {
    const auto same = [&](const auto& p) { return p.first == key; };
    if (std::any_of(report.properties.begin(), report.properties.end(), same)) return;
    const std::string value = property(key);
    if (!value.empty()) report.properties.emplace_back(key, value);
  }

  const Core& core_;
  std::shared_ptr<const void> keep_;
  std::shared_ptr<CompiledModelHandle> model_;
  Ports ports_;
  std::vector<bool> staged_;
};

}  // namespace

Result<std::shared_ptr<CompiledDelegate>> make_compiled_model(const Core& core,
                                                              CompiledModelHandle model,
                                                              std::vector<bool> staged,
                                                              std::shared_ptr<const void> keep) {
  PTERON_ASSIGN(Ports ports, read_ports(core.library, model.get()));
  return std::shared_ptr<CompiledDelegate>(std::make_shared<CompiledModel>(
      core, std::move(model), std::move(ports), std::move(staged), std::move(keep)));
}

}  // namespace pteron
