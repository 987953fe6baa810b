#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "platform.h"

namespace tools {

std::vector<std::string> arguments(int argc, char** argv) { return {argv + 1, argv + argc}; }

void prepare_console() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  // A file that is opened must not become the standard output that somebody closed. Opened for
  // reading, what stands in refuses to be written.
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(standard, F_GETFD) == -1 && open("/dev/null", O_RDONLY) == -1) return;
  }
}

bool is_terminal_stdout() { return isatty(STDOUT_FILENO) != 0; }
bool is_terminal_stderr() { return isatty(STDERR_FILENO) != 0; }

int terminal_width() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 100;
}

double peak_memory_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string program_folder() {
  std::error_code error;
  const auto file = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::string() : file.parent_path().string();
}

}  // namespace tools
