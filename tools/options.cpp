#include "options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <sstream>

#include "session.h"

namespace tools {
namespace {

struct Help {
  const char* name;
  const char* what;
};
constexpr Help kCommands[] = {
    {"run", "Run a method and print (or save) its outputs"},
    {"info", "Show methods, inputs, outputs, operators, delegates, memory and weights"},
    {"bench", "Measure latency, throughput, load time and memory"},
    {"profile", "Show the time of each instruction, and of each OpenVINO operator"},
    {"devices", "List what OpenVINO sees on this machine"},
    {"doctor", "Say what was looked for, what was found, and what to do"},
};

// An empty text is a script's unset variable, not the default.
CLI::Validator not_empty() {
  return CLI::Validator(
      [](const std::string& value) { return std::string(value.empty() ? "it is empty" : ""); }, "");
}

CLI::Validator whole_number() {
  return CLI::Validator(
      [](const std::string& value) {
        uint64_t number = 0;
        const auto parsed = std::from_chars(value.data(), value.data() + value.size(), number);
        const bool is_whole = parsed.ec == std::errc() && parsed.ptr == value.data() + value.size();
        return std::string(is_whole ? "" : value + " is no whole number from 0 to 2^64 - 1");
      },
      "");
}

void add_machine_options(CLI::App& app, Options& options) {
  app.add_option("--openvino", options.openvino, "OpenVINO's C library, or a folder that has it")
      ->check(not_empty());
  app.add_flag("--json", options.json, "One JSON object on stdout, nothing else there");
  app.add_flag("-q,--quiet", options.quiet, "Results only");
}

void add_model_options(CLI::App& app, Options& options) {
  app.add_option("MODEL", options.model, "The program (.pte)")->required()->check(not_empty());
  app.add_option("--weights", options.weights, "External weights (.ptd); may be repeated")
      ->allow_extra_args(false)
      ->check(not_empty());
  app.add_option("--device", options.device, "CPU, GPU, GPU.1, NPU, ...; none: no OpenVINO at all")
      ->check(not_empty());
  app.add_option("--precision", options.precision, "program, fast, f32, f16, bf16")
      ->check(CLI::IsMember({"program", "fast", "f32", "f16", "bf16"}));
  app.add_option("--threads", options.threads,
                 "CPU threads; default: the cores this process may use")
      ->check(CLI::Range(1, 4096));
  app.add_option("--hint", options.hint, "latency or throughput")
      ->check(CLI::IsMember({"latency", "throughput"}));
  app.add_option("--accelerate", options.accelerate,
                 "Compile the program's own operators for OpenVINO: auto (where it repays the "
                 "time), on, off")
      ->check(CLI::IsMember({"auto", "on", "off"}));
  app.add_option("--config", options.config, "An OpenVINO property, KEY=VALUE; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--cache", options.cache_dir, "A folder for OpenVINO's model cache")
      ->check(not_empty());
}

void add_run_options(CLI::App& app, Options& options) {
  app.add_option("-m,--method", options.method, "The method; default: forward, or the only one")
      ->check(not_empty());
  app.add_option("-i,--input", options.inputs,
                 "A .npy or .npz file, a number, true or false; may be repeated. Without any, "
                 "made-up inputs")
      ->allow_extra_args(false)
      ->check(not_empty());
  app.add_option("--shape", options.shapes,
                 "The size of a made-up input, such as 0=1x3x96x128; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--seed", options.seed,
                 "Of random operators: the same number gives the same results")
      ->check(whole_number());
}

}  // namespace

Options parse_options(const std::vector<std::string>& arguments) {
  Options options;
  CLI::App app("Runs ExecuTorch programs (.pte) on Intel CPUs, GPUs and NPUs through OpenVINO.",
               "pteron");
  // Else Windows' command would take a path such as /models/a.pte for an option.
  app.allow_windows_style_options(false);
  app.set_version_flag("--version", std::string("pteron ") + pteron_version() + " (ABI " +
                                        std::to_string(pteron_abi_version()) + ")");
  app.require_subcommand(1);
  app.footer(
      "pteron COMMAND --help shows a command's options.\n\n  pteron run model.pte -i x.npy -o "
      "y.npz\n"
      "  pteron bench model.pte --seconds 2\n  pteron doctor");
  for (const Help& help : kCommands) {
    CLI::App* command = app.add_subcommand(help.name, help.what);
    const std::string name = help.name;
    add_machine_options(*command, options);
    if (name == "devices" || name == "doctor") continue;
    add_model_options(*command, options);
    if (name == "info") continue;
    add_run_options(*command, options);
    if (name == "run") {
      command
          ->add_option("-o,--output", options.output, "Save the outputs as out0, out1, ... (.npz)")
          ->check(not_empty());
      command->add_option("--repeat", options.repeat, "Run this many times")
          ->check(CLI::Range(1, 1000000000));
    } else if (name == "bench") {
      command->add_option("--seconds", options.seconds, "Measure for so long")
          ->check(CLI::Range(0.0, 86400.0));
      command->add_option("--warmup", options.warmup, "Runs before measuring")
          ->check(CLI::Range(0, 1000000));
      command
          ->add_option("--parallel", options.parallel, "Methods of one program, each on its thread")
          ->check(CLI::Range(1, 1024));
    } else {
      command
          ->add_option("-o,--output", options.output,
                       "Save a trace for chrome://tracing or Perfetto (.json)")
          ->check(not_empty());
    }
  }
  if (!arguments.empty() && arguments[0].substr(0, 1) != "-") {
    const bool known = std::any_of(std::begin(kCommands), std::end(kCommands),
                                   [&](const Help& help) { return arguments[0] == help.name; });
    if (!known) {
      throw UsageError("there is no command \"" + arguments[0] +
                       "\"; there are run, info, bench, profile, devices and doctor");
    }
  }
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // As CLI11 wants it.
    app.parse(reversed);
  } catch (const CLI::Success& e) {
    std::ostringstream help;
    app.exit(e, help, help);
    print(help.str());
    std::exit(0);
  } catch (const CLI::ExtrasError&) {
    const CLI::App* command = app.get_subcommands().front();
    std::string extras;
    for (const std::string& extra : command->remaining())
      extras += (extras.empty() ? "" : " ") + extra;
    throw UsageError("not understood: " + extras + "; see pteron " + command->get_name() +
                     " --help");
  } catch (const CLI::ParseError& e) {
    const auto parsed = app.get_subcommands();
    throw UsageError(std::string(e.what()) + "; see pteron " +
                     (parsed.empty() ? "" : parsed.front()->get_name() + " ") + "--help");
  }
  for (const std::string& pair : options.config) {
    if (options.threads > 0 && pair.rfind("INFERENCE_NUM_THREADS=", 0) == 0)
      throw UsageError("--threads and --config " + pair + " say the same thing; give one of them");
  }
  if (!(options.seconds >= 0)) throw UsageError("--seconds: give a number from 0 on");
  options.command = app.get_subcommands().front()->get_name();
  return options;
}

}  // namespace tools
