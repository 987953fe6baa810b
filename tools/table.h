// Columns of text for people.
#pragma once

#include <string>
#include <vector>

namespace tools {

// Rows of cells, the first a heading; columns are as wide as their widest cell, numbers to the
// right. Control characters in cells are escaped. Cells of the last column are cut to the
// terminal's width, where there is one.
std::string format_table(std::vector<std::vector<std::string>> rows);

std::string format_bytes(double bytes);  // "1.95 MB"
std::string format_ms(double ms);        // "12.3 ms", "9.8 us"

}  // namespace tools
