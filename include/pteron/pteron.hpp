// Pteron's C++ interface: C++17, header only, over the C interface in pteron.h.
//
//   pteron::Program program("model.pte");
//   pteron::Method method = program.load("forward");
//   std::vector<float> x(3 * 224 * 224);
//   pteron::Outputs out = method({pteron::tensor(x, {1, 3, 224, 224})});
//   const float* y = out[0].data<float>();  // out[0].shape()
//
// Failures are thrown as pteron::Error. Objects are moved, not copied. Threads: a Program may be
// used by any thread; a Method by one at a time, else the call throws an Error with PTERON_BUSY.
// What a Method gives (outputs, state) are views of its memory.
//
// Only C functions are called, so the library may come from another compiler.
#ifndef PTERON_PTERON_HPP
#define PTERON_PTERON_HPP

#include <string>

#include "pteron/cpp/array.hpp"
#include "pteron/cpp/dtype.hpp"
#include "pteron/cpp/error.hpp"
#include "pteron/cpp/method.hpp"
#include "pteron/cpp/options.hpp"
#include "pteron/cpp/value.hpp"
#include "pteron/pteron.h"

namespace pteron {
// So that two files compiled with different versions of this header can be linked together.
inline namespace abi1 {

// OpenVINO's devices, as JSON. Of the options, openvino is used. Throws if OpenVINO is missing.
inline std::string devices(const Options& options = Options()) {
  detail::check_version();
  return options.with_c_options([](const pteron_program_options* given) {
    return detail::take_string(
        [&](char** json, pteron_error** error) { return pteron_devices(given, json, error); });
  });
}

// What was looked for, what was found, what to do, as JSON.
inline std::string doctor(const Options& options = Options()) {
  detail::check_version();
  return options.with_c_options([](const pteron_program_options* given) {
    return detail::take_string(
        [&](char** json, pteron_error** error) { return pteron_doctor(given, json, error); });
  });
}

// The delegates and operators that the library has for programs, as JSON.
inline std::string registered() {
  detail::check_version();
  return detail::take_string(
      [](char** json, pteron_error** error) { return pteron_registered(json, error); });
}

// Adds a place to search for OpenVINO, for this process.
inline void add_openvino_path(const std::string& path) {
  detail::check(
      [&](pteron_error** error) { return pteron_add_openvino_path(path.c_str(), error); });
}

// What errors say to do where no OpenVINO is found, for this process; empty: the library's own
// words.
inline void set_openvino_remedy(const std::string& remedy) {
  detail::check([&](pteron_error** error) {
    return pteron_set_openvino_remedy(remedy.empty() ? nullptr : remedy.c_str(), error);
  });
}

}  // namespace abi1
}  // namespace pteron

#endif
