#include <windows.h>

#include <mutex>
#include <utility>

#include "interrupt.h"
#include "text_windows.h"

namespace tools {
namespace {

// Never destroyed: the system calls the handler on a thread of its own, whenever it is.
struct State {
  std::mutex mutex;
  std::wstring to_remove;
};
State& state() {
  static State* const the_state = new State;
  return *the_state;
}

// Ctrl-C, Ctrl-Break, the console closed, the end of the session.
BOOL WINAPI remove_file(DWORD) {
  const std::lock_guard lock(state().mutex);
  if (!state().to_remove.empty()) DeleteFileW(state().to_remove.c_str());
  return FALSE;  // On to the handler before this one.
}

}  // namespace

RemovedIfInterrupted::RemovedIfInterrupted(std::filesystem::path file) : file_(std::move(file)) {
  const std::lock_guard lock(state().mutex);
  state().to_remove = long_path(file_);
  SetConsoleCtrlHandler(remove_file, TRUE);
}

RemovedIfInterrupted::~RemovedIfInterrupted() {
  SetConsoleCtrlHandler(remove_file, FALSE);
  const std::lock_guard lock(state().mutex);
  state().to_remove.clear();
}

}  // namespace tools
