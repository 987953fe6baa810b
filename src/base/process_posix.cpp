#include <pthread.h>
#include <unistd.h>

#include <atomic>

#include "base/process.h"

namespace pteron {
namespace {

std::atomic<uint32_t> generation{0};
[[maybe_unused]] const int registered = ::pthread_atfork(nullptr, nullptr, [] { ++generation; });

}  // namespace

uint64_t process_id() { return static_cast<uint64_t>(::getpid()); }

uint32_t fork_generation() { return generation.load(std::memory_order_relaxed); }

}  // namespace pteron
