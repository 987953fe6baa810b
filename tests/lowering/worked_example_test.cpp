// The worked example of docs/acceleration.md: the IR that a golden program becomes is the one that
// the document shows, but for where the graph's own constants lie: somewhere on the heap.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <memory>
#include <regex>
#include <string>
#include <utility>

#include "kernels/tables.h"
#include "lowering/lowering.h"
#include "program/decode.h"
#include "runtime/method.h"

namespace pteron {
namespace {

// The document's only block of XML.
std::string documented_ir() {
  std::ifstream file(PTERON_ACCELERATION_DOCUMENT);
  std::string text;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line == "```xml" || line == "```") {
      inside = line == "```xml";
    } else if (inside) {
      text += line + "\n";
    }
  }
  return text;
}

// The IR of all regions of a program's method "forward".
std::string ir_of(const std::string& path) {
  std::string text;
  auto file = open_file(path, true);
  if (!file.ok()) return file.error().message;
  auto program = decode_program(*std::move(file));
  if (!program.ok()) return program.error().message;
  RuntimeOptions options;
  for (const auto& table : all_kernels()) options.kernels.push_back(table);
  options.accelerator = make_accelerator(
      [&](LoweredRegion region) -> Result<std::shared_ptr<CompiledDelegate>> {
        text += region.model.text;
        return Error{Code::Unsupported, "only looked at"};
      },
      Accelerate::On);
  auto loaded = LoadedProgram::make(*std::move(program), std::move(options));
  if (!loaded.ok()) return loaded.error().message;
  auto method = Method::load(*loaded, "forward");
  if (!method.ok()) return method.error().message;
  const AccelerationReport report = (*method)->acceleration();
  EXPECT_FALSE(report.kept.empty());
  for (const auto& kept : report.kept) EXPECT_EQ(kept.reason, "only looked at");
  return text;
}

// Weights' offsets from the first of them; the others, which lie somewhere on the heap, left out.
std::string with_offsets_of_the_file(std::string text) {
  const std::regex floats("(element_type=\"f32\" shape=\"[0-9,]*\" offset=\")([0-9]+)");
  uint64_t lowest = UINT64_MAX;
  for (std::sregex_iterator at(text.begin(), text.end(), floats), end; at != end; ++at)
    lowest = std::min<uint64_t>(lowest, std::stoull((*at)[2]));
  std::string out;
  size_t done = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), floats), end; at != end; ++at) {
    out += text.substr(done, static_cast<size_t>(at->position(2)) - done);
    out += std::to_string(std::stoull((*at)[2]) - lowest);
    done = static_cast<size_t>(at->position(2) + at->length(2));
  }
  out += text.substr(done);
  return std::regex_replace(out, std::regex("(i64\" shape=\"1\" offset=\")[0-9]+"), "$1...");
}

TEST(WorkedExample, BecomesTheIrThatTheDocumentShows) {
  std::string text =
      ir_of(std::string(PTERON_GOLDEN_DIR) + "/portable/models__ModuleLinear/model.pte");
  EXPECT_EQ(with_offsets_of_the_file(text), documented_ir());
}

}  // namespace
}  // namespace pteron
