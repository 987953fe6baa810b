#include "lowering/lowering.h"

#include <map>
#include <mutex>
#include <optional>

#include "lowering/method_facts.h"
#include "lowering/region.h"

namespace pteron {
namespace {

// Regions whose kernels take less than this a run are not worth the 20 ms and more that compiling
// takes: it would be repaid after some hundred runs at best, and each call costs some 10 us.
constexpr double kWorthCompilingNs = 200'000;

// One method on its way.
class Lowering {
 public:
  Lowering(const MethodView& method, const CompileRegion& compile, Accelerate when)
      : method_(method), compile_(compile), when_(when), facts_(method) {}

  Acceleration run() {
    for (size_t c = 0; c < method_.chains.size(); ++c) follow(c);
    return std::move(out_);
  }

 private:
  void follow(size_t c) {
    const auto& chain = method_.chains[c];
    MethodFacts::Site begin{c, 0};
    std::optional<RegionBuilder> region(std::in_place, facts_, begin);
    const auto restart = [&](size_t end, size_t next) {
      close(*region, begin, end);
      begin.step = next;
      region.emplace(facts_, begin);
    };
    for (size_t i = 0; i < chain.size(); ++i) {
      if (facts_.is_jump_target({c, i}) || region->is_full()) restart(i, i);
      const Reason reason = region->add(i, chain[i]);
      if (reason.empty()) continue;
      if (chain[i].kind == StepKind::Kernel) out_.refusals.push_back({c, i, reason});
      restart(i, i + 1);
    }
    close(*region, begin, chain.size());
  }

  void close(RegionBuilder& builder, MethodFacts::Site begin, size_t end) {
    if (!builder.has_work()) return;
    if (when_ == Accelerate::Auto && builder.work() < kWorthCompilingNs)
      return refuse(begin, end, "too little work to repay compiling it");
    if (!missing_.empty()) return refuse(begin, end, missing_);
    Region region;
    LoweredRegion lowered;
    if (const Reason reason = builder.finish(end, region, lowered); !reason.empty())
      return refuse(begin, end, reason);
    if (region.outputs.empty()) return;
    // Weights that were folded are copies by now.
    if (method_.give_file_back) method_.give_file_back();
    auto compiled = compile_(std::move(lowered));
    if (!compiled.ok()) {
      // Without OpenVINO, or the device, the next one fares no better.
      if (compiled.error().code == Code::Missing) missing_ = compiled.error().message;
      return refuse(begin, end, compiled.error().message);
    }
    region.compiled = *std::move(compiled);
    out_.regions.push_back(std::move(region));
  }

  void refuse(MethodFacts::Site begin, size_t end, const std::string& reason) {
    for (size_t i = begin.step; i < end; ++i) {
      if (!is_view(method_.chains[begin.chain][i]))
        out_.refusals.push_back({begin.chain, i, reason});
    }
  }

  const MethodView& method_;
  const CompileRegion& compile_;
  Accelerate when_;
  MethodFacts facts_;
  std::string missing_;
  Acceleration out_;
};

class OpenvinoAccelerator final : public Accelerator {
 public:
  OpenvinoAccelerator(CompileRegion compile, Accelerate when)
      : compile_(std::move(compile)), when_(when) {}

  // Methods of one plan share what is compiled.
  Acceleration accelerate(const MethodView& method) override {
    const std::lock_guard lock(mutex_);
    const auto found = done_.find(&method.plan);
    if (found != done_.end()) return found->second;
    return done_.emplace(&method.plan, Lowering(method, compile_, when_).run()).first->second;
  }

 private:
  CompileRegion compile_;
  Accelerate when_;
  std::mutex mutex_;
  std::map<const Plan*, Acceleration> done_;
};

}  // namespace

std::shared_ptr<Accelerator> make_accelerator(CompileRegion compile, Accelerate when) {
  return std::make_shared<OpenvinoAccelerator>(std::move(compile), when);
}

}  // namespace pteron
