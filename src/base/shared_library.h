// A shared library opened while the program runs, and the addresses found in it.
//
// One header, two implementations; the build compiles exactly one, so that no caller names an
// operating system.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace pteron {

class SharedLibrary {
 public:
  // Opens the library at `path`. An absolute path also lets the library find the libraries that lie
  // beside it; a bare file name goes through the system's search, without the current folder.
  // Fails with Missing and the system's own explanation.
  static Result<SharedLibrary> open(const std::filesystem::path& path);

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

 private:
  using Address = void (*)();
  explicit SharedLibrary(void* handle) : handle_(handle) {}
  Address find_address(const char* name) const;

  void* handle_;  // Not closed by a destructor: OpenVINO's threads outlive us.
};

}  // namespace pteron
