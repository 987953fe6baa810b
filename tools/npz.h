// NumPy's .npz format: a zip archive of .npy files.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "npy.h"

namespace tools {

using NamedArrays = std::vector<std::pair<std::string, Array>>;  // In the archive's order.

// Reads stored and deflated entries, zip64 sizes too. Throws UsageError.
NamedArrays read_npz(const std::string& path);

// Writes stored entries. Throws UsageError.
void write_npz(const std::string& path, const NamedArrays& arrays);

}  // namespace tools
