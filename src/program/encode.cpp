#include "program/encode.h"

#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "program/decode.h"
#include "program/rules.h"
#include "program_generated.h"

namespace pteron {
namespace {

using Builder = flatbuffers::FlatBufferBuilder;
template <typename T>
using Offset = flatbuffers::Offset<T>;
template <typename T>
using Offsets = std::vector<Offset<T>>;

constexpr size_t kSegmentAlignment = 128;  // exir's default.
constexpr size_t kConstantAlignment = 16;
constexpr uint32_t kHeaderLength = 32;

size_t align_up(size_t size, size_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

void append(std::vector<std::byte>& out, Bytes bytes, size_t alignment) {
  out.resize(align_up(out.size(), alignment));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

// Bytes of several tensors in one segment; equal places in memory are stored once.
class Pool {
 public:
  // The index that a tensor refers to its bytes by; 0 is reserved.
  uint32_t add(Bytes bytes) {
    const auto [found, is_new] = known_.emplace(std::pair(bytes.data(), bytes.size()),
                                                static_cast<uint32_t>(offsets_.size()));
    if (is_new) {
      data_.resize(align_up(data_.size(), kConstantAlignment));
      offsets_.push_back(data_.size());
      data_.insert(data_.end(), bytes.begin(), bytes.end());
    }
    return found->second;
  }
  const std::vector<std::byte>& data() const { return data_; }
  const std::vector<uint64_t>& offsets() const { return offsets_; }

 private:
  std::vector<std::byte> data_;
  std::vector<uint64_t> offsets_ = {0};
  std::map<std::pair<const std::byte*, size_t>, uint32_t> known_;
};

class Encoder {
 public:
  explicit Encoder(const Program& program) : program_(program) {
    // The constant segment comes first.
    add_segment({});
  }

  std::vector<std::byte> encode() {
    Offsets<fb::ExecutionPlan> plans;
    for (const Plan& plan : program_.plans) plans.push_back(encode_plan(plan));
    segments_[0] = constants_.data();
    Offsets<fb::SubsegmentOffsets> mutable_segments;
    if (states_.offsets().size() > 1) {
      mutable_segments.push_back(
          fb::CreateSubsegmentOffsetsDirect(fbb_, add_segment(states_.data()), &states_.offsets()));
    }
    Offsets<fb::NamedData> named;
    for (const NamedData& entry : program_.named_data) {
      named.push_back(
          fb::CreateNamedData(fbb_, fbb_.CreateString(entry.key), segment_of(entry.data)));
    }
    const auto constants = fb::CreateSubsegmentOffsetsDirect(fbb_, 0, &constants_.offsets());

    Offsets<fb::DataSegment> table;
    std::vector<std::byte> data;
    for (const auto& segment : segments_) {
      const size_t offset = align_up(data.size(), kSegmentAlignment);
      table.push_back(fb::CreateDataSegment(fbb_, segment.empty() ? 0 : offset, segment.size()));
      if (!segment.empty()) append(data, segment, kSegmentAlignment);
    }
    fb::FinishProgramBuffer(
        fbb_, fb::CreateProgramDirect(fbb_, program_.version, &plans, nullptr, &inline_data_,
                                      &table, constants, &mutable_segments, &named));
    return join(data);
  }

 private:
  // The FlatBuffer with the extended header behind its first 8 bytes, then the segments.
  std::vector<std::byte> join(Bytes segments) {
    const Bytes flat(reinterpret_cast<const std::byte*>(fbb_.GetBufferPointer()), fbb_.GetSize());
    const size_t inserted = align_up(kHeaderLength, fbb_.GetBufferMinAlignment());
    const size_t program_size = flat.size() + inserted;
    const size_t base = segments.empty() ? 0 : align_up(program_size, kSegmentAlignment);
    std::vector<std::byte> file(flat.begin(), flat.begin() + 8);
    file.resize(8 + inserted);
    const auto put = [&file](size_t at, auto number) {
      std::memcpy(file.data() + at, &number, sizeof(number));
    };
    uint32_t root = 0;
    std::memcpy(&root, flat.data(), sizeof(root));
    put(0, root + static_cast<uint32_t>(inserted));
    std::memcpy(file.data() + 8, "eh00", 4);
    put(12, kHeaderLength);
    put(16, uint64_t{program_size});
    put(24, uint64_t{base});
    put(32, uint64_t{segments.size()});
    file.insert(file.end(), flat.begin() + 8, flat.end());
    if (!segments.empty()) append(file, segments, kSegmentAlignment);
    return file;
  }

  uint32_t add_segment(Bytes bytes) {
    segments_.emplace_back(bytes);
    return static_cast<uint32_t>(segments_.size() - 1);
  }

  // The segment with these very bytes, made if there is none.
  uint32_t segment_of(Bytes bytes) {
    const auto [found, is_new] = shared_segments_.emplace(
        std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()), 0);
    if (is_new) found->second = add_segment(bytes);
    return found->second;
  }

  template <typename T>
  Offset<flatbuffers::Vector<int32_t>> indices(const std::vector<T>& values) {
    return fbb_.CreateVector(std::vector<int32_t>(values.begin(), values.end()));
  }

  Offset<fb::Tensor> encode_tensor(const TensorDef& tensor) {
    uint32_t data = 0;
    if (tensor.data)
      data = tensor.allocation ? states_.add(*tensor.data) : constants_.add(*tensor.data);
    Offset<fb::AllocationDetails> allocation;
    if (tensor.allocation) {
      allocation = fb::CreateAllocationDetails(
          fbb_, tensor.allocation->memory_id, static_cast<uint32_t>(tensor.allocation->offset),
          static_cast<uint32_t>(tensor.allocation->offset >> 32));
    }
    Offset<fb::ExtraTensorInfo> extra;
    if (!tensor.name.empty() || tensor.external) {
      extra = fb::CreateExtraTensorInfo(
          fbb_, 0, fbb_.CreateString(tensor.name),
          tensor.external ? fb::TensorDataLocation::EXTERNAL : fb::TensorDataLocation::SEGMENT);
    }
    return fb::CreateTensorDirect(fbb_, static_cast<fb::ScalarType>(tensor.dtype), 0, &tensor.sizes,
                                  &tensor.dim_order, false, data, allocation, 0,
                                  tensor.dynamism == Dynamism::Bounded
                                      ? fb::TensorShapeDynamism::DYNAMIC_BOUND
                                      : fb::TensorShapeDynamism::STATIC,
                                  extra);
  }

  // One overload a kind of value.
  using Tagged = std::pair<fb::KernelTypes, Offset<void>>;
  Tagged encode(const NoneDef&) { return {fb::KernelTypes::Null, fb::CreateNull(fbb_).Union()}; }
  Tagged encode(int64_t value) {
    return {fb::KernelTypes::Int, fb::CreateInt(fbb_, value).Union()};
  }
  Tagged encode(bool value) { return {fb::KernelTypes::Bool, fb::CreateBool(fbb_, value).Union()}; }
  Tagged encode(double value) {
    // A field that equals its default is left out, and -0.0 equals 0.0.
    fbb_.ForceDefaults(true);
    const auto number = fb::CreateDouble(fbb_, value);
    fbb_.ForceDefaults(false);
    return {fb::KernelTypes::Double, number.Union()};
  }
  Tagged encode(const TensorDef& tensor) {
    return {fb::KernelTypes::Tensor, encode_tensor(tensor).Union()};
  }
  Tagged encode(const std::string& text) {
    return {fb::KernelTypes::String, fb::CreateString(fbb_, fbb_.CreateString(text)).Union()};
  }
  Tagged encode(const IntList& list) {
    const std::vector<int64_t> items(list.items.begin(), list.items.end());
    return {fb::KernelTypes::IntList, fb::CreateIntListDirect(fbb_, &items).Union()};
  }
  Tagged encode(const DoubleList& list) {
    return {fb::KernelTypes::DoubleList, fb::CreateDoubleListDirect(fbb_, &list.items).Union()};
  }
  Tagged encode(const BoolList& list) {
    return {fb::KernelTypes::BoolList, fb::CreateBoolListDirect(fbb_, &list.items).Union()};
  }
  Tagged encode(const TensorList& list) {
    return {fb::KernelTypes::TensorList, fb::CreateTensorList(fbb_, indices(list.items)).Union()};
  }
  Tagged encode(const OptionalTensorList& list) {
    return {fb::KernelTypes::OptionalTensorList,
            fb::CreateOptionalTensorListDirect(fbb_, &list.items).Union()};
  }

  using TaggedCall = std::pair<fb::InstructionArguments, Offset<void>>;
  TaggedCall encode(const KernelCall& call) {
    return {fb::InstructionArguments::KernelCall,
            fb::CreateKernelCall(fbb_, static_cast<int32_t>(call.op), indices(call.args)).Union()};
  }
  TaggedCall encode(const DelegateCall& call) {
    return {fb::InstructionArguments::DelegateCall,
            fb::CreateDelegateCall(fbb_, static_cast<int32_t>(call.delegate), indices(call.args))
                .Union()};
  }
  TaggedCall encode(const MoveCall& call) {
    return {fb::InstructionArguments::MoveCall,
            fb::CreateMoveCall(fbb_, static_cast<int32_t>(call.from), static_cast<int32_t>(call.to))
                .Union()};
  }
  TaggedCall encode(const JumpFalseCall& call) {
    return {fb::InstructionArguments::JumpFalseCall,
            fb::CreateJumpFalseCall(fbb_, static_cast<int32_t>(call.condition),
                                    static_cast<int32_t>(call.destination))
                .Union()};
  }
  TaggedCall encode(const FreeCall& call) {
    return {fb::InstructionArguments::FreeCall,
            fb::CreateFreeCall(fbb_, static_cast<int32_t>(call.value)).Union()};
  }

  // "aten::add.out" is stored as a name and an overload.
  Offset<fb::Operator> encode_operator(const std::string& full) {
    const size_t scope = full.find("::");
    const size_t dot = full.find('.', scope == std::string::npos ? 0 : scope);
    if (dot == std::string::npos || dot == 0 || dot + 1 == full.size())
      return fb::CreateOperator(fbb_, fbb_.CreateString(full), fbb_.CreateString(""));
    return fb::CreateOperator(fbb_, fbb_.CreateString(full.substr(0, dot)),
                              fbb_.CreateString(full.substr(dot + 1)));
  }

  Offset<fb::BackendDelegate> encode_delegate(const DelegateDef& def) {
    Offsets<fb::CompileSpec> specs;
    for (const CompileSpec& spec : def.specs) {
      const auto value =
          fbb_.CreateVector(reinterpret_cast<const uint8_t*>(spec.value.data()), spec.value.size());
      specs.push_back(fb::CreateCompileSpec(fbb_, fbb_.CreateString(spec.key), value));
    }
    Offset<fb::BackendDelegateDataReference> payload;
    if (def.payload_in_segment) {
      payload = fb::CreateBackendDelegateDataReference(fbb_, fb::DataLocation::SEGMENT,
                                                       segment_of(def.payload));
    } else {
      payload = fb::CreateBackendDelegateDataReference(fbb_, fb::DataLocation::INLINE,
                                                       static_cast<uint32_t>(inline_data_.size()));
      fbb_.ForceVectorAlignment(def.payload.size(), 1, kConstantAlignment);
      inline_data_.push_back(fb::CreateBackendDelegateInlineData(
          fbb_, fbb_.CreateVector(reinterpret_cast<const uint8_t*>(def.payload.data()),
                                  def.payload.size())));
    }
    return fb::CreateBackendDelegate(fbb_, fbb_.CreateString(def.id), payload,
                                     fbb_.CreateVector(specs));
  }

  Offset<fb::Chain> encode_chain(const Chain& chain) {
    Offsets<fb::Instruction> instructions;
    for (const Instruction& instruction : chain.instructions) {
      const TaggedCall call = std::visit([this](const auto& c) { return encode(c); }, instruction);
      instructions.push_back(fb::CreateInstruction(fbb_, call.first, call.second));
    }
    return fb::CreateChainDirect(fbb_, nullptr, nullptr, &instructions);
  }

  Offset<fb::ExecutionPlan> encode_plan(const Plan& plan) {
    Offsets<fb::EValue> values;
    for (const ValueDef& def : plan.values) {
      const Tagged value = std::visit([this](const auto& v) { return encode(v); }, def);
      values.push_back(fb::CreateEValue(fbb_, value.first, value.second));
    }
    Offsets<fb::Operator> operators;
    for (const std::string& name : plan.operators) operators.push_back(encode_operator(name));
    Offsets<fb::BackendDelegate> delegates;
    for (const DelegateDef& def : plan.delegates) delegates.push_back(encode_delegate(def));
    Offsets<fb::Chain> chains;
    for (const Chain& chain : plan.chains) chains.push_back(encode_chain(chain));
    std::vector<int64_t> buffers = {0};  // The first is reserved.
    buffers.insert(buffers.end(), plan.buffers.begin(), plan.buffers.end());
    const auto encodings = fb::CreateContainerMetadata(fbb_, fbb_.CreateString(plan.input_encoding),
                                                       fbb_.CreateString(plan.output_encoding));
    return fb::CreateExecutionPlan(
        fbb_, fbb_.CreateString(plan.name), encodings, fbb_.CreateVector(values),
        indices(plan.inputs), indices(plan.outputs), fbb_.CreateVector(chains),
        fbb_.CreateVector(operators), fbb_.CreateVector(delegates), fbb_.CreateVector(buffers));
  }

  const Program& program_;
  Builder fbb_;
  Pool constants_;
  Pool states_;
  std::vector<Bytes> segments_;
  std::map<std::string_view, uint32_t> shared_segments_;
  Offsets<fb::BackendDelegateInlineData> inline_data_;
};

// A FlatBuffer has at most 2 GiB, and its builder does not say so but asserts.
constexpr uint64_t kMostInline = uint64_t{1} << 30;

// The bytes of unbounded size that go into the FlatBuffer itself.
uint64_t flatbuffer_bytes(const Program& program) {
  uint64_t bytes = 0;
  for (const Plan& plan : program.plans) {
    bytes += plan.input_encoding.size() + plan.output_encoding.size();
    for (const ValueDef& value : plan.values) {
      if (const auto* text = std::get_if<std::string>(&value)) bytes += text->size();
    }
    for (const DelegateDef& delegate : plan.delegates) {
      if (!delegate.payload_in_segment) bytes += delegate.payload.size();
      for (const CompileSpec& spec : delegate.specs) bytes += spec.value.size();
    }
  }
  return bytes;
}

}  // namespace

Result<std::vector<std::byte>> encode_program(const Program& program) {
  if (flatbuffer_bytes(program) > kMostInline) {
    return Error{Code::InvalidArgument,
                 "the program to encode: its texts, compile specs and inline payloads have over 1 "
                 "GiB, more than FlatBuffers takes with the rest; put payloads into segments"};
  }
  std::vector<std::byte> file = Encoder(program).encode();
  // decode's rules are all there are, so they are not written twice.
  DecodeLimits limits;
  limits.planned_memory = UINT64_MAX;
  auto decoded = decode_program(wrap_bytes(file, false, "the program to encode"), limits);
  if (!decoded.ok()) return Error{Code::InvalidArgument, decoded.error().message};
  // The file has only places of data, not their sizes, so decode cannot see that some are missing.
  for (const Plan& plan : program.plans) {
    for (size_t i = 0; i < plan.values.size(); ++i) {
      const auto* tensor = std::get_if<TensorDef>(&plan.values[i]);
      if (tensor == nullptr || !tensor->data || tensor->data->size() == tensor->nbytes()) continue;
      return Error{Code::InvalidArgument,
                   "the program to encode: method " + quoted(plan.name) + ": value " +
                       std::to_string(i) + " has " + counted(tensor->data->size(), "byte") +
                       " of data, and its shape needs " + std::to_string(tensor->nbytes())};
    }
  }
  return file;
}

}  // namespace pteron
