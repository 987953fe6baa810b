#include "program/file_maker.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace pteron::test {
namespace {

ByteVector floats(size_t count) {
  ByteVector out(count * sizeof(float));
  for (size_t i = 0; i < count; ++i) {
    const auto value = static_cast<float>(i);
    std::memcpy(out.data() + i * sizeof(float), &value, sizeof(float));
  }
  return out;
}

void pad(ByteVector& bytes, size_t alignment) {
  bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
}

template <typename T>
std::unique_ptr<pte::EValueT> boxed(T contents) {
  auto value = std::make_unique<pte::EValueT>();
  value->val.Set(std::move(contents));
  return value;
}

template <typename T>
std::unique_ptr<pte::InstructionT> instruction(T call) {
  auto out = std::make_unique<pte::InstructionT>();
  out->instr_args.Set(std::move(call));
  return out;
}

std::unique_ptr<pte::AllocationDetailsT> place(uint32_t id, uint32_t offset) {
  auto out = std::make_unique<pte::AllocationDetailsT>();
  out->memory_id = id;
  out->memory_offset_low = offset;
  return out;
}

std::unique_ptr<pte::OperatorT> op(std::string name, std::string overload) {
  auto out = std::make_unique<pte::OperatorT>();
  out->name = std::move(name);
  out->overload = std::move(overload);
  return out;
}

std::unique_ptr<pte::BackendDelegateT> delegate(std::string id, pte::DataLocation location,
                                                uint32_t index) {
  auto out = std::make_unique<pte::BackendDelegateT>();
  out->id = std::move(id);
  out->processed = std::make_unique<pte::BackendDelegateDataReferenceT>();
  out->processed->location = location;
  out->processed->index = index;
  return out;
}

// The FlatBuffer with `header` behind its first 8 bytes, padded to `inserted`.
ByteVector insert_header(const flatbuffers::FlatBufferBuilder& fbb, ByteVector header,
                         size_t inserted) {
  const auto* flat = reinterpret_cast<const std::byte*>(fbb.GetBufferPointer());
  ByteVector file(flat, flat + 8);
  header.resize(inserted);
  file.insert(file.end(), header.begin(), header.end());
  file.insert(file.end(), flat + 8, flat + fbb.GetSize());
  uint32_t root = 0;
  std::memcpy(&root, flat, sizeof(root));
  if (inserted > 0) put(file, 0, root + static_cast<uint32_t>(inserted));
  return file;
}

}  // namespace

ByteVector to_bytes(const std::string& text) {
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

std::unique_ptr<pte::EValueT> tensor_value(std::vector<int32_t> sizes, pte::ScalarType dtype) {
  pte::TensorT tensor;
  tensor.scalar_type = dtype;
  for (size_t i = 0; i < sizes.size(); ++i) tensor.dim_order.push_back(static_cast<uint8_t>(i));
  tensor.sizes = std::move(sizes);
  return boxed(std::move(tensor));
}

uint32_t add_segment(PteFile& file, const ByteVector& data) {
  pad(file.segment_data, 16);
  auto segment = std::make_unique<pte::DataSegmentT>();
  segment->offset = file.segment_data.size();
  segment->size = data.size();
  file.segment_data.insert(file.segment_data.end(), data.begin(), data.end());
  file.program.segments.push_back(std::move(segment));
  return static_cast<uint32_t>(file.program.segments.size() - 1);
}

ByteVector PteFile::bytes() const {
  flatbuffers::FlatBufferBuilder fbb;
  pte::FinishProgramBuffer(fbb, pte::Program::Pack(fbb, &program));
  ByteVector file;
  if (header_length == 0) {
    file = insert_header(fbb, {}, 0);
  } else {
    const size_t inserted = (std::max<size_t>(header_length, 32) + 15) / 16 * 16;
    file = insert_header(fbb, to_bytes("eh00"), inserted);
    const size_t program_size = file.size();
    put(file, 12, header_length);
    put(file, 16, uint64_t{program_size});
    if (!segment_data.empty()) {
      pad(file, 128);
      put(file, 24, uint64_t{file.size()});
      if (header_length >= 32) put(file, 32, uint64_t{segment_data.size()});
      file.insert(file.end(), segment_data.begin(), segment_data.end());
    }
  }
  if (patch) patch(file);
  return file;
}

PteFile simple() {
  PteFile file;
  pte::ProgramT& program = file.program;
  auto plan = std::make_unique<pte::ExecutionPlanT>();
  plan->name = "forward";
  plan->container_meta_type = std::make_unique<pte::ContainerMetadataT>();
  plan->container_meta_type->encoded_inp_str = "in";
  plan->container_meta_type->encoded_out_str = "out";
  plan->non_const_buffer_sizes = {0, 128, 16};

  auto& values = plan->values;
  const auto tensor = [&] { return values.back()->val.AsTensor(); };
  values.push_back(tensor_value({2, 3}));
  tensor()->allocation_info = place(1, 0);
  values.push_back(tensor_value({2, 3}));
  tensor()->data_buffer_idx = 1;
  values.push_back(tensor_value({4}));
  tensor()->allocation_info = place(1, 48);
  tensor()->data_buffer_idx = 1;
  tensor()->extra_tensor_info = std::make_unique<pte::ExtraTensorInfoT>();
  tensor()->extra_tensor_info->fully_qualified_name = "layer.state";
  values.push_back(tensor_value({2, 3}));
  tensor()->allocation_info = place(1, 64);
  tensor()->shape_dynamism = pte::TensorShapeDynamism::DYNAMIC_BOUND;
  pte::BoolT condition;
  condition.bool_val = true;
  values.push_back(boxed(std::move(condition)));
  pte::IntT number;
  number.int_val = 7;
  values.push_back(boxed(std::move(number)));
  pte::DoubleT real;
  real.double_val = 0.5;
  values.push_back(boxed(std::move(real)));
  pte::StringT text;
  text.string_val = "floor";
  values.push_back(boxed(std::move(text)));
  values.push_back(boxed(pte::NullT{}));
  pte::IntListT ints;
  ints.items = {simple_value::Number, simple_value::Number};
  values.push_back(boxed(std::move(ints)));
  pte::DoubleListT reals;
  reals.items = {1.5};
  values.push_back(boxed(std::move(reals)));
  pte::BoolListT flags;
  flags.items = {true, false};
  values.push_back(boxed(std::move(flags)));
  pte::TensorListT tensors;
  tensors.items = {simple_value::Input, simple_value::Constant};
  values.push_back(boxed(std::move(tensors)));
  pte::OptionalTensorListT optionals;
  optionals.items = {simple_value::Input, -1, simple_value::None};
  values.push_back(boxed(std::move(optionals)));
  values.push_back(tensor_value({2}));
  tensor()->extra_tensor_info = std::make_unique<pte::ExtraTensorInfoT>();
  tensor()->extra_tensor_info->fully_qualified_name = "w";
  tensor()->extra_tensor_info->location = pte::TensorDataLocation::EXTERNAL;
  values.push_back(tensor_value({2, 3}));
  values.push_back(tensor_value({1}, pte::ScalarType::Bool));
  tensor()->allocation_info = place(2, 0);

  plan->inputs = {simple_value::Input};
  plan->outputs = {simple_value::Output};
  plan->operators.push_back(op("aten::add", "out"));
  plan->operators.push_back(op("aten::copy_", ""));

  auto chain = std::make_unique<pte::ChainT>();
  pte::KernelCallT kernel;
  kernel.args = {simple_value::Input, simple_value::Constant, simple_value::Number,
                 simple_value::Output, simple_value::Output};
  chain->instructions.push_back(instruction(std::move(kernel)));
  pte::JumpFalseCallT jump;
  jump.cond_value_index = simple_value::Condition;
  jump.destination_instruction = simple_instruction::Count;
  chain->instructions.push_back(instruction(std::move(jump)));
  pte::DelegateCallT call;
  call.args = {simple_value::Input, simple_value::Output};
  chain->instructions.push_back(instruction(std::move(call)));
  pte::MoveCallT move;
  move.move_from = simple_value::Input;
  move.move_to = simple_value::Output;
  chain->instructions.push_back(instruction(std::move(move)));
  pte::FreeCallT free;
  free.value_index = simple_value::Input;
  chain->instructions.push_back(instruction(std::move(free)));
  plan->chains.push_back(std::move(chain));

  const uint32_t constants = add_segment(file, floats(6));
  program.constant_segment = std::make_unique<pte::SubsegmentOffsetsT>();
  program.constant_segment->segment_index = constants;
  program.constant_segment->offsets = {0, 0};
  auto states = std::make_unique<pte::SubsegmentOffsetsT>();
  states->segment_index = add_segment(file, floats(4));
  states->offsets = {0, 0};
  program.mutable_data_segments.push_back(std::move(states));
  plan->delegates.push_back(
      delegate("A", pte::DataLocation::SEGMENT, add_segment(file, to_bytes("payload A"))));
  auto spec = std::make_unique<pte::CompileSpecT>();
  spec->key = "device";
  spec->value = {'C', 'P', 'U'};
  plan->delegates[0]->compile_specs.push_back(std::move(spec));
  plan->delegates.push_back(delegate("B", pte::DataLocation::INLINE, 0));
  auto inline_data = std::make_unique<pte::BackendDelegateInlineDataT>();
  inline_data->data = {'B'};
  program.backend_delegate_data.push_back(std::move(inline_data));
  auto named = std::make_unique<pte::NamedDataT>();
  named->key = "blob";
  named->segment_index = add_segment(file, to_bytes("named bytes"));
  program.named_data.push_back(std::move(named));
  program.execution_plan.push_back(std::move(plan));
  return file;
}

ByteVector PtdFile::bytes() const {
  flatbuffers::FlatBufferBuilder fbb;
  ptd::FinishFlatTensorBuffer(fbb, ptd::FlatTensor::Pack(fbb, &tensors));
  constexpr size_t kInserted = 48;
  ByteVector file = insert_header(fbb, to_bytes("FH01"), kInserted);
  put(file, 12, uint32_t{40});
  put(file, 16, uint64_t{kInserted});
  put(file, 24, uint64_t{file.size() - kInserted});
  pad(file, 128);
  put(file, 32, uint64_t{file.size()});
  put(file, 40, uint64_t{segment_data.size()});
  file.insert(file.end(), segment_data.begin(), segment_data.end());
  if (patch) patch(file);
  return file;
}

PtdFile simple_weights() {
  PtdFile file;
  const auto add = [&](const std::string& key, const ByteVector& data) {
    pad(file.segment_data, 16);
    auto segment = std::make_unique<ptd::DataSegmentT>();
    segment->offset = file.segment_data.size();
    segment->size = data.size();
    auto entry = std::make_unique<ptd::NamedDataT>();
    entry->key = key;
    entry->segment_index = static_cast<uint32_t>(file.tensors.segments.size());
    file.tensors.segments.push_back(std::move(segment));
    file.tensors.named_data.push_back(std::move(entry));
    file.segment_data.insert(file.segment_data.end(), data.begin(), data.end());
  };
  add("w", floats(2));
  auto layout = std::make_unique<ptd::TensorLayoutT>();
  layout->scalar_type = static_cast<int8_t>(DType::Float32);
  layout->sizes = {2};
  layout->dim_order = {0};
  file.tensors.named_data[0]->tensor_layout = std::move(layout);
  add("raw", to_bytes("raw bytes"));
  return file;
}

Result<Program> decode(const ByteVector& bytes, const DecodeLimits& limits) {
  return decode_program(wrap_bytes(bytes, true), limits);
}
Result<Weights> decode_ptd(const ByteVector& bytes) {
  return decode_weights(wrap_bytes(bytes, true));
}

std::string refusal(const PteFile& file) {
  const auto result = decode(file.bytes());
  return result.ok() ? "" : result.error().message;
}
std::string refusal(const PtdFile& file) {
  const auto result = decode_ptd(file.bytes());
  return result.ok() ? "" : result.error().message;
}

}  // namespace pteron::test
