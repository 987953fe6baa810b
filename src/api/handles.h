// What the opaque handles of pteron.h are, and the way into and out of every function there.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "pteron/pteron.h"
#include "runtime/method.h"

struct pteron_error {
  pteron::Code code;
  std::string message;
};

struct pteron_program {
  std::shared_ptr<pteron::LoadedProgram> loaded;
  std::string origin;
};

namespace pteron {

// Whether somebody uses a method now; methods that share state share this too.
struct InUse {
  std::atomic<bool> taken{false};
};

// Runs a method's executions that pteron_method_start begins.
class Worker {
 public:
  explicit Worker(Method& method) : method_(method) {}
  ~Worker();
  void start();
  // Waits for the run that start() began.
  Result<void> wait();
  void wait_until_idle();

 private:
  void loop();

  Method& method_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool requested_ = false;
  bool done_ = false;
  bool quit_ = false;
  Result<void> result_;
  std::thread thread_;
};

// Handles failures at the border: nothing is thrown past it.
pteron_status report(pteron_error** error, Error what) noexcept;

template <typename Body>
pteron_status guarded(pteron_error** error, Body&& body) noexcept {
  try {
    Result<void> result = body();
    if (result.ok()) return PTERON_OK;
    return report(error, std::move(result).error());
  } catch (const std::bad_alloc&) {
    return report(error, {Code::ResourceLimit, "out of memory"});
  } catch (const std::exception& e) {
    return report(error, {Code::Internal, std::string("a bug in this library: ") + e.what()});
  } catch (...) {
    return report(error, {Code::Internal, "a bug in this library"});
  }
}

inline Error null_argument(const char* name) {
  return {Code::InvalidArgument, std::string("the argument ") + name + " is null"};
}

// A struct of the caller's, who may know a shorter or longer version of it: missing fields are
// zero, and fields that this library does not know must be.
template <typename Struct>
Result<Struct> read_struct(const Struct* in, const char* name) {
  Struct out{};
  out.struct_size = sizeof(Struct);
  if (in == nullptr) return out;
  const size_t size = in->struct_size;
  if (size < sizeof(size_t) || size > 4096) {
    return Error{Code::InvalidArgument, std::string(name) + ".struct_size is " +
                                            std::to_string(size) +
                                            "; fill the struct with PTERON_INIT(" + name + ")"};
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(in);
  for (size_t i = sizeof(Struct); i < size; ++i) {
    if (bytes[i] != 0) {
      return Error{Code::InvalidArgument, std::string(name) +
                                              " sets an option that this version of the library, " +
                                              PTERON_VERSION + ", does not know"};
    }
  }
  std::memcpy(static_cast<void*>(&out), in, size < sizeof(Struct) ? size : sizeof(Struct));
  out.struct_size = sizeof(Struct);
  return out;
}

// What options ask for, in our own terms.
struct OpenedOptions {
  RuntimeOptions runtime;
  bool copy_file = false;
  uint64_t memory_limit = 0;
  std::vector<std::string> weights;
};
Result<OpenedOptions> read_options(const pteron_program_options* options);
// The `openvino` option alone.
Result<std::string> read_openvino_path(const pteron_program_options* options);

// Adds the application's operators and delegates to `runtime`, which keeps what they need.
Result<void> add_custom(const pteron_program_options& options, RuntimeOptions& runtime);

// Values across the border. A null value is none.
Result<HostValue> read_value(const pteron_value* value);
pteron_value write_value(const HostValue& value);

char* copy_string(const std::string& text);

}  // namespace pteron

struct pteron_method {
  std::shared_ptr<pteron::LoadedProgram> program;
  std::unique_ptr<pteron::Method> method;
  std::shared_ptr<pteron::InUse> in_use;
  std::optional<pteron::Worker> worker;
  std::atomic<bool> started{false};
};
