// The inputs of a run: from files and numbers of the user's, or made up.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "session.h"

namespace tools {

// Values for every input of a method; keeps the arrays that they point at.
struct Inputs {
  std::deque<Array> arrays;
  std::deque<std::string> texts;
  std::vector<pteron_value> values;
  bool made_up = false;
};

// Throws UsageError: too many or too few inputs, an unreadable file. What is made up and no tensor
// is what the program was traced with.
Inputs make_inputs(pteron_program* program, pteron_method* method, const Options& options);

}  // namespace tools
