// Every form in which ExecuTorch 1.x writes a program decodes to the same plain structs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "program/file_maker.h"

namespace pteron::test {
namespace {

std::string text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Program decoded(const PteFile& file) {
  auto result = decode(file.bytes());
  EXPECT_TRUE(result.ok()) << result.error().message;
  return result.ok() ? *std::move(result) : Program{};
}

TEST(Format, DecodesOneOfEverything) {
  const Program program = decoded(simple());
  ASSERT_EQ(program.plans.size(), 1u);
  const Plan& plan = program.plans[0];
  EXPECT_EQ(plan.name, "forward");
  EXPECT_EQ(plan.input_encoding, "in");
  EXPECT_EQ(plan.output_encoding, "out");
  EXPECT_EQ(plan.buffers, (std::vector<uint64_t>{128, 16}));
  EXPECT_EQ(plan.inputs, std::vector<ValueIndex>{simple_value::Input});
  EXPECT_EQ(plan.outputs, std::vector<ValueIndex>{simple_value::Output});
  EXPECT_EQ(plan.operators, (std::vector<std::string>{"aten::add.out", "aten::copy_"}));

  ASSERT_EQ(plan.values.size(), simple_value::Count);
  const auto tensor = [&](size_t i) -> const TensorDef& {
    return std::get<TensorDef>(plan.values[i]);
  };
  EXPECT_EQ(tensor(simple_value::Input).sizes, (std::vector<int32_t>{2, 3}));
  EXPECT_EQ(tensor(simple_value::Input).dim_order, (std::vector<uint8_t>{0, 1}));
  EXPECT_EQ(tensor(simple_value::Input).allocation->memory_id, 1u);
  EXPECT_FALSE(tensor(simple_value::Input).data.has_value());
  EXPECT_FALSE(tensor(simple_value::Constant).allocation.has_value());
  ASSERT_EQ(tensor(simple_value::Constant).data->size(), 24u);
  float last = 0;
  std::memcpy(&last, tensor(simple_value::Constant).data->data() + 20, sizeof(last));
  EXPECT_EQ(last, 5.0f);
  EXPECT_EQ(tensor(simple_value::State).allocation->offset, 48u);
  EXPECT_EQ(tensor(simple_value::State).data->size(), 16u);
  EXPECT_EQ(tensor(simple_value::State).name, "layer.state");
  EXPECT_EQ(tensor(simple_value::Output).dynamism, Dynamism::Bounded);
  EXPECT_TRUE(tensor(simple_value::External).external);
  EXPECT_EQ(tensor(simple_value::External).name, "w");
  EXPECT_FALSE(tensor(simple_value::Unplanned).allocation.has_value());
  EXPECT_EQ(tensor(simple_value::ConditionTensor).dtype, DType::Bool);
  EXPECT_EQ(std::get<bool>(plan.values[simple_value::Condition]), true);
  EXPECT_EQ(std::get<int64_t>(plan.values[simple_value::Number]), 7);
  EXPECT_EQ(std::get<double>(plan.values[simple_value::Real]), 0.5);
  EXPECT_EQ(std::get<std::string>(plan.values[simple_value::Text]), "floor");
  EXPECT_TRUE(std::holds_alternative<NoneDef>(plan.values[simple_value::None]));
  EXPECT_EQ(std::get<IntList>(plan.values[simple_value::Ints]).items,
            (std::vector<ValueIndex>{simple_value::Number, simple_value::Number}));
  EXPECT_EQ(std::get<DoubleList>(plan.values[simple_value::Reals]).items, std::vector<double>{1.5});
  EXPECT_EQ(std::get<BoolList>(plan.values[simple_value::Flags]).items,
            (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(std::get<TensorList>(plan.values[simple_value::Tensors]).items.size(), 2u);
  EXPECT_EQ(std::get<OptionalTensorList>(plan.values[simple_value::Optionals]).items,
            (std::vector<int32_t>{simple_value::Input, -1, simple_value::None}));

  ASSERT_EQ(plan.chains.size(), 1u);
  const auto& instructions = plan.chains[0].instructions;
  ASSERT_EQ(instructions.size(), simple_instruction::Count);
  EXPECT_EQ(std::get<KernelCall>(instructions[simple_instruction::Kernel]).args.size(), 5u);
  EXPECT_EQ(std::get<JumpFalseCall>(instructions[simple_instruction::Jump]).destination,
            simple_instruction::Count);
  EXPECT_EQ(std::get<DelegateCall>(instructions[simple_instruction::Delegate]).delegate, 0u);
  EXPECT_EQ(std::get<MoveCall>(instructions[simple_instruction::Move]).to, simple_value::Output);
  EXPECT_EQ(std::get<FreeCall>(instructions[simple_instruction::Free]).value, simple_value::Input);

  ASSERT_EQ(plan.delegates.size(), 2u);
  EXPECT_EQ(plan.delegates[0].id, "A");
  EXPECT_TRUE(plan.delegates[0].payload_in_segment);
  EXPECT_EQ(text(plan.delegates[0].payload), "payload A");
  EXPECT_EQ(plan.delegates[0].specs.at(0).key, "device");
  EXPECT_EQ(text(plan.delegates[0].specs.at(0).value), "CPU");
  EXPECT_FALSE(plan.delegates[1].payload_in_segment);
  EXPECT_EQ(text(plan.delegates[1].payload), "B");
  EXPECT_EQ(program.named_data.at(0).key, "blob");
  EXPECT_EQ(text(program.named_data.at(0).data), "named bytes");
}

TEST(Format, TakesEachLengthOfTheExtendedHeader) {
  for (const uint32_t length : {24u, 32u, 40u, 64u}) {
    SCOPED_TRACE(length);
    PteFile file = simple();
    file.header_length = length;
    EXPECT_EQ(decoded(file).plans.size(), 1u);
  }
}

TEST(Format, ReadsNothingPastAnExtendedHeaderOf24Bytes) {
  PteFile file = simple();
  file.header_length = 24;
  file.patch = [](ByteVector& bytes) { put(bytes, 32, ~uint64_t{0}); };
  EXPECT_EQ(refusal(file), "");
}

// As before segments: constants and payloads inside the FlatBuffer, and nothing after it.
PteFile without_segments() {
  PteFile file = simple();
  file.header_length = 0;
  file.segment_data.clear();
  pte::ProgramT& program = file.program;
  program.segments.clear();
  program.mutable_data_segments.clear();
  program.named_data.clear();
  program.constant_segment.reset();
  file.tensor(simple_value::State).data_buffer_idx = 0;
  file.plan().delegates[0]->processed->location = pte::DataLocation::INLINE;
  file.plan().delegates[0]->processed->index = 0;
  for (const size_t size : {0u, 24u}) {
    auto buffer = std::make_unique<pte::BufferT>();
    buffer->storage.assign(size, 7);
    program.constant_buffer.push_back(std::move(buffer));
  }
  return file;
}

TEST(Format, ReadsAProgramWithoutHeaderWithInlineConstants) {
  const Program program = decoded(without_segments());
  const auto& constant = std::get<TensorDef>(program.plans.at(0).values[simple_value::Constant]);
  ASSERT_EQ(constant.data->size(), 24u);
  EXPECT_EQ((*constant.data)[23], std::byte{7});
}

TEST(Format, ReadsInlineConstantsBesideAListOfOneReservedOffset) {
  PteFile file = without_segments();
  file.program.constant_segment = std::make_unique<pte::SubsegmentOffsetsT>();
  file.program.constant_segment->offsets = {0};
  EXPECT_EQ(refusal(file), "");
}

TEST(Format, RefusesInlineConstantsThatAreTooFewOrTooShort) {
  PteFile file = without_segments();
  file.tensor(simple_value::Constant).data_buffer_idx = 2;
  EXPECT_NE(refusal(file).find("data 2, but the file has 2"), std::string::npos) << refusal(file);
  file = without_segments();
  file.program.constant_buffer[1]->storage.resize(23);
  EXPECT_NE(refusal(file).find("it needs 24 bytes of data, and the file has 23"), std::string::npos)
      << refusal(file);
}

TEST(Format, IgnoresDevices) {
  PteFile file = simple();
  auto device = std::make_unique<pte::NonConstBufferDeviceT>();
  device->buffer_idx = 99;
  device->device_type = pte::DeviceType::CUDA;
  file.plan().non_const_buffer_device.push_back(std::move(device));
  file.tensor(simple_value::State).extra_tensor_info->device_type =
      static_cast<pte::DeviceType>(77);
  file.tensor(simple_value::State).extra_tensor_info->device_index = 3;
  EXPECT_EQ(refusal(file), "");
}

TEST(Format, TakesTheFirstMutableSegmentWhateverTheTensorSays) {
  PteFile file = simple();
  file.tensor(simple_value::State).extra_tensor_info->mutable_data_segments_idx = 5;
  EXPECT_EQ(refusal(file), "");
}

TEST(Format, DecodesSeveralMethods) {
  PteFile file = simple();
  auto second = std::make_unique<pte::ExecutionPlanT>();
  second->name = "second";
  file.program.execution_plan.push_back(std::move(second));
  const Program program = decoded(file);
  ASSERT_EQ(program.plans.size(), 2u);
  EXPECT_EQ(program.plans[1].name, "second");
}

TEST(Format, TakesAMethodThatHasNothingButAName) {
  PteFile file;
  auto plan = std::make_unique<pte::ExecutionPlanT>();
  plan->name = "forward";
  file.program.execution_plan.push_back(std::move(plan));
  EXPECT_EQ(refusal(file), "");
}

TEST(Format, TakesScalarsEmptyTensorsAndConstantsOfNoBytes) {
  PteFile file = simple();
  file.plan().values.push_back(tensor_value({}));
  file.plan().values.push_back(tensor_value({0, 3}));
  file.tensor(simple_value::Count + 1).data_buffer_idx = 1;
  const Program program = decoded(file);
  const auto& empty = std::get<TensorDef>(program.plans.at(0).values[simple_value::Count + 1]);
  ASSERT_TRUE(empty.data.has_value());
  EXPECT_TRUE(empty.data->empty());
}

TEST(Format, TakesMemoryAtAnyAlignment) {
  const ByteVector bytes = simple().bytes();
  for (size_t shift = 0; shift < 16; ++shift) {
    ByteVector moved(shift);
    moved.insert(moved.end(), bytes.begin(), bytes.end());
    const auto result = decode_program(wrap_bytes(Bytes(moved).subspan(shift), false));
    EXPECT_TRUE(result.ok()) << shift << ": " << result.error().message;
  }
}

// The bytes of a FlatBuffer's vector, with its length.
ByteVector vector_bytes(const std::vector<double>& numbers) {
  ByteVector out(4 + numbers.size() * sizeof(double));
  put(out, 0, static_cast<uint32_t>(numbers.size()));
  std::memcpy(out.data() + 4, numbers.data(), numbers.size() * sizeof(double));
  return out;
}

size_t place_of(const ByteVector& part, const ByteVector& whole) {
  const auto found = std::search(whole.begin(), whole.end(), part.begin(), part.end());
  EXPECT_NE(found, whole.end());
  return static_cast<size_t>(found - whole.begin());
}

// FlatBuffers' verifier does not look at the alignment of a vector's 8-byte elements.
TEST(Format, ReadsVectorsOf8ByteNumbersThatAreNotAligned) {
  const std::vector<double> numbers = {1234.5, -0.25};
  const std::vector<double> room(4, 7.25);
  PteFile file = simple();
  file.value(simple_value::Reals).val.AsDoubleList()->items = numbers;
  pte::DoubleListT list;
  list.items = room;
  file.value(simple_value::Real).val.Set(std::move(list));
  ByteVector bytes = file.bytes();
  const size_t aligned = place_of(vector_bytes(numbers), bytes);
  ASSERT_EQ((aligned + 4) % 8, 0u);

  // A second copy lies where the other list's numbers begin, so its own begin 4 bytes later.
  const size_t moved = place_of(vector_bytes(room), bytes) + 4;
  const ByteVector copy = vector_bytes(numbers);
  std::copy(copy.begin(), copy.end(), bytes.begin() + static_cast<std::ptrdiff_t>(moved));
  ASSERT_EQ((moved + 4) % 8, 4u);
  size_t redirected = 0;
  for (size_t i = 64; i + 4 <= aligned; i += 4) {
    uint32_t offset = 0;
    std::memcpy(&offset, &bytes[i], sizeof(offset));
    if (i + offset != aligned) continue;
    put(bytes, i, static_cast<uint32_t>(moved - i));
    ++redirected;
  }
  ASSERT_EQ(redirected, 1u);
  const auto program = decode(bytes);
  ASSERT_TRUE(program.ok()) << program.error().message;
  EXPECT_EQ(std::get<DoubleList>(program->plans.at(0).values[simple_value::Reals]).items, numbers);
}

TEST(Format, KeepsTextsThatAreNotEnglish) {
  PteFile file = simple();
  file.plan().name = "vor\xc3\xa4rts \xe5\x89\x8d\xe8\xbf\x9b";
  EXPECT_EQ(decoded(file).plans.at(0).name, file.plan().name);
}

}  // namespace
}  // namespace pteron::test
