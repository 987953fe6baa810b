// The pteron command: parses the command line, runs one command, turns failures into a line on
// stderr and an exit status.
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
  if (!fs::exists(root / "pyvenv.cfg", error)) return;
  for (const auto& entry : fs::directory_iterator(root / "lib", error)) {
    const fs::path packages = entry.path() / "site-packages";
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

}  // namespace

int main(int argc, char** argv) {
  tools::prepare_console();
  try {
    const tools::Options options = tools::parse_options(tools::arguments(argc, argv));
    add_environment_of_this_program();
    return run(options);
  } catch (const tools::UsageError& e) {
    tools::say(std::string("pteron: ") + e.what());
    return kWrongUse;
  } catch (const tools::LibraryError& e) {
    tools::say(std::string("pteron: ") + e.what());
    return exit_status(e.status);
  } catch (const std::bad_alloc&) {
    tools::say("pteron: out of memory");
    return kFailed;
  } catch (const std::exception& e) {
    tools::say(std::string("pteron: a bug: ") + e.what());
    return kBug;
  }
}
