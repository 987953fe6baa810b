// A FlatBuffer may refer to one table or vector a million times. What decode makes of that is
// bounded by a constant times the file's bytes, in memory and in time.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>

#include "program/allocation_count.h"
#include "program/file_maker.h"

namespace pteron::test {
namespace {

using flatbuffers::Offset;
using Builder = flatbuffers::FlatBufferBuilder;

// Of all that decode allocates, growing vectors' old memory included.
constexpr uint64_t kMostBytesAFileByte = 200;

template <typename T>
std::vector<Offset<T>> many(size_t count, Offset<T> shared) {
  return std::vector<Offset<T>>(count, shared);
}

Offset<pte::ExecutionPlan> plan_of(Builder& fbb, const std::string& name,
                                   const std::vector<Offset<pte::EValue>>& values) {
  return pte::CreateExecutionPlanDirect(fbb, name.c_str(), 0, &values);
}

ByteVector finish(Builder& fbb, const std::vector<Offset<pte::ExecutionPlan>>& plans) {
  pte::FinishProgramBuffer(fbb, pte::CreateProgramDirect(fbb, 0, &plans));
  const auto* data = reinterpret_cast<const std::byte*>(fbb.GetBufferPointer());
  ByteVector file(data, data + fbb.GetSize());
  file.resize(std::max<size_t>(file.size(), 64));
  return file;
}

// Decodes `file` and holds it to the bound; whether it decoded.
template <typename Decode>
bool decodes_within_the_bound(const ByteVector& file, Decode decode_file) {
  const FileBytes bytes = wrap_bytes(file, true);
  const uint64_t before = bytes_allocated();
  const auto start = std::chrono::steady_clock::now();
  const auto result = decode_file(bytes);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(bytes_allocated() - before, kMostBytesAFileByte * file.size() + (1u << 20));
  EXPECT_LT(seconds.count(), 2.0);
  if (!result.ok()) {
    EXPECT_EQ(result.error().code, Code::Malformed);
    EXPECT_LT(result.error().message.size(), 400u);
  }
  return result.ok();
}

bool program_decodes(const ByteVector& file) {
  return decodes_within_the_bound(file, [](const FileBytes& f) { return decode_program(f); });
}

constexpr size_t kMany = 1'000'000;

// Each reference takes 4 bytes, so this is within the bound, decoded or not.
TEST(Sharing, OfOneValueAMillionTimesIsWithinTheBound) {
  Builder fbb;
  const auto value = pte::CreateEValue(fbb, pte::KernelTypes::Int, pte::CreateInt(fbb, 1).Union());
  program_decodes(finish(fbb, {plan_of(fbb, "forward", many(kMany, value))}));
}

TEST(Sharing, OfOneLongListByManyValues) {
  Builder fbb;
  const auto items = fbb.CreateVector(std::vector<int64_t>(kMany / 8, 0));
  std::vector<Offset<pte::EValue>> values;
  values.push_back(pte::CreateEValue(fbb, pte::KernelTypes::Int, pte::CreateInt(fbb, 1).Union()));
  for (size_t i = 0; i < 10'000; ++i) {
    values.push_back(
        pte::CreateEValue(fbb, pte::KernelTypes::IntList, pte::CreateIntList(fbb, items).Union()));
  }
  EXPECT_FALSE(program_decodes(finish(fbb, {plan_of(fbb, "forward", values)})));
}

TEST(Sharing, OfLongListsOfOtherKinds) {
  const auto refused = [](auto add) {
    Builder fbb;
    std::vector<Offset<pte::EValue>> values;
    const auto [type, contents] = add(fbb);
    for (size_t i = 0; i < 10'000; ++i) values.push_back(pte::CreateEValue(fbb, type, contents));
    return !program_decodes(finish(fbb, {plan_of(fbb, "forward", values)}));
  };
  using Tagged = std::pair<pte::KernelTypes, Offset<void>>;
  EXPECT_TRUE(refused([](Builder& fbb) {
    const std::vector<double> items(kMany / 8);
    return Tagged(pte::KernelTypes::DoubleList, pte::CreateDoubleListDirect(fbb, &items).Union());
  }));
  EXPECT_TRUE(refused([](Builder& fbb) {
    const std::vector<uint8_t> items(kMany);
    return Tagged(pte::KernelTypes::BoolList, pte::CreateBoolListDirect(fbb, &items).Union());
  }));
  EXPECT_TRUE(refused([](Builder& fbb) {
    const std::vector<int32_t> items(kMany / 4, -1);
    return Tagged(pte::KernelTypes::OptionalTensorList,
                  pte::CreateOptionalTensorListDirect(fbb, &items).Union());
  }));
  EXPECT_TRUE(refused([](Builder& fbb) {
    return Tagged(pte::KernelTypes::String,
                  pte::CreateString(fbb, fbb.CreateString(std::string(kMany, 'a'))).Union());
  }));
}

TEST(Sharing, OfOneNameByManyTensors) {
  Builder fbb;
  const auto extra = pte::CreateExtraTensorInfoDirect(fbb, 0, std::string(kMaxName, 'n').c_str());
  std::vector<Offset<pte::EValue>> values;
  for (size_t i = 0; i < 50'000; ++i) {
    pte::TensorBuilder tensor(fbb);
    tensor.add_scalar_type(pte::ScalarType::Float);
    tensor.add_extra_tensor_info(extra);
    const auto contents = tensor.Finish();
    values.push_back(pte::CreateEValue(fbb, pte::KernelTypes::Tensor, contents.Union()));
  }
  EXPECT_FALSE(program_decodes(finish(fbb, {plan_of(fbb, "forward", values)})));
}

TEST(Sharing, OfOneArgumentListByManyInstructions) {
  Builder fbb;
  const auto args = fbb.CreateVector(std::vector<int32_t>(kMany / 4, 0));
  std::vector<Offset<pte::Instruction>> instructions;
  for (size_t i = 0; i < 10'000; ++i) {
    instructions.push_back(pte::CreateInstruction(fbb, pte::InstructionArguments::KernelCall,
                                                  pte::CreateKernelCall(fbb, 0, args).Union()));
  }
  const std::vector<Offset<pte::Chain>> chains = {
      pte::CreateChainDirect(fbb, nullptr, nullptr, &instructions)};
  const std::vector<Offset<pte::EValue>> values = {
      pte::CreateEValue(fbb, pte::KernelTypes::Int, pte::CreateInt(fbb, 1).Union())};
  const std::vector<Offset<pte::Operator>> operators = {
      pte::CreateOperatorDirect(fbb, "aten::add", "out")};
  const auto plan = pte::CreateExecutionPlanDirect(fbb, "forward", 0, &values, nullptr, nullptr,
                                                   &chains, &operators);
  EXPECT_FALSE(program_decodes(finish(fbb, {plan})));
}

// Methods of different names that share all the rest.
template <typename Fill>
ByteVector methods_that_share(size_t count, Fill fill) {
  Builder fbb;
  std::vector<Offset<flatbuffers::String>> names;
  for (size_t i = 0; i < count; ++i) names.push_back(fbb.CreateString("m" + std::to_string(i)));
  const auto add_shared = fill(fbb);
  std::vector<Offset<pte::ExecutionPlan>> plans;
  for (const auto& name : names) {
    pte::ExecutionPlanBuilder plan(fbb);
    plan.add_name(name);
    add_shared(plan);
    plans.push_back(plan.Finish());
  }
  return finish(fbb, plans);
}

TEST(Sharing, OfAllValuesByManyMethods) {
  EXPECT_FALSE(program_decodes(methods_that_share(10'000, [](Builder& fbb) {
    std::vector<Offset<pte::EValue>> values;
    for (size_t i = 0; i < 10'000; ++i)
      values.push_back(pte::CreateEValue(fbb, pte::KernelTypes::Null));
    const auto shared = fbb.CreateVector(values);
    return [=](pte::ExecutionPlanBuilder& plan) { plan.add_values(shared); };
  })));
}

TEST(Sharing, OfEmptyChainsByManyMethods) {
  EXPECT_FALSE(program_decodes(methods_that_share(10'000, [](Builder& fbb) {
    const auto shared = fbb.CreateVector(many(100'000, pte::CreateChainDirect(fbb)));
    return [=](pte::ExecutionPlanBuilder& plan) { plan.add_chains(shared); };
  })));
}

TEST(Sharing, OfBufferSizesByManyMethods) {
  EXPECT_FALSE(program_decodes(methods_that_share(10'000, [](Builder& fbb) {
    const auto shared = fbb.CreateVector(std::vector<int64_t>(kMany / 8, 0));
    return [=](pte::ExecutionPlanBuilder& plan) { plan.add_non_const_buffer_sizes(shared); };
  })));
}

TEST(Sharing, OfInputsAndOutputsByManyMethods) {
  EXPECT_FALSE(program_decodes(methods_that_share(10'000, [](Builder& fbb) {
    const auto values = fbb.CreateVector(
        std::vector<Offset<pte::EValue>>{pte::CreateEValue(fbb, pte::KernelTypes::Null)});
    const auto shared = fbb.CreateVector(std::vector<int32_t>(kMany / 4, 0));
    return [=](pte::ExecutionPlanBuilder& plan) {
      plan.add_values(values);
      plan.add_inputs(shared);
      plan.add_outputs(shared);
    };
  })));
}

TEST(Sharing, OfOneEncodingByManyMethods) {
  EXPECT_FALSE(program_decodes(methods_that_share(10'000, [](Builder& fbb) {
    const auto text = fbb.CreateString(std::string(kMany, 'e'));
    const auto shared = pte::CreateContainerMetadata(fbb, text, text);
    return [=](pte::ExecutionPlanBuilder& plan) { plan.add_container_meta_type(shared); };
  })));
}

TEST(Sharing, OfOneSegmentTableIsWithinTheBound) {
  Builder fbb;
  const auto segments = many(kMany, pte::CreateDataSegment(fbb, uint64_t{0}, uint64_t{0}));
  const std::vector<Offset<pte::ExecutionPlan>> plans = {plan_of(fbb, "forward", {})};
  pte::FinishProgramBuffer(fbb,
                           pte::CreateProgramDirect(fbb, 0, &plans, nullptr, nullptr, &segments));
  const auto* data = reinterpret_cast<const std::byte*>(fbb.GetBufferPointer());
  program_decodes(ByteVector(data, data + fbb.GetSize()));
}

// Honest files are far from the bound: each value, instruction and list stands for itself.
TEST(Sharing, DoesNotRefuseALargeFileThatSharesNothing) {
  Builder fbb;
  std::vector<Offset<pte::EValue>> values;
  std::vector<Offset<pte::Instruction>> instructions;
  for (int64_t i = 0; i < 100'000; ++i) {
    values.push_back(pte::CreateEValue(fbb, pte::KernelTypes::Int, pte::CreateInt(fbb, i).Union()));
    const std::vector<int32_t> args = {static_cast<int32_t>(i), 0, 1};
    instructions.push_back(
        pte::CreateInstruction(fbb, pte::InstructionArguments::KernelCall,
                               pte::CreateKernelCallDirect(fbb, 0, &args).Union()));
  }
  const std::vector<Offset<pte::Chain>> chains = {
      pte::CreateChainDirect(fbb, nullptr, nullptr, &instructions)};
  const std::vector<Offset<pte::Operator>> operators = {
      pte::CreateOperatorDirect(fbb, "aten::add", "out")};
  EXPECT_TRUE(program_decodes(
      finish(fbb, {pte::CreateExecutionPlanDirect(fbb, "forward", 0, &values, nullptr, nullptr,
                                                  &chains, &operators)})));
}

TEST(Sharing, OfOneKeyByManyWeightsIsRefused) {
  Builder fbb;
  const auto key = fbb.CreateString("w");
  const auto segment = ptd::CreateDataSegment(fbb, uint64_t{0}, uint64_t{0});
  const auto entries = many(kMany, ptd::CreateNamedData(fbb, key, 0));
  const std::vector<Offset<ptd::DataSegment>> segments = {segment};
  ptd::FinishFlatTensorBuffer(fbb, ptd::CreateFlatTensorDirect(fbb, 0, &segments, &entries));
  const auto* flat = reinterpret_cast<const std::byte*>(fbb.GetBufferPointer());
  ByteVector file(flat, flat + 8);
  file.resize(8 + 48);
  file.insert(file.end(), flat + 8, flat + fbb.GetSize());
  uint32_t root = 0;
  std::memcpy(&root, flat, sizeof(root));
  put(file, 0, root + 48);
  put(file, 8, uint32_t{0x31304846});  // "FH01"
  put(file, 12, uint32_t{40});
  put(file, 16, uint64_t{48});
  put(file, 24, uint64_t{file.size() - 48});
  EXPECT_FALSE(
      decodes_within_the_bound(file, [](const FileBytes& f) { return decode_weights(f); }));
}

}  // namespace
}  // namespace pteron::test
