// What the opaque handles of pteron.h are.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "api/border.h"
#include "api/worker.h"
#include "base/process.h"
#include "runtime/method.h"

struct pteron_program {
  std::shared_ptr<pteron::LoadedProgram> loaded;
  std::string origin;  // The path, or "memory".
  std::string device;  // Asked for in the options; may be empty.
};

namespace pteron {

// Which method is in use now, if any. Methods that share state share this too.
struct InUse {
  std::atomic<const pteron_method*> by{nullptr};
  std::atomic<uint32_t> generation{0};  // fork_generation() where it was taken.

  // In the child of a fork: it is in use by a thread that only the parent has, so it stays so.
  bool is_lost() const {
    return by.load(std::memory_order_acquire) != nullptr &&
           generation.load(std::memory_order_relaxed) != fork_generation();
  }
};

}  // namespace pteron

struct pteron_method {
  std::shared_ptr<pteron::LoadedProgram> program;
  std::unique_ptr<pteron::Method> method;
  std::shared_ptr<pteron::InUse> in_use;
  std::optional<pteron::Worker> worker;
  std::atomic<bool> started{false};
};

namespace pteron {

// The right to use a method, for one call.
class Use {
 public:
  explicit Use(pteron_method& method) : Use(*method.in_use, method) {}
  Use(InUse& in_use, const pteron_method& method) : in_use_(in_use) {
    const pteron_method* nobody = nullptr;
    mine_ = in_use.by.compare_exchange_strong(nobody, &method, std::memory_order_acquire,
                                              std::memory_order_relaxed);
    if (mine_) in_use.generation.store(fork_generation(), std::memory_order_relaxed);
  }
  ~Use() {
    if (mine_) in_use_.by.store(nullptr, std::memory_order_release);
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  bool ok() const { return mine_; }
  void keep() { mine_ = false; }  // pteron_method_wait gives it back.

 private:
  InUse& in_use_;
  bool mine_;
};

// Calls body(method, use) if nobody else uses the method.
template <typename Body>
pteron_status with_method(pteron_method* method, pteron_error** error, Body&& body) noexcept {
  return guarded(error, [&]() -> Result<void> {
    if (method == nullptr) return null_argument("method");
    Use use(*method);
    if (!use.ok()) {
      const char* by = method->in_use->is_lost()
                           ? "by a thread of the process that was forked; load another method here"
                           : "by another thread, or since pteron_method_start; load a method for "
                             "each thread";
      return Error{Code::Busy, "method \"" + method->method->name() + "\" is in use: " + by};
    }
    return body(*method->method, use);
  });
}

}  // namespace pteron
