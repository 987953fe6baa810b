// What encode writes, and what it refuses.
#include "program/encode.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "program/equal.h"
#include "program/file_maker.h"

namespace pteron::test {
namespace {

// The program of simple(), to be changed. Its bytes live as long as the program.
Program simple_program() {
  auto program = decode(simple().bytes());
  EXPECT_TRUE(program.ok());
  return *std::move(program);
}

Program there_and_back(const Program& program) {
  const auto bytes = encode_program(program);
  EXPECT_TRUE(bytes.ok()) << bytes.error().message;
  if (!bytes.ok()) return {};
  auto again = decode(*bytes);
  EXPECT_TRUE(again.ok()) << again.error().message;
  return again.ok() ? *std::move(again) : Program{};
}

TensorDef& tensor(Program& program, size_t index) {
  return std::get<TensorDef>(program.plans[0].values[index]);
}

TEST(Encode, GivesBackOneOfEverything) {
  const Program program = simple_program();
  EXPECT_EQ(first_difference(program, there_and_back(program)), "");
}

TEST(Encode, OfTheSameProgramIsTheSameFile) {
  const Program program = simple_program();
  EXPECT_EQ(*encode_program(program), *encode_program(there_and_back(program)));
}

TEST(Encode, KeepsExtremeValues) {
  Program program = simple_program();
  for (const double value : {std::nan(""), -0.0, std::numeric_limits<double>::infinity()})
    program.plans[0].values.emplace_back(value);
  program.plans[0].values.emplace_back(std::numeric_limits<int64_t>::min());
  program.plans[0].values.emplace_back(std::string());
  program.plans[0].values.emplace_back(std::string("a\0b", 3));
  program.plans[0].values.emplace_back(IntList{});
  program.version = 0xffffffff;
  EXPECT_EQ(first_difference(program, there_and_back(program)), "");
}

TEST(Encode, KeepsEveryDType) {
  Program program = simple_program();
  for (int number = 0; number < 32; ++number) {
    const auto dtype = dtype_from_number(number);
    if (!dtype) continue;
    TensorDef def;
    def.dtype = *dtype;
    def.sizes = {2, 0, 3};
    def.dim_order = {2, 0, 1};
    program.plans[0].values.emplace_back(def);
  }
  EXPECT_EQ(first_difference(program, there_and_back(program)), "");
}

TEST(Encode, KeepsOffsetsPast32Bits) {
  Program program = simple_program();
  program.plans[0].buffers[0] = uint64_t{1} << 34;
  tensor(program, simple_value::Input).allocation->offset = (uint64_t{1} << 33) + 16;
  const auto bytes = encode_program(program);
  ASSERT_TRUE(bytes.ok()) << bytes.error().message;
  const auto again = decode(*bytes, {.planned_memory = uint64_t{1} << 40});
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(first_difference(program, *again), "");
}

TEST(Encode, StoresEqualPayloadsOnce) {
  const std::string payload(100'000, 'p');
  const std::string equal = payload;
  const auto bytes_of = [](const std::string& text) {
    return Bytes(reinterpret_cast<const std::byte*>(text.data()), text.size());
  };
  Program program = simple_program();
  program.plans[0].delegates[0].payload = bytes_of(payload);
  program.named_data.push_back({"same", bytes_of(equal)});
  const auto bytes = encode_program(program);
  ASSERT_TRUE(bytes.ok());
  EXPECT_LT(bytes->size(), 150'000u);
  EXPECT_EQ(first_difference(program, there_and_back(program)), "");
}

TEST(Encode, AlignsConstantsTo16) {
  Program program = simple_program();
  // From a place that has no alignment, with an odd size before the next.
  const std::vector<std::byte> data(64, std::byte{1});
  for (const int32_t size : {3, 5, 7}) {
    TensorDef def;
    def.dtype = DType::UInt8;
    def.sizes = {size};
    def.dim_order = {0};
    def.data = Bytes(data).subspan(1, static_cast<size_t>(size));
    program.plans[0].values.emplace_back(def);
  }
  const Program again = there_and_back(program);
  for (const ValueDef& value : again.plans.at(0).values) {
    const auto* def = std::get_if<TensorDef>(&value);
    if (def == nullptr || def->allocation || !def->data) continue;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(def->data->data()) % 16, 0u);
  }
}

TEST(Encode, RefusesWhatDecodeWouldRefuse) {
  const std::vector<std::function<void(Program&)>> changes = {
      [](Program& p) { p.plans.clear(); },
      [](Program& p) { p.plans.push_back(p.plans[0]); },
      [](Program& p) { p.plans[0].name.clear(); },
      [](Program& p) { p.plans[0].name = std::string("a\0b", 3); },
      [](Program& p) { p.plans[0].operators[0] = std::string("aten::add\0x", 11); },
      [](Program& p) { p.plans[0].delegates[0].id = std::string("A\0", 2); },
      [](Program& p) { p.plans[0].operators[0] = "\xff"; },
      [](Program& p) { p.plans[0].inputs = {99}; },
      [](Program& p) { p.plans[0].outputs = {0xffffffff}; },
      [](Program& p) { p.plans[0].buffers[0] = 1; },
      [](Program& p) { p.plans[0].buffers[0] = std::numeric_limits<uint64_t>::max(); },
      [](Program& p) { tensor(p, simple_value::Input).sizes = {2, -3}; },
      [](Program& p) { tensor(p, simple_value::Input).dim_order = {1, 1}; },
      [](Program& p) { tensor(p, simple_value::Input).allocation->memory_id = 3; },
      [](Program& p) { std::get<IntList>(p.plans[0].values[simple_value::Ints]).items = {0}; },
      [](Program& p) { p.plans[0].chains[0].instructions[0] = KernelCall{0xffffffff, {}}; },
      [](Program& p) { p.plans[0].chains[0].instructions[0] = JumpFalseCall{0, 99}; },
      [](Program& p) { p.named_data.push_back(p.named_data[0]); },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    SCOPED_TRACE(i);
    Program program = simple_program();
    changes[i](program);
    const auto bytes = encode_program(program);
    ASSERT_FALSE(bytes.ok());
    EXPECT_EQ(bytes.error().code, Code::InvalidArgument);
    EXPECT_EQ(bytes.error().message.find("the program to encode: "), 0u) << bytes.error().message;
  }
}

// The file says where data begins, and not where it ends, so decode would read the next constant's.
TEST(Encode, RefusesDataOfAnotherSizeThanItsTensor) {
  for (const size_t wrong : {20u, 0u}) {
    Program program = simple_program();
    program.plans[0].values.push_back(program.plans[0].values[simple_value::Constant]);
    TensorDef& constant = tensor(program, simple_value::Constant);
    constant.data = constant.data->first(wrong);
    const auto bytes = encode_program(program);
    ASSERT_FALSE(bytes.ok());
    EXPECT_EQ(bytes.error().code, Code::InvalidArgument);
    EXPECT_NE(bytes.error().message.find("value 1"), std::string::npos) << bytes.error().message;
  }
}

}  // namespace
}  // namespace pteron::test
