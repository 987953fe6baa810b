// The pteron command: parses the command line, runs one command, turns failures into a line on
// stderr and an exit status.
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "commands.h"
#include "platform.h"
#include "session.h"

namespace {

// Exit statuses: scripts depend on them (docs/command.md).
constexpr int kBug = 1;
constexpr int kWrongUse = 2;
constexpr int kMalformed = 3;
constexpr int kMissing = 4;
constexpr int kFailed = 5;

int exit_status(pteron_status status) {
  switch (status) {
    case PTERON_OK:
      return 0;
    case PTERON_INVALID_ARGUMENT:
    case PTERON_IO:
      return kWrongUse;
    case PTERON_MALFORMED:
      return kMalformed;
    case PTERON_MISSING:
    case PTERON_UNSUPPORTED:
      return kMissing;
    case PTERON_RESOURCE_LIMIT:
    case PTERON_FAILED:
    case PTERON_BUSY:
    case PTERON_CANCELLED:
      return kFailed;
    default:
      return kBug;
  }
}

// Installed in a Python environment, the command finds the OpenVINO of that environment.
void add_environment_of_this_program() {
  namespace fs = std::filesystem;
  const std::string folder = tools::program_folder();
  if (folder.empty()) return;
  std::error_code error;
  const fs::path root = fs::path(std::u8string(folder.begin(), folder.end())).parent_path();
  // In the Python package the command lies in site-packages/pteron/bin; the script that starts it
  // knows what pip can install there.
  if (fs::exists(root / "__init__.py", error) && root.filename() == "pteron") {
    const std::u8string text = (root.parent_path() / "openvino" / "libs").u8string();
    pteron_add_openvino_path(std::string(text.begin(), text.end()).c_str(), nullptr);
    pteron_set_openvino_remedy(tools::environment("PTERON_OPENVINO_REMEDY").c_str(), nullptr);
    return;
  }
  if (!fs::exists(root / "pyvenv.cfg", error)) return;
  // On Windows Lib/site-packages, elsewhere lib/python3.x/site-packages.
  std::vector<fs::path> places = {root / "lib"};
  for (const auto& entry : fs::directory_iterator(root / "lib", error))
    places.push_back(entry.path());
  for (const fs::path& place : places) {
    const fs::path packages = place / "site-packages";
    if (!fs::exists(packages / "openvino", error)) continue;
    const std::u8string text = packages.u8string();
    pteron_add_openvino_path(std::string(text.begin(), text.end()).c_str(), nullptr);
  }
}

int run(const tools::Options& options) {
  const std::string& command = options.command;
  if (command == "run")
    tools::run_command(options);
  else if (command == "info")
    tools::info_command(options);
  else if (command == "bench")
    tools::bench_command(options);
  else if (command == "profile")
    tools::profile_command(options);
  else if (command == "devices")
    tools::devices_command(options);
  else if (!tools::doctor_command(options))
    return kMissing;
  return 0;
}

struct Failure {
  int status;
  std::string message;
};

Failure describe_exception() {
  try {
    throw;
  } catch (const tools::UsageError& e) {
    return {kWrongUse, e.what()};
  } catch (const tools::LibraryError& e) {
    return {exit_status(e.status), e.what()};
  } catch (const std::bad_alloc&) {
    return {kFailed, "out of memory"};
  } catch (const std::exception& e) {
    return {kBug, std::string("a bug: ") + e.what()};
  }
}

}  // namespace

int main(int argc, char** argv) {
  tools::prepare_console();
  const std::vector<std::string> arguments = tools::arguments(argc, argv);
  try {
    const tools::Options options = tools::parse_options(arguments);
    add_environment_of_this_program();
    return run(options);
  } catch (...) {
    const Failure failure = describe_exception();
    tools::say("pteron: " + failure.message);
    // Also where the options could not be parsed: a script that asked for JSON reads that.
    if (std::find(arguments.begin(), arguments.end(), "--json") != arguments.end())
      tools::print_failure(failure.status, failure.message);
    return failure.status;
  }
}
