// What the command needs of the operating system. platform_posix.cpp or platform_windows.cpp.
#pragma once

#include <string>
#include <vector>

namespace tools {

// The command line as UTF-8.
std::vector<std::string> arguments(int argc, char** argv);

// Lets a closed pipe and a file past its limit end in a failed write, not in a signal, and Windows'
// console take UTF-8 and end us at Ctrl-C.
void prepare_console();

bool is_terminal_stdout();
bool is_terminal_stderr();
int terminal_width();  // Columns; 100 if unknown.

double peak_memory_mb();  // The most resident memory of this process so far, in 10^6 bytes.

// A variable as UTF-8; empty if it is not set.
std::string environment(const char* name);

// The folder of this program's file; empty if unknown.
std::string program_folder();

}  // namespace tools
