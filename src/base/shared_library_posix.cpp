#include <dlfcn.h>
#include <link.h>

#include <string>
#include <utility>

#include "base/shared_library.h"

namespace pteron {

Result<SharedLibrary> SharedLibrary::open(const std::filesystem::path& path,
                                          const std::vector<std::filesystem::path>&) {
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = ::dlerror();
    return Error{Code::Missing, reason ? reason : "the system gives no reason"};
  }
  return SharedLibrary(handle);
}

SharedLibrary::Address SharedLibrary::find_address(const char* name) const {
  return reinterpret_cast<Address>(::dlsym(handle_, name));
}

void SharedLibrary::close() { ::dlclose(std::exchange(handle_, nullptr)); }

std::filesystem::path SharedLibrary::file_of(void (*of)()) {
  Dl_info where{};
  if (::dladdr(reinterpret_cast<void*>(of), &where) == 0 || where.dli_fname == nullptr) return {};
  return where.dli_fname;
}

std::filesystem::path SharedLibrary::find_loaded(const std::string& prefix) {
  struct Search {
    const std::string& prefix;
    std::filesystem::path found;
  } search{prefix, {}};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* argument) {
        auto& s = *static_cast<Search*>(argument);
        const std::filesystem::path file = info->dlpi_name ? info->dlpi_name : "";
        if (file.filename().string().rfind(s.prefix, 0) != 0) return 0;
        s.found = file;
        return 1;
      },
      &search);
  return search.found;
}

void SharedLibrary::keep_own() {}

}  // namespace pteron
