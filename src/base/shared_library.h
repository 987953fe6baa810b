// A shared library opened while the program runs, and the addresses found in it.
//
// One header, two implementations; the build compiles exactly one, so that no caller names an
// operating system.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace pteron {

class SharedLibrary {
 public:
  // Opens the library at `path`. An absolute path also lets the library find the libraries that lie
  // beside it; a bare file name goes through the system's search, without the current folder.
  // `also` are folders with libraries that it needs, for Windows: on Linux a library says itself
  // where. Fails with Missing: the system's own explanation, and on Windows, which does not tell,
  // the dependency that is missing.
  static Result<SharedLibrary> open(const std::filesystem::path& path,
                                    const std::vector<std::filesystem::path>& also = {});

  // The C function `name`, or null if the library does not export it. Fn must be its exact type.
  template <typename Fn>
  Fn* find(const char* name) const {
    return reinterpret_cast<Fn*>(find_address(name));
  }

  // Unloads a library that was refused before it started anything. Else it stays loaded for ever.
  void close();

  // The file that the address `of` was loaded from; empty if the system does not say.
  static std::filesystem::path file_of(void (*of)());

  // The file of an already loaded library whose name starts with `prefix`; empty if there is none.
  static std::filesystem::path find_loaded(const std::string& prefix);

  // Keeps the library that this code is part of to the end of the process, whoever unloads it: on
  // Linux it is linked so (cmake/library.cmake).
  static void keep_own();

 private:
  using Address = void (*)();
  explicit SharedLibrary(void* handle) : handle_(handle) {}
  Address find_address(const char* name) const;

  void* handle_;  // Not closed by a destructor: OpenVINO's threads outlive us.
};

}  // namespace pteron
