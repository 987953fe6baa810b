// What a delegate (ExecuTorch's backend) is to the runtime.
//
// Three objects, by lifetime: a Delegate knows a backend id; compile() turns one payload into a
// CompiledDelegate, which all methods of a program share; each method makes its own
// DelegateInstance of it, with its own buffers.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "program/program.h"
#include "runtime/kernel.h"
#include "runtime/value.h"

namespace pteron {

// What really runs a part of the program; shown by `pteron run --json`, `info` and `bench`.
struct ExecutionReport {
  std::string ran_by;     // "OpenVINO 2025.4.1", "kernels"
  std::string library;    // The file it came from, if any.
  std::string device;     // The device in force, "CPU"
  std::string precision;  // The precision in force, "f32"
  std::vector<std::pair<std::string, std::string>>
      properties;  // Read back: threads, streams, hint.
  // What was asked for, by the same names: what `properties` lacks or has otherwise is not in
  // force.
  std::vector<std::pair<std::string, std::string>> requested = {};
};

// One operator inside a delegate, in the last run.
struct DelegateProfileRow {
  std::string name;
  std::string type;            // The operator's, "Convolution"
  std::string implementation;  // The device's name for the code it chose, "jit_avx512_f32"
  int64_t wall_us = 0;
  int64_t cpu_us = 0;
};

class DelegateInstance {
 public:
  virtual ~DelegateInstance() = default;
  // How many of the call's arguments are inputs; they come first.
  virtual size_t input_count() const = 0;
  // Runs on the call's arguments, and resizes dynamic outputs to what it computed. Input tensors
  // have data, or no elements.
  virtual Result<void> execute(KernelContext& context, const Args& args) = 0;
  virtual std::vector<DelegateProfileRow> profile() const { return {}; }
};

class CompiledDelegate {
 public:
  virtual ~CompiledDelegate() = default;
  // Checks the call's arguments (kinds, dtypes, shapes) against the compiled model, and makes the
  // instance that will serve this call. Thread-safe.
  virtual Result<std::unique_ptr<DelegateInstance>> instantiate(const Args& args) = 0;
  virtual ExecutionReport report() const = 0;
};

// Where a delegate's payload comes from.
struct DelegateSource {
  const DelegateDef& def;
  const Program& program;  // Outlives what is compiled from it.
  std::string_view method;
};

class Delegate {
 public:
  virtual ~Delegate() = default;
  virtual std::string_view id() const = 0;
  // Thread-safe. Fails with Missing (OpenVINO or a device is not there), Malformed (the payload is
  // damaged), Unsupported (made for another version or device), InvalidArgument (an option).
  virtual Result<std::shared_ptr<CompiledDelegate>> compile(const DelegateSource& source) = 0;
};

}  // namespace pteron
