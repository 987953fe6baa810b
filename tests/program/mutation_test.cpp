// Files broken in every small way: an error or a result for each, at once, within memory, and never
// a read outside the bytes, which a sanitizer sees because they fill their memory exactly.
#include "program/mutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <new>
#include <string>

#include "program/allocation_count.h"
#include "program/encode.h"
#include "program/file_maker.h"

namespace pteron::test {
namespace {

// Bytes in memory of exactly their size.
struct Exact {
  explicit Exact(Bytes bytes) : memory(::operator new(bytes.size(), std::align_val_t{16})) {
    std::copy(bytes.begin(), bytes.end(), static_cast<std::byte*>(memory));
    file = wrap_bytes({static_cast<const std::byte*>(memory), bytes.size()}, false);
  }
  ~Exact() { ::operator delete(memory, std::align_val_t{16}); }
  Exact(const Exact&) = delete;
  Exact& operator=(const Exact&) = delete;

  void* memory;
  FileBytes file;
};

// Reads every byte that a decoded file refers to.
unsigned touch(Bytes bytes) {
  unsigned sum = 0;
  for (const std::byte b : bytes) sum += static_cast<unsigned>(b);
  return sum;
}

unsigned touch(const Program& program) {
  unsigned sum = 0;
  for (const Plan& plan : program.plans) {
    for (const ValueDef& value : plan.values) {
      const auto* tensor = std::get_if<TensorDef>(&value);
      if (tensor != nullptr && tensor->data) sum += touch(*tensor->data);
    }
    for (const DelegateDef& delegate : plan.delegates) {
      sum += touch(delegate.payload);
      for (const CompileSpec& spec : delegate.specs) sum += touch(spec.value);
    }
  }
  for (const NamedData& entry : program.named_data) sum += touch(entry.data);
  return sum;
}

unsigned touch(const Weights& weights) {
  unsigned sum = 0;
  for (const WeightsEntry& entry : weights.entries) sum += touch(entry.data);
  return sum;
}

template <typename T>
void expect_one_line(const Result<T>& result) {
  if (result.ok()) return;
  const std::string& message = result.error().message;
  ASSERT_LT(message.size(), 500u);
  for (const char c : message) ASSERT_TRUE(c >= 32 && c < 127) << message;
}

class Mutation : public testing::TestWithParam<const char*> {};

TEST_P(Mutation, GivesAnErrorOrAResult) {
  const std::string name = GetParam();
  const bool weights = name.ends_with(".ptd");
  auto file = open_file(std::string(PTERON_GOLDEN_DIR) + "/" + name, true);
  ASSERT_TRUE(file.ok()) << file.error().message;

  unsigned sum = 0;
  size_t results = 0;
  size_t errors = 0;
  const auto try_bytes = [&](Bytes bytes) {
    const Exact exact(bytes);
    const uint64_t before = bytes_allocated();
    const auto start = std::chrono::steady_clock::now();
    if (weights) {
      const auto result = decode_weights(exact.file);
      expect_one_line(result);
      if (result.ok()) sum += touch(*result);
      ++(result.ok() ? results : errors);
    } else {
      const auto result = decode_program(exact.file);
      expect_one_line(result);
      if (result.ok()) {
        sum += touch(*result);
        // What decode took can be written back.
        const auto again = encode_program(*result);
        ASSERT_TRUE(again.ok()) << again.error().message;
      }
      ++(result.ok() ? results : errors);
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    ASSERT_LT(seconds.count(), 2.0);
    ASSERT_LT(bytes_allocated() - before, (uint64_t{1} << 20) + 1000 * bytes.size());
  };
  try_bytes(file->bytes);
  ASSERT_EQ(results, 1u) << "the file itself is right";
  for_each_mutation(file->bytes, try_bytes);
  // Every truncation cuts something that the header speaks of.
  EXPECT_GE(errors, file->bytes.size());
  EXPECT_EQ(results + errors, 5 * file->bytes.size() + 1);
  RecordProperty("sum", std::to_string(sum));
}

INSTANTIATE_TEST_SUITE_P(Golden, Mutation, testing::ValuesIn(kMutatedFiles), [](const auto& param) {
  std::string name;
  for (const char c : std::string(param.param))
    name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

}  // namespace
}  // namespace pteron::test
