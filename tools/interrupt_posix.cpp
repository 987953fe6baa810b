#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <utility>

#include "interrupt.h"

namespace tools {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// What the handler reads: no object with a lock or an owner is safe there.
std::atomic<const char*> to_remove{nullptr};
static_assert(std::atomic<const char*>::is_always_lock_free);

std::array<struct sigaction, kSignals.size()> before;

extern "C" void remove_and_end(int number) {
  if (const char* file = to_remove.load()) unlink(file);
  // The default action, which SA_RESETHAND has put back, comes once the handler has returned.
  raise(number);
}

}  // namespace

RemovedIfInterrupted::RemovedIfInterrupted(std::filesystem::path file) : file_(std::move(file)) {
  to_remove = file_.c_str();
  for (size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction action{};
    sigaction(kSignals[i], nullptr, &before[i]);
    if (before[i].sa_handler == SIG_IGN) continue;  // nohup's wish, or a background job's.
    action.sa_handler = remove_and_end;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(kSignals[i], &action, nullptr);
  }
}

RemovedIfInterrupted::~RemovedIfInterrupted() {
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before[i], nullptr);
  to_remove = nullptr;
}

}  // namespace tools
