// Prints a variable as base/environment.h reads it: its value, or "not read" or "not set".
#include <cstdio>
#include <cstdlib>

#include "base/environment.h"

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const auto value = pteron::read_environment(arguments[1]);
  const char* none = pteron::is_privileged_process() ? "not read" : "not set";
  std::puts(value ? value->c_str() : none);
  std::fflush(stdout);
  std::_Exit(0);  // A sanitizer's work at exit fails in a process with such rights.
}
