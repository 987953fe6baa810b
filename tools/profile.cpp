#include <algorithm>
#include <cmath>
#include <ostream>

#include "commands.h"
#include "inputs.h"
#include "table.h"

namespace tools {
namespace {

struct Row {
  std::string where;
  std::string name;
  std::string implementation;
  double us;
};

std::string bar(double share) {
  return std::string(static_cast<size_t>(std::lround(std::clamp(share, 0.0, 1.0) * 30)), '#');
}

// Chrome's trace format: instructions on one line, OpenVINO's operators one after another on
// another.
Json make_trace(const Json& profile) {
  Json events = Json::array();
  for (const Json& row : profile["instructions"]) {
    if (row["count"] == 0) continue;
    events.push_back({{"name", row["name"]},
                      {"ph", "X"},
                      {"ts", row["start_us"]},
                      {"dur", row["total_us"]},
                      {"pid", 1},
                      {"tid", 1}});
    double at = row["start_us"];
    double inside = 0;
    for (const Json& op : row["operators"]) inside += op["wall_us"].get<double>();
    const double scale = std::min(1.0, row["total_us"].get<double>() / std::max(inside, 1e-9));
    for (const Json& op : row["operators"]) {
      events.push_back(
          {{"name", op["name"]},
           {"ph", "X"},
           {"ts", at},
           {"dur", op["wall_us"].get<double>() * scale},
           {"pid", 1},
           {"tid", 2},
           {"args", {{"type", op["type"]}, {"implementation", op["implementation"]}}}});
      at += op["wall_us"].get<double>() * scale;
    }
  }
  return {{"traceEvents", std::move(events)}};
}

}  // namespace

void profile_command(const Options& options) {
  check_output(options);
  const ProgramHandle program = open_program(options, true);
  const MethodHandle method = load_method(program, options);
  const Inputs inputs = make_inputs(program.get(), method.get(), options);
  for (size_t i = 0; i < inputs.values.size(); ++i) {
    call([&](pteron_error** error) {
      return pteron_method_bind_input(method.get(), i, &inputs.values[i], error);
    });
  }
  // The first run allocates and warms caches; the last is the one that counts.
  const double start = now_ms();
  for (int i = 0; i < 2 || (i < 20 && now_ms() - start < 500); ++i)
    call([&](pteron_error** error) { return pteron_method_execute(method.get(), error); });
  Json profile = call_json([&](char** json, pteron_error** error) {
    return pteron_method_profile(method.get(), json, error);
  });
  if (!options.output.empty()) {
    write_file(options.output, [&](std::ostream& file) { file << make_trace(profile).dump(); });
    note(options, "saved " + options.output);
  }
  profile.update(execution(method.get(), options));
  say_notes(options, profile["notes"]);
  if (options.json) return print_json(profile);

  std::vector<Row> rows;
  double total = 0;
  for (const Json& row : profile["instructions"]) {
    total += row["total_us"].get<double>();
    const std::string number =
        row["instruction"].dump() + (row["count"] > 1 ? " x" + row["count"].dump() : "");
    if (row["operators"].empty()) {
      rows.push_back({number, row["name"], "", row["total_us"]});
      continue;
    }
    // OpenVINO gives the mean of all runs, the slow first one among them: more than there is to
    // share out becomes shares of what there is.
    double inside = 0;
    for (const Json& op : row["operators"]) inside += op["wall_us"].get<double>();
    const double whole = row["total_us"];
    const double scale = inside > whole ? whole / inside : 1;
    for (const Json& op : row["operators"])
      rows.push_back({number, op["type"].get<std::string>() + " " + op["name"].get<std::string>(),
                      op["implementation"], op["wall_us"].get<double>() * scale});
    rows.push_back(
        {number, row["name"].get<std::string>() + ", the rest", "", whole - inside * scale});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.us > b.us; });
  std::vector<std::vector<std::string>> table = {
      {"instruction", "time", "share", "", "what", "implementation"}};
  for (const Row& row : rows) {
    if (row.us <= 0) continue;
    char share[16];
    std::snprintf(share, sizeof(share), "%.1f %%", total > 0 ? 100 * row.us / total : 0);
    table.push_back({row.where, format_ms(row.us / 1000), share,
                     bar(total > 0 ? row.us / total : 0), row.name, row.implementation});
  }
  print(format_table(table) + "one run: " + format_ms(total / 1000) + "\n");
}

}  // namespace tools
