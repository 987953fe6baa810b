// What the user asked for: one struct for all commands, since most options mean the same
// everywhere.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "npy.h"
#include "pteron/pteron.h"

namespace tools {

// A failure of the library's, with its status: main turns it into the exit status of
// docs/command.md.
struct LibraryError : std::runtime_error {
  LibraryError(pteron_status s, const std::string& message)
      : std::runtime_error(message), status(s) {}
  pteron_status status;
};

struct Options {
  std::string command;
  std::string model;
  std::string method;  // Empty: "forward" or the only one.
  std::vector<std::string> inputs;
  std::string output;
  int repeat = 1;
  double seconds = 2;
  int warmup = 3;
  int parallel = 1;
  std::vector<std::string> weights;
  std::string device;
  std::string precision = "program";
  int threads = 0;
  uint64_t seed = 0;
  std::vector<std::string> shapes;  // "0=1x3x96x128"
  std::string hint;                 // Empty: latency, or throughput with --parallel over 1.
  std::string accelerate = "auto";
  std::string openvino;
  std::vector<std::string> config;  // "KEY=VALUE"
  std::string cache_dir;
  bool json = false;
  bool quiet = false;
};

// Parses the command line. Prints help or the version and exits where that is asked for. Throws
// UsageError.
Options parse_options(const std::vector<std::string>& arguments);

}  // namespace tools
