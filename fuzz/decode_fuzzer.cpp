// Any bytes as a program and as weights: an error or a result. What decodes also encodes, and the
// file so made is the same program.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "program/decode.h"
#include "program/encode.h"
#include "program/equal.h"

namespace {

using namespace pteron;

[[noreturn]] void fail(const char* what, const std::string& detail) {
  std::fprintf(stderr, "%s: %s\n", what, detail.c_str());
  std::abort();
}

// Reads every byte, so that a sanitizer sees those that are not there.
void touch(Bytes bytes) {
  volatile std::byte read{};
  for (const std::byte b : bytes) read = b;
  static_cast<void>(read);
}

void check_message(const Error& error) {
  if (error.message.empty() || error.message.size() > 500)
    fail("a message's length", error.message);
  for (const char c : error.message) {
    if (c < 32 || c > 126) fail("a message with raw bytes", error.message);
  }
}

void try_program(Bytes bytes) {
  const auto program = decode_program(wrap_bytes(bytes, false));
  if (!program.ok()) return check_message(program.error());
  for (const Plan& plan : program->plans) {
    for (const ValueDef& value : plan.values) {
      const auto* tensor = std::get_if<TensorDef>(&value);
      if (tensor != nullptr && tensor->data) touch(*tensor->data);
    }
    for (const DelegateDef& delegate : plan.delegates) touch(delegate.payload);
  }
  for (const NamedData& entry : program->named_data) touch(entry.data);
  const auto file = encode_program(*program);
  if (!file.ok()) fail("what decoded does not encode", file.error().message);
  const auto again = decode_program(wrap_bytes(*file, false));
  if (!again.ok()) fail("what was encoded does not decode", again.error().message);
  const std::string difference = test::first_difference(*program, *again);
  if (!difference.empty()) fail("encode changed the program", difference);
}

void try_weights(Bytes bytes) {
  const auto weights = decode_weights(wrap_bytes(bytes, false));
  if (!weights.ok()) return check_message(weights.error());
  for (const WeightsEntry& entry : weights->entries) touch(entry.data);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  try_program(bytes);
  try_weights(bytes);
  return 0;
}
