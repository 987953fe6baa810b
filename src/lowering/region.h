// One region while it grows: instructions of a chain, followed over memory in single-assignment
// form, and the graph that they become.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lowering/call.h"
#include "lowering/lowering.h"
#include "lowering/memory.h"
#include "lowering/method_facts.h"

namespace pteron {

class RegionBuilder {
 public:
  // The region begins before the instruction at `begin`.
  RegionBuilder(MethodFacts& facts, MethodFacts::Site begin) : facts_(facts), begin_(begin) {}

  // Takes in the instruction that follows; or says why it cannot.
  Reason add(size_t index, const Step& step);
  // Whether it has as much as OpenVINO compiles in a few seconds.
  bool is_full() const { return graph_.nodes().size() > kMostNodes; }
  // Whether it computes any tensor.
  bool has_work() const { return has_work_; }
  // What its kernels would take, roughly, in ns on two cores.
  double work() const { return work_; }

  // Ends it before instruction `end`. The region lacks what is compiled of the graph.
  Reason finish(size_t end, Region& region, LoweredRegion& lowered);

 private:
  static constexpr size_t kMostNodes = 20'000;
  // A result that a row did not set.
  static constexpr ir::Output kUnset{UINT32_MAX, 0};

  Reason add_operator(const Step& step);
  Reason add_view(const Step& step);
  void add_number(const Step& step);
  Reason resolve(const Step& step, size_t i, bool is_output, Call::Argument& argument);
  Reason resolve_tensor(const Step& step, ValueIndex value, bool is_output, LoweredTensor& tensor);
  Reason resolve_number(ValueIndex value, int64_t& known, std::optional<ir::Output>& unknown);
  std::optional<ir::Output> number_of(ValueIndex value, int depth);
  std::optional<ir::Output> lower_number_of(const Step& step, int depth);
  Reason read(ValueIndex value, const TensorDef& def, ir::Output& output);
  ir::Output read_constant(const TensorDef& def);
  std::optional<ir::Output> source_of_sizes(ValueIndex value);
  ir::Output add_parameter(ValueIndex value, const TensorDef& def);
  Reason check_output(const Step& step, const Call& call, size_t i);
  void define(ValueIndex value, ir::Output output);
  Reason add_outputs(size_t end, Region& region);
  Reason find_steps_to_run(size_t end, Region& region, std::vector<ValueIndex>& needed);
  bool is_read_outside(ValueIndex value, size_t end) const;
  void note_work(const Step& step, const Call& call);

  MethodFacts& facts_;
  MethodFacts::Site begin_;
  ir::Graph graph_;
  Ranges ranges_{graph_};
  Memory memory_;
  std::vector<std::pair<ValueIndex, ir::Output>> parameters_;
  // What tensors and numbers were last, under their own names.
  std::map<ValueIndex, ir::Output> tensors_;
  std::map<ValueIndex, ir::Output> numbers_;
  bool has_work_ = false;
  double work_ = 0;
};

}  // namespace pteron
