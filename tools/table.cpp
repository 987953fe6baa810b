#include "table.h"

#include <algorithm>
#include <cstdio>

#include "platform.h"
#include "text.h"

namespace tools {
namespace {

// Characters, not bytes: UTF-8's continuation bytes do not count.
size_t width(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

// A whole character of UTF-8.
void drop_last(std::string& text) {
  while ((static_cast<unsigned char>(text.back()) & 0xc0) == 0x80 && text.size() > 1)
    text.pop_back();
  text.pop_back();
}

bool is_number(const std::string& text) {
  return !text.empty() && ((text[0] >= '0' && text[0] <= '9') || text[0] == '-');
}

}  // namespace

std::string format_table(std::vector<std::vector<std::string>> rows) {
  for (auto& row : rows) {
    for (std::string& cell : row) cell = escaped(cell);
  }
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  const size_t limit = is_terminal_stdout() ? static_cast<size_t>(terminal_width()) : SIZE_MAX;
  std::string out;
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (size_t i = 0; i < rows[r].size(); ++i) {
      const std::string& cell = rows[r][i];
      const std::string padding(widths[i] - width(cell), ' ');
      if (i > 0) line += "  ";
      const bool right = r > 0 && is_number(cell) && i > 0;
      const bool last = i + 1 == rows[r].size();
      line += right ? padding + cell : last ? cell : cell + padding;
    }
    if (width(line) > limit && limit > 3) {
      while (width(line) > limit - 3) drop_last(line);
      line += "...";
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    out += line + "\n";
  }
  return out;
}

std::string format_bytes(double bytes) {
  const char* units[] = {"B", "kB", "MB", "GB", "TB"};
  size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < 5) {
    bytes /= 1000;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof(text), unit == 0 ? "%.0f %s" : "%.3g %s", bytes, units[unit]);
  return text;
}

std::string format_ms(double ms) {
  char text[32];
  if (ms >= 1000)
    std::snprintf(text, sizeof(text), "%.3f s", ms / 1000);
  else if (ms >= 1)
    std::snprintf(text, sizeof(text), "%.3f ms", ms);
  else
    std::snprintf(text, sizeof(text), "%.2f us", ms * 1000);
  return text;
}

}  // namespace tools
