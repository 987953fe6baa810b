// A graph as the text that OpenVINO reads, and the bytes that the text's offsets count from.
#pragma once

#include <string>

#include "ir/graph.h"

namespace pteron::ir {

struct Model {
  std::string text;  // <net version="11">...
  // What every constant lies in: from the lowest byte of any to the highest. Between constants
  // there may be no memory at all; OpenVINO reads what the text names, and nothing else.
  const std::byte* weights = nullptr;
  size_t weights_size = 0;
  // Some of the constants, of which the graph made copies.
  std::deque<std::vector<std::byte>> copies;
};

// Inputs and outputs of the model are the graph's parameters that a result needs, and its results,
// in their order.
Model write(Graph graph, const std::string& name);

// A number as text that every version reads the same way: infinities become the greatest finite
// numbers ("inf" reads as 0 in 2025.4), and no locale matters.
std::string number_text(double value);
std::string list_text(std::span<const int64_t> values);  // "1,1"

}  // namespace pteron::ir
