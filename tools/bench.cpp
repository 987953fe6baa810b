#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <thread>

#include "commands.h"
#include "inputs.h"
#include "platform.h"
#include "table.h"
#include "text.h"

namespace tools {
namespace {

double percentile(const std::vector<double>& sorted, double p) {
  return sorted[std::min(sorted.size() - 1,
                         static_cast<size_t>(p * static_cast<double>(sorted.size())))];
}

void bind_all(pteron_method* method, const Inputs& inputs) {
  for (size_t i = 0; i < inputs.values.size(); ++i) {
    call([&](pteron_error** error) {
      return pteron_method_bind_input(method, i, &inputs.values[i], error);
    });
  }
}

double timed_run(pteron_method* method) {
  const double start = now_ms();
  call([&](pteron_error** error) { return pteron_method_execute(method, error); });
  return now_ms() - start;
}

// Runs until `end`, each time noted.
std::vector<double> measure(pteron_method* method, double end) {
  std::vector<double> times;
  times.reserve(1 << 16);
  do {
    times.push_back(timed_run(method));
  } while (now_ms() < end);
  return times;
}

}  // namespace

void bench_command(const Options& options) {
  const double start = now_ms();
  const ProgramHandle program = open_program(options);
  std::vector<MethodHandle> methods;
  methods.push_back(load_method(program, options));
  const double load_ms = now_ms() - start;
  const Inputs inputs = make_inputs(program.get(), methods[0].get(), options);
  bind_all(methods[0].get(), inputs);
  say_notes(options, execution(methods[0].get(), options)["notes"]);
  const double first_run_ms = timed_run(methods[0].get());
  while (methods.size() < static_cast<size_t>(options.parallel)) {
    methods.push_back(load_method(program, options));
    bind_all(methods.back().get(), inputs);
  }
  for (const MethodHandle& method : methods) {
    for (int i = 0; i < options.warmup; ++i) timed_run(method.get());
  }
  if (is_terminal_stderr() && options.seconds > 1)
    note(options, "measuring for " + format_ms(options.seconds * 1000) + " ...");

  const double begin = now_ms();
  const double end = begin + options.seconds * 1000;
  std::vector<std::vector<double>> times(methods.size());
  std::vector<std::exception_ptr> failures(methods.size());
  std::vector<std::thread> threads;
  for (size_t i = 1; i < methods.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        times[i] = measure(methods[i].get(), end);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    });
  }
  try {
    times[0] = measure(methods[0].get(), end);
  } catch (...) {
    failures[0] = std::current_exception();
  }
  for (std::thread& thread : threads) thread.join();
  const double elapsed = now_ms() - begin;
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  std::vector<double> all;
  for (const auto& part : times) all.insert(all.end(), part.begin(), part.end());
  std::sort(all.begin(), all.end());

  Json json{{"format", 1}, {"method", nullptr}};
  json["runs"] = all.size();
  json["parallel"] = options.parallel;
  json["latency_min_ms"] = all.front();
  json["latency_p50_ms"] = percentile(all, 0.5);
  json["latency_p90_ms"] = percentile(all, 0.9);
  json["latency_p99_ms"] = percentile(all, 0.99);
  json["throughput_per_s"] = static_cast<double>(all.size()) * 1000 / elapsed;
  json["load_ms"] = load_ms;
  json["first_run_ms"] = first_run_ms;
  json["peak_rss_mb"] = peak_memory_mb();
  json["inputs_made_up"] = inputs.made_up;
  json.update(execution(methods[0].get(), options));
  if (options.json) return print_json(json);
  char throughput[64];
  std::snprintf(throughput, sizeof(throughput), "%.1f a second",
                json["throughput_per_s"].get<double>());
  std::vector<std::vector<std::string>> rows = {{"what", "value"}};
  for (const auto& [label, key] : {std::pair{"latency, least", "latency_min_ms"},
                                   {"latency, median", "latency_p50_ms"},
                                   {"latency, 90 %", "latency_p90_ms"},
                                   {"latency, 99 %", "latency_p99_ms"}}) {
    rows.push_back({label, format_ms(json[key])});
  }
  rows.push_back({"throughput", throughput});
  rows.push_back({"load", format_ms(load_ms)});
  rows.push_back({"first run", format_ms(first_run_ms)});
  rows.push_back({"peak memory", format_bytes(json["peak_rss_mb"].get<double>() * 1e6)});
  rows.push_back({"runs", json["runs"].dump() + " on " +
                              counted(static_cast<size_t>(options.parallel), "thread")});
  for (const Json& part : json["execution"]) {
    std::string how =
        part["device"].get<std::string>() + ", " + part["precision"].get<std::string>();
    for (const char* key : {"INFERENCE_NUM_THREADS", "NUM_STREAMS"}) {
      if (part["properties"].contains(key))
        how += std::string(", ") + key + "=" + part["properties"][key].get<std::string>();
    }
    rows.push_back({part["ran_by"], how});
  }
  print(format_table(rows));
}

}  // namespace tools
