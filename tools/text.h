// Words of messages: counted things, and text that is not ours.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tools {

// "1 input", "2 inputs"
std::string counted(size_t count, std::string_view noun);

// What to add to an error about a path that is not there: a shell expands ~, though not in
// --option=~/x, and nothing else does.
std::string tilde_remedy(std::string_view path);

// The text with control characters as in a C string (\n, \x1b; U+009B as \x9b), so that a name out
// of a file cannot steer a terminal. `lines`: what ends lines stays.
std::string escaped(std::string_view text, bool lines = false);

}  // namespace tools
