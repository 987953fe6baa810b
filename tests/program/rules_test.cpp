// Every rule of decode, broken once: the error says what and where.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "program/file_maker.h"

namespace pteron::test {
namespace {

namespace value = simple_value;
namespace step = simple_instruction;

struct Wrong {
  const char* says;
  std::function<void(PteFile&)> change;
};

// Each change alone makes the simple program wrong, and the message names method and reason.
void expect_refused(const std::vector<Wrong>& cases, Code code = Code::Malformed) {
  ASSERT_EQ(refusal(simple()), "");
  for (const auto& [says, change] : cases) {
    SCOPED_TRACE(says);
    PteFile file = simple();
    change(file);
    const auto result = decode(file.bytes());
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, code);
    EXPECT_NE(result.error().message.find(says), std::string::npos) << result.error().message;
    EXPECT_LT(result.error().message.size(), 400u);
    EXPECT_EQ(result.error().message.find('\n'), std::string::npos);
  }
}

std::unique_ptr<pte::ExecutionPlanT> named(std::string name) {
  auto plan = std::make_unique<pte::ExecutionPlanT>();
  plan->name = std::move(name);
  return plan;
}

TEST(Rules, OfMethods) {
  const auto name = [](PteFile& f) -> std::string& { return f.plan().name; };
  expect_refused({
      {"the program has no method", [](PteFile& f) { f.program.execution_plan.clear(); }},
      {"method 0: it has no name", [&](PteFile& f) { name(f).clear(); }},
      {"method \"forward\": two methods have this name",
       [](PteFile& f) { f.program.execution_plan.push_back(named("forward")); }},
      {"its name has 10000000 bytes; at most 4096",
       [&](PteFile& f) { name(f).assign(10'000'000, 'a'); }},
      {"its name has control characters", [&](PteFile& f) { name(f) = "a\nb"; }},
      {"its name has control characters", [&](PteFile& f) { name(f) = std::string("a\0b", 3); }},
      {"its name is not UTF-8", [&](PteFile& f) { name(f) = "a\xff"; }},
      {"its name is not UTF-8", [&](PteFile& f) { name(f) = "\xf0\x8f\xbf\xbf"; }},
      {"its name is not UTF-8", [&](PteFile& f) { name(f) = "\xf4\x90\x80\x80"; }},
      {"its name is not UTF-8", [&](PteFile& f) { name(f) = "\xe5\x89"; }},
      {"its encoding of the inputs is not UTF-8",
       [](PteFile& f) { f.plan().container_meta_type->encoded_inp_str = "\xc0\x80"; }},
      {"its encoding of the outputs is not UTF-8",
       [](PteFile& f) { f.plan().container_meta_type->encoded_out_str = "\xed\xa0\x80"; }},
      {"inputs name value 17, but the plan has 17 values",
       [](PteFile& f) { f.plan().inputs = {value::Count}; }},
      {"inputs name value -1", [](PteFile& f) { f.plan().inputs = {-1}; }},
      {"outputs name value 2147483647",
       [](PteFile& f) { f.plan().outputs = {std::numeric_limits<int32_t>::max()}; }},
  });
}

TEST(Rules, OfPlannedBuffers) {
  expect_refused({
      {"planned buffer 1 has a negative size",
       [](PteFile& f) { f.plan().non_const_buffer_sizes[1] = -1; }},
      {"planned buffer 2 has a negative size",
       [](PteFile& f) {
         f.plan().non_const_buffer_sizes[2] = std::numeric_limits<int64_t>::min();
       }},
      {"memory id 1, but the plan has buffers 1 to 0",
       [](PteFile& f) { f.plan().non_const_buffer_sizes.clear(); }},
  });
}

TEST(Rules, OfPlannedMemoryAgainstTheLimit) {
  const auto huge = [](PteFile& f) {
    f.plan().non_const_buffer_sizes[1] = std::numeric_limits<int64_t>::max();
  };
  expect_refused({{"the limit of 8589934592 bytes", huge},
                  {"raise memory_limit", huge},
                  {"(buffer 2 has 8589934592)",
                   [](PteFile& f) { f.plan().non_const_buffer_sizes[2] = int64_t{8} << 30; }},
                  {"more memory than the limit",
                   [](PteFile& f) {
                     f.plan().non_const_buffer_sizes.assign(4, std::numeric_limits<int64_t>::max());
                   }}},
                 Code::ResourceLimit);

  const ByteVector bytes = simple().bytes();  // It plans 128 and 16 bytes.
  EXPECT_TRUE(decode(bytes, {.planned_memory = 144}).ok());
  const auto result = decode(bytes, {.planned_memory = 143});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, Code::ResourceLimit);
}

TEST(Rules, OfPlannedMemoryThatTheCallerRaised) {
  PteFile file = simple();
  file.plan().non_const_buffer_sizes[1] = int64_t{1} << 50;
  EXPECT_TRUE(decode(file.bytes(), {.planned_memory = uint64_t{1} << 51}).ok());
}

TEST(Rules, OfValues) {
  expect_refused({
      {"value 5: it has no contents", [](PteFile& f) { f.value(5).val.Reset(); }},
      // The object interface leaves an empty text out.
      {"value 7: a string has no text",
       [](PteFile& f) { f.value(value::Text).val.AsString()->string_val.clear(); }},
      {"value 7: its text is not UTF-8",
       [](PteFile& f) { f.value(value::Text).val.AsString()->string_val = "\xf5"; }},
      {"value 9: its items name value 17",
       [](PteFile& f) { f.value(value::Ints).val.AsIntList()->items[1] = value::Count; }},
      {"value 9: its items name value -1",
       [](PteFile& f) { f.value(value::Ints).val.AsIntList()->items[1] = -1; }},
      {"value 9: its items name value 4294967301",
       [](PteFile& f) {
         f.value(value::Ints).val.AsIntList()->items[1] = (int64_t{1} << 32) + value::Number;
       }},
      {"value 9: item 0 is not an int",
       [](PteFile& f) { f.value(value::Ints).val.AsIntList()->items[1] = value::Input; }},
      {"value 9: item 9 is not an int",
       [](PteFile& f) { f.value(value::Ints).val.AsIntList()->items[1] = value::Ints; }},
      {"value 12: item 8 is not a tensor",
       [](PteFile& f) { f.value(value::Tensors).val.AsTensorList()->items[0] = value::None; }},
      {"value 12: its items name value -1",
       [](PteFile& f) { f.value(value::Tensors).val.AsTensorList()->items[0] = -1; }},
      {"value 13: item 5 is not a tensor or none",
       [](PteFile& f) {
         f.value(value::Optionals).val.AsOptionalTensorList()->items[0] = value::Number;
       }},
      {"value 13: item 0 is value -2",
       [](PteFile& f) { f.value(value::Optionals).val.AsOptionalTensorList()->items[0] = -2; }},
      {"value 13: item 0 is value 17",
       [](PteFile& f) {
         f.value(value::Optionals).val.AsOptionalTensorList()->items[0] = value::Count;
       }},
  });
}

TEST(Rules, OfShapes) {
  const auto shape = [](std::vector<int32_t> sizes) {
    return [sizes](PteFile& f) {
      pte::TensorT& tensor = f.tensor(value::Unplanned);
      tensor.sizes = sizes;
      tensor.dim_order.clear();
      for (size_t i = 0; i < sizes.size(); ++i) tensor.dim_order.push_back(static_cast<uint8_t>(i));
    };
  };
  const auto order = [](std::vector<uint8_t> dims) {
    return [dims](PteFile& f) { f.tensor(value::Unplanned).dim_order = dims; };
  };
  constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
  expect_refused({
      {"value 15: size -1 of dimension 1 is negative", shape({2, -1})},
      {"size -2147483648", shape({std::numeric_limits<int32_t>::min()})},
      {"its rank is 17; at most 16", shape(std::vector<int32_t>(17, 1))},
      {"multiply to more than any memory", shape({kMax, kMax, 2})},
      {"multiply to more than any memory", shape({kMax, kMax, kMax, kMax})},
      {"multiply to more than any memory", shape({0, kMax, kMax, kMax})},
      {"multiply to more than any memory", shape({kMax, kMax, kMax, 0})},
      {"its rank is 2, but its dim_order has 0", order({})},
      {"its rank is 2, but its dim_order has 1", order({0})},
      {"its rank is 2, but its dim_order has 3", order({0, 1, 2})},
      {"not a permutation", order({0, 0})},
      {"not a permutation", order({0, 2})},
      {"not a permutation", order({255, 0})},
  });
  // Countable in 64 bits, even signed ones, but not with room to spare.
  for (const int32_t last : {2, 3}) {
    expect_refused({{"multiply to more than any memory", [&](PteFile& f) {
                       shape({kMax, kMax, last})(f);
                       f.tensor(value::Unplanned).scalar_type = pte::ScalarType::Byte;
                     }}});
  }
  PteFile largest = simple();
  shape(std::vector<int32_t>(16, 1))(largest);
  EXPECT_EQ(refusal(largest), "");
}

TEST(Rules, OfTensors) {
  const auto tensor = [](PteFile& f) -> pte::TensorT& { return f.tensor(value::Unplanned); };
  for (const int number : {8, 18, 21, 30, 127, -1, -128}) {
    PteFile file = simple();
    tensor(file).scalar_type = static_cast<pte::ScalarType>(number);
    EXPECT_NE(refusal(file).find("dtype number " + std::to_string(number) + " is unknown"),
              std::string::npos)
        << refusal(file);
  }
  const auto extra = [](pte::TensorT& t) -> pte::ExtraTensorInfoT& {
    if (!t.extra_tensor_info) t.extra_tensor_info = std::make_unique<pte::ExtraTensorInfoT>();
    return *t.extra_tensor_info;
  };
  expect_refused({
      {"value 15: a storage offset of 1", [&](PteFile& f) { tensor(f).storage_offset = 1; }},
      {"a storage offset of -1", [&](PteFile& f) { tensor(f).storage_offset = -1; }},
      {"its shape dynamism is 3",
       [&](PteFile& f) { tensor(f).shape_dynamism = static_cast<pte::TensorShapeDynamism>(3); }},
      {"its data location is 2",
       [&](PteFile& f) { extra(tensor(f)).location = static_cast<pte::TensorDataLocation>(2); }},
      {"external data without a name",
       [&](PteFile& f) { extra(tensor(f)).location = pte::TensorDataLocation::EXTERNAL; }},
      {"its name has control characters",
       [&](PteFile& f) { extra(tensor(f)).fully_qualified_name = "\x1b[31m"; }},
      {"its name has 4097 bytes",
       [&](PteFile& f) { extra(tensor(f)).fully_qualified_name.assign(4097, 'n'); }},
  });
  expect_refused(
      {{"has no upper bound",
        [&](PteFile& f) { tensor(f).shape_dynamism = pte::TensorShapeDynamism::DYNAMIC_UNBOUND; }}},
      Code::Unsupported);
}

TEST(Rules, OfAllocations) {
  const auto place = [](PteFile& f) -> pte::AllocationDetailsT& {
    return *f.tensor(value::Input).allocation_info;  // 24 bytes; buffer 1 has 128.
  };
  expect_refused({
      {"value 0: memory id 0, but the plan has buffers 1 to 2",
       [&](PteFile& f) { place(f).memory_id = 0; }},
      {"memory id 3", [&](PteFile& f) { place(f).memory_id = 3; }},
      {"memory id 4294967295", [&](PteFile& f) { place(f).memory_id = 0xffffffff; }},
      {"24 bytes at offset 108 do not fit planned buffer 1 of 128 bytes",
       [&](PteFile& f) { place(f).memory_offset_low = 108; }},
      {"do not fit planned buffer 2 of 16", [&](PteFile& f) { place(f).memory_id = 2; }},
      {"at offset 4294967296 do not fit", [&](PteFile& f) { place(f).memory_offset_high = 1; }},
      {"at offset 18446744073709551612 do not fit",
       [&](PteFile& f) {
         place(f).memory_offset_high = 0xffffffff;
         place(f).memory_offset_low = 0xfffffffc;
       }},
      {"offset 2 is not aligned", [&](PteFile& f) { place(f).memory_offset_low = 2; }},
  });
  PteFile last = simple();
  place(last).memory_offset_low = 104;
  EXPECT_EQ(refusal(last), "");
}

TEST(Rules, OfConstantsAndInitialData) {
  const auto constants = [](PteFile& f) -> pte::SubsegmentOffsetsT& {
    return *f.program.constant_segment;  // Its segment has 24 bytes, as data 1.
  };
  const auto states = [](PteFile& f) -> pte::SubsegmentOffsetsT& {
    return *f.program.mutable_data_segments[0];
  };
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  expect_refused({
      {"value 1: data 2, but the file has 2",
       [](PteFile& f) { f.tensor(value::Constant).data_buffer_idx = 2; }},
      {"data 4294967295", [](PteFile& f) { f.tensor(value::Constant).data_buffer_idx = -1u; }},
      {"its 24 bytes of data at offset 4 lie outside their segment of 24",
       [&](PteFile& f) { constants(f).offsets[1] = 4; }},
      {"at offset 18446744073709551615 lie outside",
       [&](PteFile& f) { constants(f).offsets[1] = kMax; }},
      {"at offset 18446744073709551600 lie outside",
       [&](PteFile& f) { constants(f).offsets[1] = kMax - 15; }},
      {"its data is in segment 4, but the file has 4",
       [&](PteFile& f) { constants(f).segment_index = 4; }},
      {"lie outside their segment", [](PteFile& f) { f.tensor(value::Constant).sizes = {7, 1}; }},
      {"its data is not aligned to its dtype",
       [&](PteFile& f) {
         constants(f).offsets[1] = 2;
         f.tensor(value::Constant).sizes = {1, 3};
       }},
      {"value 2: its 16 bytes of data at offset 1 lie outside",
       [&](PteFile& f) { states(f).offsets[1] = 1; }},
      {"its data is in segment 9", [&](PteFile& f) { states(f).segment_index = 9; }},
      {"value 2: initial data, but the file has no segment for it",
       [](PteFile& f) { f.program.mutable_data_segments.clear(); }},
      {"initial data, but the file has no segment for it",
       [&](PteFile& f) { states(f).offsets.clear(); }},
  });
  PteFile unaligned_state = simple();
  states(unaligned_state).offsets[1] = 1;
  unaligned_state.tensor(value::State).sizes = {3};
  EXPECT_EQ(refusal(unaligned_state), "") << "initial data is copied, so it may lie anywhere";
}

TEST(Rules, OfSegments) {
  const auto segment = [](PteFile& f) -> pte::DataSegmentT& { return *f.program.segments[0]; };
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  for (const uint64_t wrong : {kMax, kMax - 127, uint64_t{1} << 63, uint64_t{1} << 32}) {
    SCOPED_TRACE(wrong);
    expect_refused({
        {"segment 0: its", [&](PteFile& f) { segment(f).offset = wrong; }},
        {"segment 0: its", [&](PteFile& f) { segment(f).size = wrong; }},
        {"lie outside the file", [&](PteFile& f) { segment(f).offset = segment(f).size = wrong; }},
    });
  }
  PteFile overlapping = simple();
  overlapping.program.segments[1]->offset = 0;
  EXPECT_EQ(refusal(overlapping), "") << "segments are only read, so they may share bytes";
}

TEST(Rules, OfOperators) {
  const auto op = [](PteFile& f) -> pte::OperatorT& { return *f.plan().operators[1]; };
  expect_refused({
      {"operator 1 has no name", [&](PteFile& f) { op(f).name.clear(); }},
      {"the name of operator 1 has 4097 bytes", [&](PteFile& f) { op(f).name.assign(4097, 'x'); }},
      {"the name of operator 1 has 4097 bytes",
       [&](PteFile& f) { op(f).overload.assign(4096 - op(f).name.size(), 'x'); }},
      {"the name of operator 1 has control", [&](PteFile& f) { op(f).overload = "\x7f"; }},
      {"the name of operator 1 is not UTF-8", [&](PteFile& f) { op(f).name = "\xe0\x80\x80"; }},
  });
}

TEST(Rules, OfDelegates) {
  const auto first = [](PteFile& f) -> pte::BackendDelegateT& { return *f.plan().delegates[0]; };
  const auto second = [](PteFile& f) -> pte::BackendDelegateT& { return *f.plan().delegates[1]; };
  expect_refused({
      {"delegate 0 has no backend id", [&](PteFile& f) { first(f).id.clear(); }},
      {"delegate 0's backend id has control", [&](PteFile& f) { first(f).id = "\t"; }},
      {"delegate 0 has no payload", [&](PteFile& f) { first(f).processed.reset(); }},
      {"delegate 0's payload is in segment 4, but the file has 4",
       [&](PteFile& f) { first(f).processed->index = 4; }},
      {"delegate 0's payload location is 2",
       [&](PteFile& f) { first(f).processed->location = static_cast<pte::DataLocation>(2); }},
      {"delegate 1's payload is inline data 1, but the file has 1",
       [&](PteFile& f) { second(f).processed->index = 1; }},
      {"delegate 1's payload is inline data 0, but the file has 0",
       [&](PteFile& f) { f.program.backend_delegate_data.clear(); }},
      {"delegate 0's compile spec 0: its key is not UTF-8",
       [&](PteFile& f) { first(f).compile_specs[0]->key = "\x80"; }},
  });
  // A spec without key or value, and a value of any bytes, are for the delegate to judge.
  PteFile file = simple();
  first(file).compile_specs[0]->key.clear();
  first(file).compile_specs[0]->value.clear();
  EXPECT_EQ(refusal(file), "");
}

TEST(Rules, OfNamedData) {
  const auto entry = [](PteFile& f) -> pte::NamedDataT& { return *f.program.named_data[0]; };
  expect_refused({
      {"named data 0 has no key", [&](PteFile& f) { entry(f).key.clear(); }},
      {"the key of named data 0 has control", [&](PteFile& f) { entry(f).key = "\r"; }},
      {"named data \"blob\" is in segment 4, but the file has 4",
       [&](PteFile& f) { entry(f).segment_index = 4; }},
      {"named data has the key \"blob\" twice",
       [&](PteFile& f) {
         f.program.named_data.push_back(std::make_unique<pte::NamedDataT>(entry(f)));
       }},
  });
}

TEST(Rules, OfInstructions) {
  const auto at = [](PteFile& f, size_t i) -> pte::InstructionArgumentsUnion& {
    return f.instruction(i);
  };
  expect_refused({
      {"method \"forward\": instruction 0: it has no arguments",
       [&](PteFile& f) { at(f, 0).Reset(); }},
      {"instruction 0: it refers to operator 2, but there are 2",
       [&](PteFile& f) { at(f, step::Kernel).AsKernelCall()->op_index = 2; }},
      {"operator -1", [&](PteFile& f) { at(f, step::Kernel).AsKernelCall()->op_index = -1; }},
      {"instruction 0: it refers to operator 0, but there are 0",
       [](PteFile& f) { f.plan().operators.clear(); }},
      {"instruction 0: its arguments name value 17, but the plan has 17 values",
       [&](PteFile& f) { at(f, step::Kernel).AsKernelCall()->args[2] = value::Count; }},
      {"its arguments name value -1",
       [&](PteFile& f) { at(f, step::Kernel).AsKernelCall()->args[2] = -1; }},
      {"instruction 2: it refers to delegate 2, but there are 2",
       [&](PteFile& f) { at(f, step::Delegate).AsDelegateCall()->delegate_index = 2; }},
      {"delegate -5",
       [&](PteFile& f) { at(f, step::Delegate).AsDelegateCall()->delegate_index = -5; }},
      {"instruction 2: its arguments name value 99",
       [&](PteFile& f) { at(f, step::Delegate).AsDelegateCall()->args[0] = 99; }},
      {"instruction 3: it refers to value 17",
       [&](PteFile& f) { at(f, step::Move).AsMoveCall()->move_from = value::Count; }},
      {"instruction 3: it refers to value -1",
       [&](PteFile& f) { at(f, step::Move).AsMoveCall()->move_to = -1; }},
      {"it moves value 0 to value 5, which is of another kind",
       [&](PteFile& f) { at(f, step::Move).AsMoveCall()->move_to = value::Number; }},
      {"instruction 1: it refers to value 17",
       [&](PteFile& f) { at(f, step::Jump).AsJumpFalseCall()->cond_value_index = value::Count; }},
      {"it jumps on value 5, which is not a bool",
       [&](PteFile& f) { at(f, step::Jump).AsJumpFalseCall()->cond_value_index = value::Number; }},
      {"it jumps on value 0, which is not a bool",
       [&](PteFile& f) { at(f, step::Jump).AsJumpFalseCall()->cond_value_index = value::Input; }},
      {"instruction 1: it refers to instruction 6, but there are 6",
       [&](PteFile& f) {
         at(f, step::Jump).AsJumpFalseCall()->destination_instruction = step::Count + 1;
       }},
      {"instruction 1: it refers to instruction -1",
       [&](PteFile& f) { at(f, step::Jump).AsJumpFalseCall()->destination_instruction = -1; }},
      {"instruction 4: it refers to value 17",
       [&](PteFile& f) { at(f, step::Free).AsFreeCall()->value_index = value::Count; }},
      {"it frees value 5, which is not a tensor",
       [&](PteFile& f) { at(f, step::Free).AsFreeCall()->value_index = value::Number; }},
  });
  PteFile tensor_condition = simple();
  at(tensor_condition, step::Jump).AsJumpFalseCall()->cond_value_index = value::ConditionTensor;
  EXPECT_EQ(refusal(tensor_condition), "");
}

TEST(Rules, OfLaterChainsNameTheChain) {
  PteFile file = simple();
  auto chain = std::make_unique<pte::ChainT>(*file.plan().chains[0]);
  chain->instructions[0]->instr_args.AsKernelCall()->op_index = 9;
  file.plan().chains.push_back(std::move(chain));
  EXPECT_NE(refusal(file).find("chain 1: instruction 0: it refers to operator 9"),
            std::string::npos)
      << refusal(file);
}

TEST(Rules, OfUnknownTags) {
  // A union's tag is one byte in the table beside its contents; the object interface would drop it.
  const ByteVector right = simple().bytes();
  size_t refused = 0;
  for (size_t i = 64; i < right.size(); ++i) {
    ByteVector bytes = right;
    bytes[i] = std::byte{99};
    const auto result = decode(bytes);
    if (!result.ok() && result.error().message.find("its type tag is 99") != std::string::npos)
      ++refused;
  }
  // One for each value but those whose tag shares a byte with padding, and each instruction.
  EXPECT_GE(refused, size_t{value::Count} + step::Count - 2);
}

// Each optional field left out in turn: an error or a program.
TEST(Rules, AllowForEveryFieldThatIsLeftOut) {
  const ByteVector right = simple().bytes();
  size_t programs = 0;
  size_t errors = 0;
  for (size_t i = 64; i + 1 < right.size(); i += 2) {
    ByteVector bytes = right;
    put(bytes, i, uint16_t{0});  // A vtable's entry: the field is absent.
    ++(decode(bytes).ok() ? programs : errors);
  }
  EXPECT_GT(programs, 0u);
  EXPECT_GT(errors, 0u);
}

}  // namespace
}  // namespace pteron::test
