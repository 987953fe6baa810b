// The fake OpenVINO's own record of what was done to it.
#pragma once

#include <string>

#include "base/shared_library.h"
#include "openvino/fake/fake_openvino.h"

namespace pteron::test {

class FakeLibrary {
 public:
  // An empty path: there is no fake, and nothing is ever wrong.
  explicit FakeLibrary(const std::string& path) : wanted_(!path.empty()) {
    if (!wanted_) return;
    auto library = SharedLibrary::open(path);
    if (library.ok()) count_ = library->find<fake_count_t>("fake_count");
  }

  // What is wrong now that all programs have been freed; empty if nothing is.
  std::string problem() const {
    if (!wanted_) return "";
    if (count_ == nullptr) return "the fake OpenVINO does not load";
    for (const char* what : {"bad_frees", "overlaps", "live compiled_model", "live infer_request",
                             "live tensor", "live port", "live shape", "live partial_shape"}) {
      if (count_(what) != 0) return "the fake OpenVINO counts " + std::string(what);
    }
    return "";
  }

 private:
  bool wanted_;
  fake_count_t* count_ = nullptr;
};

}  // namespace pteron::test
