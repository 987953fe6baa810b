// decode(encode(p)) is p, for every golden program.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/paths.h"
#include "program/decode.h"
#include "program/encode.h"

namespace pteron {
namespace {

bool same_bytes(Bytes a, Bytes b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

void expect_same(const TensorDef& a, const TensorDef& b) {
  EXPECT_EQ(a.dtype, b.dtype);
  EXPECT_EQ(a.dynamism, b.dynamism);
  EXPECT_EQ(a.sizes, b.sizes);
  EXPECT_EQ(a.dim_order, b.dim_order);
  EXPECT_EQ(a.external, b.external);
  EXPECT_EQ(a.name, b.name);
  ASSERT_EQ(a.allocation.has_value(), b.allocation.has_value());
  if (a.allocation) {
    EXPECT_EQ(a.allocation->memory_id, b.allocation->memory_id);
    EXPECT_EQ(a.allocation->offset, b.allocation->offset);
  }
  ASSERT_EQ(a.data.has_value(), b.data.has_value());
  if (a.data) {
    EXPECT_TRUE(same_bytes(*a.data, *b.data));
  }
}

void expect_same(const Plan& a, const Plan& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.inputs, b.inputs);
  EXPECT_EQ(a.outputs, b.outputs);
  EXPECT_EQ(a.operators, b.operators);
  EXPECT_EQ(a.buffers, b.buffers);
  EXPECT_EQ(a.input_encoding, b.input_encoding);
  EXPECT_EQ(a.output_encoding, b.output_encoding);
  ASSERT_EQ(a.values.size(), b.values.size());
  for (size_t i = 0; i < a.values.size(); ++i) {
    ASSERT_EQ(a.values[i].index(), b.values[i].index()) << "value " << i;
    if (const auto* tensor = std::get_if<TensorDef>(&a.values[i])) {
      expect_same(*tensor, std::get<TensorDef>(b.values[i]));
    } else if (const auto* integer = std::get_if<int64_t>(&a.values[i])) {
      EXPECT_EQ(*integer, std::get<int64_t>(b.values[i]));
    } else if (const auto* list = std::get_if<IntList>(&a.values[i])) {
      EXPECT_EQ(list->items, std::get<IntList>(b.values[i]).items);
    }
  }
  ASSERT_EQ(a.delegates.size(), b.delegates.size());
  for (size_t i = 0; i < a.delegates.size(); ++i) {
    EXPECT_EQ(a.delegates[i].id, b.delegates[i].id);
    EXPECT_TRUE(same_bytes(a.delegates[i].payload, b.delegates[i].payload));
    ASSERT_EQ(a.delegates[i].specs.size(), b.delegates[i].specs.size());
    for (size_t k = 0; k < a.delegates[i].specs.size(); ++k) {
      EXPECT_EQ(a.delegates[i].specs[k].key, b.delegates[i].specs[k].key);
      EXPECT_TRUE(same_bytes(a.delegates[i].specs[k].value, b.delegates[i].specs[k].value));
    }
  }
  ASSERT_EQ(a.chains.size(), b.chains.size());
  for (size_t c = 0; c < a.chains.size(); ++c) {
    ASSERT_EQ(a.chains[c].instructions.size(), b.chains[c].instructions.size());
    for (size_t i = 0; i < a.chains[c].instructions.size(); ++i) {
      const Instruction& x = a.chains[c].instructions[i];
      const Instruction& y = b.chains[c].instructions[i];
      ASSERT_EQ(x.index(), y.index());
      if (const auto* call = std::get_if<KernelCall>(&x)) {
        EXPECT_EQ(call->op, std::get<KernelCall>(y).op);
        EXPECT_EQ(call->args, std::get<KernelCall>(y).args);
      } else if (const auto* delegated = std::get_if<DelegateCall>(&x)) {
        EXPECT_EQ(delegated->args, std::get<DelegateCall>(y).args);
      } else if (const auto* jump = std::get_if<JumpFalseCall>(&x)) {
        EXPECT_EQ(jump->destination, std::get<JumpFalseCall>(y).destination);
      }
    }
  }
}

TEST(RoundTrip, GivesBackEveryGoldenProgram) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(PTERON_GOLDEN_DIR)) {
    if (entry.path().extension() != ".pte") continue;
    SCOPED_TRACE(entry.path().string());
    auto file = open_file(path_to_utf8(entry.path()), false);
    ASSERT_TRUE(file.ok());
    const auto program = decode_program(*std::move(file));
    ASSERT_TRUE(program.ok()) << program.error().message;
    const auto bytes = encode_program(*program);
    ASSERT_TRUE(bytes.ok()) << bytes.error().message;
    const auto again = decode_program(wrap_bytes(*bytes, true));
    ASSERT_TRUE(again.ok()) << again.error().message;
    ASSERT_EQ(program->plans.size(), again->plans.size());
    for (size_t i = 0; i < program->plans.size(); ++i)
      expect_same(program->plans[i], again->plans[i]);
    ASSERT_EQ(program->named_data.size(), again->named_data.size());
    ++count;
  }
  EXPECT_EQ(count, 677u);
}

}  // namespace
}  // namespace pteron
