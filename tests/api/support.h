// What the tests of the C interface share.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "programs.h"
#include "pteron/pteron.h"

struct Freer {
  void operator()(pteron_program* program) const { pteron_program_free(program); }
  void operator()(pteron_method* method) const { pteron_method_free(method); }
  void operator()(char* string) const { pteron_string_free(string); }
};
using ProgramHandle = std::unique_ptr<pteron_program, Freer>;
using MethodHandle = std::unique_ptr<pteron_method, Freer>;
using StringHandle = std::unique_ptr<char, Freer>;

struct Outcome {
  pteron_status status;
  std::string message;
};

// Calls function(&error), and checks that there is an error exactly where the status says so.
template <typename Function>
Outcome call(Function&& function) {
  pteron_error* error = nullptr;
  Outcome outcome{function(&error), ""};
  EXPECT_EQ(outcome.status != PTERON_OK, error != nullptr);
  if (error != nullptr) {
    EXPECT_EQ(pteron_error_status(error), outcome.status);
    outcome.message = pteron_error_message(error);
    EXPECT_FALSE(outcome.message.empty());
    EXPECT_EQ(outcome.message.find('\n'), std::string::npos) << outcome.message;
    pteron_error_free(error);
  }
  return outcome;
}

// That a call fails with this status, and that the message has each of these texts.
inline void expect_failure(const Outcome& outcome, pteron_status status,
                           const std::vector<std::string>& texts = {}) {
  EXPECT_EQ(outcome.status, status) << outcome.message;
  for (const std::string& text : texts) {
    EXPECT_NE(outcome.message.find(text), std::string::npos)
        << "wanted \"" << text << "\" in: " << outcome.message;
  }
}

inline void expect_ok(const Outcome& outcome) {
  EXPECT_EQ(outcome.status, PTERON_OK) << outcome.message;
}

inline Outcome try_open(const programs::File& file, const pteron_program_options* options,
                        ProgramHandle* program) {
  pteron_program* opened = nullptr;
  Outcome outcome = call([&](pteron_error** error) {
    return pteron_program_open_memory(file.data(), file.size(), options, &opened, error);
  });
  program->reset(opened);
  return outcome;
}

// `file` must live as long as the program.
inline ProgramHandle open(const programs::File& file,
                          const pteron_program_options* options = nullptr) {
  ProgramHandle program;
  expect_ok(try_open(file, options, &program));
  return program;
}

inline Outcome try_load(const ProgramHandle& program, const char* name, pteron_method* shares_with,
                        MethodHandle* method) {
  pteron_method_options options = PTERON_INIT(pteron_method_options);
  options.shares_state_with = shares_with;
  pteron_method* loaded = nullptr;
  Outcome outcome = call([&](pteron_error** error) {
    return pteron_method_load(program.get(), name, &options, &loaded, error);
  });
  method->reset(loaded);
  return outcome;
}

inline MethodHandle load(const ProgramHandle& program, const char* name = nullptr,
                         pteron_method* shares_with = nullptr) {
  MethodHandle method;
  expect_ok(try_load(program, name, shares_with, &method));
  return method;
}

inline Outcome run(const MethodHandle& method, const std::vector<pteron_value>& inputs) {
  return call([&](pteron_error** error) {
    return pteron_method_run(method.get(), inputs.data(), inputs.size(), error);
  });
}
inline Outcome execute(const MethodHandle& method) {
  return call([&](pteron_error** error) { return pteron_method_execute(method.get(), error); });
}
inline Outcome start(const MethodHandle& method) {
  return call([&](pteron_error** error) { return pteron_method_start(method.get(), error); });
}

inline Outcome wait(const MethodHandle& method) {
  return call([&](pteron_error** error) { return pteron_method_wait(method.get(), error); });
}

inline Outcome bind_input(const MethodHandle& method, size_t index, const pteron_value& value) {
  return call([&](pteron_error** error) {
    return pteron_method_bind_input(method.get(), index, &value, error);
  });
}

// A float32 array with its shape, as a value.
struct Floats {
  std::vector<float> data;
  std::vector<int64_t> shape;

  pteron_value value() {
    return pteron_tensor_value(data.data(), PTERON_FLOAT32, static_cast<int32_t>(shape.size()),
                               shape.data());
  }
};

inline Floats floats_of(const pteron_value& value) {
  EXPECT_EQ(value.kind, PTERON_KIND_TENSOR);
  const pteron_tensor& tensor = value.as.tensor;
  EXPECT_EQ(tensor.dtype, PTERON_FLOAT32);
  EXPECT_EQ(tensor.strides, nullptr);
  Floats floats;
  floats.shape.assign(tensor.shape, tensor.shape + tensor.rank);
  size_t count = 1;
  for (const int64_t size : floats.shape) count *= static_cast<size_t>(size);
  const auto* data = static_cast<const float*>(tensor.data);
  floats.data.assign(data, data + count);
  return floats;
}

inline Floats output(const MethodHandle& method, size_t index = 0) {
  pteron_value value;
  const Outcome outcome = call([&](pteron_error** error) {
    return pteron_method_get_output(method.get(), index, &value, error);
  });
  expect_ok(outcome);
  return outcome.status == PTERON_OK ? floats_of(value) : Floats();
}
