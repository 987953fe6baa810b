// What the integers of a graph may be. OpenVINO computes int64 in int32, and many operations on
// int32 in float32, which holds integers to 2^24: a row says how great its operands may be, and
// what a method's caller may give is looked at before each run.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "ir/graph.h"

namespace pteron {

struct Range {
  int64_t low = INT64_MIN;
  int64_t high = INT64_MAX;
  bool within(const Range& other) const { return other.low <= low && high <= other.high; }
  bool operator==(const Range&) const = default;
};

constexpr Range kInt32{INT32_MIN, INT32_MAX};
constexpr Range kExactInFloat{-(1 << 24), 1 << 24};

// Of the elements of outputs of ints and bools, by interval arithmetic from parameters and
// constants. The graph may grow meanwhile.
class Ranges {
 public:
  explicit Ranges(const ir::Graph& graph) : graph_(graph) {}

  Range of(ir::Output output);
  // Sees to it that the elements are within a range, if need be by what parameters may be; false
  // where they may not be.
  bool demand(ir::Output output, const Range& within);
  // By parameter's node: what its elements have to be, else the graph must not run.
  const std::map<uint32_t, Range>& checks() const { return checks_; }

 private:
  Range find(const ir::Node& node) const;
  Range known(ir::Output output) const;
  Range input(const ir::Node& node, size_t i) const { return known(node.inputs[i]); }
  // The parameters that an output of ints is computed from.
  std::vector<uint32_t> parameters_of(ir::Output output) const;
  // The only one, if the output has its elements and no others; UINT32_MAX if not.
  uint32_t moved_from(ir::Output output) const;
  void restrict(uint32_t parameter, const Range& to);

  const ir::Graph& graph_;
  std::vector<Range> known_;  // By node, as far as they have been asked for.
  std::map<uint32_t, Range> checks_;
};

}  // namespace pteron
