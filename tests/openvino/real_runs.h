// What the tests of models on real OpenVINOs share: they call the C interface as applications do.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "npz.h"
#include "openvino/needs.h"
#include "pteron/pteron.h"

namespace pteron::real {

namespace fs = std::filesystem;
using tools::Array;
using Clock = std::chrono::steady_clock;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

#define NEEDS_PLAIN_MEMORY()                                                  \
  if (kSanitized) {                                                           \
    GTEST_SKIP() << "a sanitizer keeps freed memory, so growth says nothing"; \
  }

struct Freer {
  void operator()(pteron_program* program) const { pteron_program_free(program); }
  void operator()(pteron_method* method) const { pteron_method_free(method); }
};
using ProgramHandle = std::unique_ptr<pteron_program, Freer>;
using MethodHandle = std::unique_ptr<pteron_method, Freer>;

struct Outcome {
  pteron_status status;
  std::string message;
};

inline Outcome call(const std::function<pteron_status(pteron_error**)>& function) {
  pteron_error* error = nullptr;
  const pteron_status status = function(&error);
  Outcome outcome{status, error != nullptr ? pteron_error_message(error) : ""};
  pteron_error_free(error);
  return outcome;
}

inline std::string model_path(const std::string& name) {
  return std::string(PTERON_TEST_DATA) + "/models/" + name + ".pte";
}

inline pteron_program_options options_for(const char* openvino) {
  pteron_program_options options = PTERON_INIT(pteron_program_options);
  options.openvino = openvino;
  return options;
}

inline ProgramHandle open(const std::string& path, const pteron_program_options& options) {
  pteron_program* program = nullptr;
  const Outcome outcome = call([&](pteron_error** error) {
    return pteron_program_open(path.c_str(), &options, &program, error);
  });
  EXPECT_EQ(outcome.status, PTERON_OK) << outcome.message;
  return ProgramHandle(program);
}

inline Outcome try_load(const ProgramHandle& program, MethodHandle& method) {
  pteron_method* loaded = nullptr;
  Outcome outcome = call([&](pteron_error** error) {
    return pteron_method_load(program.get(), nullptr, nullptr, &loaded, error);
  });
  method.reset(loaded);
  return outcome;
}

inline MethodHandle load(const ProgramHandle& program) {
  MethodHandle method;
  const Outcome outcome = try_load(program, method);
  EXPECT_EQ(outcome.status, PTERON_OK) << outcome.message;
  return method;
}

// in0..., out0... of a model's .npz.
struct Data {
  explicit Data(const std::string& name)
      : arrays(tools::read_npz(std::string(PTERON_TEST_DATA) + "/models/" + name + ".npz")) {}
  const Array& at(const std::string& key) const {
    for (const auto& [name, array] : arrays) {
      if (name == key) return array;
    }
    std::abort();
  }
  tools::NamedArrays arrays;
};

inline pteron_value value_of(const Array& array) {
  return pteron_tensor_value(const_cast<char*>(array.data.data()), array.dtype,
                             static_cast<int32_t>(array.shape.size()), array.shape.data());
}

// Runs on one input; output 0's elements, or none if anything failed.
inline std::vector<float> run(const MethodHandle& method, const Array& input) {
  const pteron_value in = value_of(input);
  pteron_value out{};
  if (pteron_method_run(method.get(), &in, 1, nullptr) != PTERON_OK ||
      pteron_method_get_output(method.get(), 0, &out, nullptr) != PTERON_OK) {
    return {};
  }
  const pteron_tensor& tensor = out.as.tensor;
  size_t count = 1;
  for (int32_t i = 0; i < tensor.rank; ++i) count *= static_cast<size_t>(tensor.shape[i]);
  const auto* data = static_cast<const float*>(tensor.data);
  return std::vector<float>(data, data + count);
}

inline double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size() || a.empty()) return INFINITY;
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max<double>(largest, std::fabs(a[i] - b[i]));
  return largest;
}

inline std::vector<float> floats_of(const Array& array) {
  std::vector<float> values(array.data.size() / sizeof(float));
  std::memcpy(values.data(), array.data.data(), array.data.size());
  return values;
}

inline Array scaled(Array array, float factor) {
  std::vector<float> values = floats_of(array);
  for (float& value : values) value *= factor;
  std::memcpy(array.data.data(), values.data(), array.data.size());
  return array;
}

inline std::string execution(const MethodHandle& method) {
  char* json = nullptr;
  EXPECT_EQ(pteron_method_execution(method.get(), &json, nullptr), PTERON_OK);
  std::string text = json != nullptr ? json : "";
  pteron_string_free(json);
  return text;
}

inline void on_threads(int count, const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  threads.reserve(static_cast<size_t>(count));
  for (int t = 0; t < count; ++t) threads.emplace_back(work, t);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace pteron::real
