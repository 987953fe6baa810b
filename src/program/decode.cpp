#include "program/decode.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "base/checked.h"
#include "base/text.h"
#include "program/container.h"
#include "program/rules.h"
#include "program_generated.h"

namespace pteron {
namespace {

std::string_view view(const flatbuffers::String* text) {
  return text ? std::string_view(text->c_str(), text->size()) : std::string_view();
}

template <typename Vector>
size_t length(const Vector* vector) {
  return vector ? vector->size() : 0;
}

template <typename T>
std::span<const T> span_of(const flatbuffers::Vector<T>* vector) {
  return vector ? std::span<const T>(vector->data(), vector->size()) : std::span<const T>();
}

// FlatBuffers' verifier looks at the alignment of a vector's length, which has 4 bytes, and not at
// that of its elements; so those of 8 bytes are not read in place.
template <typename T>
T element(const flatbuffers::Vector<T>& vector, uint32_t index) {
  T value;
  std::memcpy(&value, vector.Data() + size_t{index} * sizeof(T), sizeof(T));
  return value;
}

Bytes bytes_of(const flatbuffers::Vector<uint8_t>* vector) {
  if (vector == nullptr) return {};
  return {reinterpret_cast<const std::byte*>(vector->data()), vector->size()};
}

class Decoder {
 public:
  Decoder(FileBytes file, Container container, const DecodeLimits& limits)
      : file_(std::move(file)),
        container_(container),
        limits_(limits),
        budget_(container.flatbuffer.size()) {}

  Result<Program> decode() {
    PTERON_TRY(verify());
    Program program;
    program.version = root_->version();
    program.file = file_.bytes;
    program.storage = file_.storage;
    PTERON_TRY(decode_segments());
    if (length(root_->execution_plan()) == 0) return error("the program has no method");
    std::set<std::string_view> names;
    for (uint32_t i = 0; i < root_->execution_plan()->size(); ++i) {
      where_ = "method " + std::to_string(i);
      const fb::ExecutionPlan* plan = root_->execution_plan()->Get(i);
      const std::string_view name = view(plan->name());
      if (name.empty()) return error("it has no name");
      where_ = "method " + quoted(name);
      PTERON_TRY(check_name(name, "its name"));
      if (!names.insert(name).second) return error("two methods have this name");
      PTERON_ASSIGN(Plan decoded, decode_plan(*plan));
      program.plans.push_back(std::move(decoded));
    }
    where_.clear();
    PTERON_TRY(decode_named_data(program));
    return program;
  }

 private:
  Error error(const std::string& message) const {
    return malformed(file_, where_.empty() ? message : where_ + ": " + message);
  }
  Error over_budget() const {
    return error("the file refers to the same tables so often that it would fill memory");
  }

  Result<void> check_name(std::string_view name, const std::string& what) const {
    const std::string reason = why_no_name(name);
    if (!reason.empty()) return error(what + " " + reason);
    return {};
  }
  Result<void> check_text(std::string_view text, const std::string& what) const {
    if (!is_utf8(text)) return error(what + " is not UTF-8");
    return {};
  }

  Result<void> verify() {
    flatbuffers::Verifier::Options options;
    options.max_depth = 32;
    // Each reference to a table takes 4 bytes, unless tables are shared, which no exporter does at
    // length.
    options.max_tables = static_cast<flatbuffers::uoffset_t>(
        std::min<size_t>(container_.flatbuffer.size() / 4 + 64, UINT32_MAX));
    const auto* data = reinterpret_cast<const uint8_t*>(container_.flatbuffer.data());
    if (container_.flatbuffer.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) {
      return error("the program part is over 2 GiB, more than FlatBuffers allows");
    }
    flatbuffers::Verifier verifier(data, container_.flatbuffer.size(), options);
    if (!fb::VerifyProgramBuffer(verifier)) {
      return error("the program part is damaged: FlatBuffers' verifier refuses it");
    }
    root_ = fb::GetProgram(data);
    return {};
  }

  Result<void> decode_segments() {
    const size_t count = length(root_->segments());
    if (!budget_.take(4 * count)) return over_budget();
    for (uint32_t i = 0; i < count; ++i) {
      const fb::DataSegment* segment = root_->segments()->Get(i);
      PTERON_ASSIGN(const Bytes bytes,
                    segment_bytes(file_, container_, segment->offset(), segment->size(),
                                  "segment " + std::to_string(i)));
      segments_.push_back(bytes);
    }
    return {};
  }

  Result<Bytes> segment(uint64_t index, const std::string& what) const {
    if (index >= segments_.size()) {
      return error(what + " is in segment " + std::to_string(index) + ", but the file has " +
                   std::to_string(segments_.size()));
    }
    return segments_[index];
  }

  Result<void> decode_named_data(Program& program) {
    const size_t count = length(root_->named_data());
    std::set<std::string_view> keys;
    for (uint32_t i = 0; i < count; ++i) {
      const fb::NamedData* entry = root_->named_data()->Get(i);
      const std::string_view key = view(entry->key());
      if (!budget_.take(16 + key.size())) return over_budget();
      if (key.empty()) return error("named data " + std::to_string(i) + " has no key");
      PTERON_TRY(check_name(key, "the key of named data " + std::to_string(i)));
      if (!keys.insert(key).second)
        return error("named data has the key " + quoted(key) + " twice");
      PTERON_ASSIGN(const Bytes data, segment(entry->segment_index(), "named data " + quoted(key)));
      program.named_data.push_back({std::string(key), data});
    }
    return {};
  }

  Result<Plan> decode_plan(const fb::ExecutionPlan& in) {
    Plan plan;
    plan.name = std::string(view(in.name()));
    if (in.container_meta_type() != nullptr) {
      plan.input_encoding = std::string(view(in.container_meta_type()->encoded_inp_str()));
      plan.output_encoding = std::string(view(in.container_meta_type()->encoded_out_str()));
    }
    if (!budget_.take(64 + plan.name.size() + plan.input_encoding.size() +
                      plan.output_encoding.size())) {
      return over_budget();
    }
    PTERON_TRY(check_text(plan.input_encoding, "its encoding of the inputs"));
    PTERON_TRY(check_text(plan.output_encoding, "its encoding of the outputs"));
    PTERON_TRY(decode_buffers(in, plan));
    const std::string method = where_;
    const size_t value_count = length(in.values());
    if (!budget_.take(16 * static_cast<uint64_t>(value_count))) return over_budget();
    plan.values.reserve(value_count);
    for (uint32_t i = 0; i < value_count; ++i) {
      where_ = method + ": value " + std::to_string(i);
      PTERON_ASSIGN(ValueDef value, decode_value(*in.values()->Get(i), plan, value_count));
      plan.values.push_back(std::move(value));
    }
    where_ = method;
    PTERON_TRY(check_lists(plan));
    PTERON_TRY(copy_indices(in.inputs(), value_count, "inputs", plan.inputs));
    PTERON_TRY(copy_indices(in.outputs(), value_count, "outputs", plan.outputs));
    PTERON_TRY(decode_operators(in, plan));
    PTERON_TRY(decode_delegates(in, plan));
    for (uint32_t c = 0; c < length(in.chains()); ++c) {
      PTERON_ASSIGN(Chain chain, decode_chain(*in.chains()->Get(c), plan, c));
      plan.chains.push_back(std::move(chain));
    }
    return plan;
  }

  Result<void> decode_buffers(const fb::ExecutionPlan& in, Plan& plan) {
    const size_t count = length(in.non_const_buffer_sizes());
    if (!budget_.take(8 * static_cast<uint64_t>(count))) return over_budget();
    uint64_t total = 0;
    for (uint32_t i = 1; i < count; ++i) {  // Entry 0 is reserved.
      const int64_t size = element(*in.non_const_buffer_sizes(), i);
      if (size < 0) return error("planned buffer " + std::to_string(i) + " has a negative size");
      if (!checked_add(total, static_cast<uint64_t>(size), total) ||
          total > limits_.planned_memory) {
        return Error{Code::ResourceLimit,
                     file_.origin + ": " + where_ + ": it plans more memory than the limit of " +
                         counted(limits_.planned_memory, "byte") + " (buffer " + std::to_string(i) +
                         " has " + std::to_string(size) +
                         "); raise memory_limit if the file is trusted"};
      }
      plan.buffers.push_back(static_cast<uint64_t>(size));
    }
    return {};
  }

  Result<ValueDef> decode_value(const fb::EValue& in, const Plan& plan, size_t value_count) {
    using T = fb::KernelTypes;
    const T type = in.val_type();
    if (type == T::Null) return ValueDef(NoneDef{});
    if (in.val() == nullptr) return error("it has no contents");
    switch (type) {
      case T::Int:
        return ValueDef(in.val_as_Int()->int_val());
      case T::Bool:
        return ValueDef(in.val_as_Bool()->bool_val());
      case T::Double:
        return ValueDef(in.val_as_Double()->double_val());
      case T::Tensor: {
        PTERON_ASSIGN(TensorDef tensor, decode_tensor(*in.val_as_Tensor(), plan));
        return ValueDef(std::move(tensor));
      }
      case T::String: {
        const flatbuffers::String* text = in.val_as_String()->string_val();
        if (text == nullptr) return error("a string has no text");
        if (!budget_.take(text->size())) return over_budget();
        PTERON_TRY(check_text(view(text), "its text"));
        return ValueDef(std::string(view(text)));
      }
      case T::IntList: {
        IntList list;
        PTERON_TRY(
            copy_indices(in.val_as_IntList()->items(), value_count, "its items", list.items));
        return ValueDef(std::move(list));
      }
      case T::TensorList: {
        TensorList list;
        PTERON_TRY(
            copy_indices(in.val_as_TensorList()->items(), value_count, "its items", list.items));
        return ValueDef(std::move(list));
      }
      case T::OptionalTensorList: {
        OptionalTensorList list;
        const auto* items = in.val_as_OptionalTensorList()->items();
        if (!budget_.take(length(items))) return over_budget();
        for (uint32_t i = 0; i < length(items); ++i) {
          const int32_t item = items->Get(i);
          if (item < -1 || (item >= 0 && static_cast<size_t>(item) >= value_count)) {
            return error("item " + std::to_string(i) + " is value " + std::to_string(item) +
                         ", but the plan has " + counted(value_count, "value"));
          }
          list.items.push_back(item);
        }
        return ValueDef(std::move(list));
      }
      case T::DoubleList: {
        const auto* items = in.val_as_DoubleList()->items();
        if (!budget_.take(length(items))) return over_budget();
        DoubleList list;
        for (uint32_t i = 0; i < length(items); ++i) list.items.push_back(element(*items, i));
        return ValueDef(std::move(list));
      }
      case T::BoolList: {
        const auto* items = in.val_as_BoolList()->items();
        if (!budget_.take(length(items))) return over_budget();
        BoolList list;
        for (uint32_t i = 0; i < length(items); ++i) list.items.push_back(items->Get(i) != 0);
        return ValueDef(std::move(list));
      }
      default:
        return error("its type tag is " + std::to_string(static_cast<int>(type)) +
                     "; 1 to 11 are known");
    }
  }

  Result<TensorDef> decode_tensor(const fb::Tensor& in, const Plan& plan) {
    TensorDef tensor;
    const auto dtype = dtype_from_number(static_cast<int64_t>(in.scalar_type()));
    if (!dtype)
      return error("dtype number " + std::to_string(static_cast<int>(in.scalar_type())) +
                   " is unknown");
    tensor.dtype = *dtype;
    if (in.storage_offset() != 0) {
      return error("a storage offset of " + std::to_string(in.storage_offset()) +
                   "; only 0 is defined");
    }
    const auto sizes = span_of(in.sizes());
    const auto dim_order = span_of(in.dim_order());
    const std::string wrong_shape = why_no_shape(tensor.dtype, sizes, dim_order);
    if (!wrong_shape.empty()) return error(wrong_shape);
    if (!budget_.take(2 * sizes.size())) return over_budget();
    tensor.sizes.assign(sizes.begin(), sizes.end());
    tensor.dim_order.assign(dim_order.begin(), dim_order.end());
    switch (in.shape_dynamism()) {
      case fb::TensorShapeDynamism::STATIC:
        tensor.dynamism = Dynamism::Static;
        break;
      case fb::TensorShapeDynamism::DYNAMIC_BOUND:
        tensor.dynamism = Dynamism::Bounded;
        break;
      case fb::TensorShapeDynamism::DYNAMIC_UNBOUND:
        return Error{Code::Unsupported,
                     file_.origin + ": " + where_ +
                         ": its shape has no upper bound; export it with bounded dimensions "
                         "(Dim(..., max=...))"};
      default:
        return error("its shape dynamism is " +
                     std::to_string(static_cast<int>(in.shape_dynamism())) + "; 0 to 2 are known");
    }
    if (const fb::ExtraTensorInfo* extra = in.extra_tensor_info()) {
      const std::string_view name = view(extra->fully_qualified_name());
      if (!budget_.take(name.size())) return over_budget();
      PTERON_TRY(check_name(name, "its name"));
      tensor.name = std::string(name);
      if (extra->location() != fb::TensorDataLocation::SEGMENT &&
          extra->location() != fb::TensorDataLocation::EXTERNAL) {
        return error("its data location is " + std::to_string(static_cast<int>(extra->location())) +
                     "; 0 and 1 are known");
      }
      tensor.external = extra->location() == fb::TensorDataLocation::EXTERNAL;
      if (tensor.external && tensor.name.empty())
        return error("external data without a name to find it by");
    }
    if (const fb::AllocationDetails* allocation = in.allocation_info()) {
      const uint64_t offset = (static_cast<uint64_t>(allocation->memory_offset_high()) << 32) |
                              allocation->memory_offset_low();
      const uint32_t id = allocation->memory_id();
      if (id == 0 || id > plan.buffers.size()) {
        return error("memory id " + std::to_string(id) + ", but the plan has buffers 1 to " +
                     std::to_string(plan.buffers.size()));
      }
      if (!fits(offset, tensor.nbytes(), plan.buffers[id - 1])) {
        return error(counted(tensor.nbytes(), "byte") + " at offset " + std::to_string(offset) +
                     " do not fit planned buffer " + std::to_string(id) + " of " +
                     counted(plan.buffers[id - 1], "byte"));
      }
      if (offset % dtype_size(tensor.dtype) != 0) {
        return error("offset " + std::to_string(offset) + " is not aligned to its dtype");
      }
      tensor.allocation = Allocation{id, offset};
    }
    if (in.data_buffer_idx() > 0 && !tensor.external) {
      PTERON_ASSIGN(const Bytes data, tensor_data(in.data_buffer_idx(), tensor));
      tensor.data = data;
    }
    return tensor;
  }

  // The bytes behind data_buffer_idx: a constant, or the initial bytes of a planned tensor.
  Result<Bytes> tensor_data(uint32_t index, const TensorDef& tensor) {
    const size_t size = tensor.nbytes();
    // ExecuTorch's runtime reads the first mutable segment whatever mutable_data_segments_idx says.
    const fb::SubsegmentOffsets* offsets = !tensor.allocation ? root_->constant_segment()
                                           : length(root_->mutable_data_segments()) > 0
                                               ? root_->mutable_data_segments()->Get(0)
                                               : nullptr;
    // Offset 0 is reserved, so a list of one has no data, and inline constants may stand beside it.
    if (offsets != nullptr && length(offsets->offsets()) > 1) {
      if (index >= offsets->offsets()->size()) {
        return error("data " + std::to_string(index) + ", but the file has " +
                     std::to_string(offsets->offsets()->size()));
      }
      PTERON_ASSIGN(const Bytes bytes, segment(offsets->segment_index(), "its data"));
      const uint64_t offset = element(*offsets->offsets(), index);
      if (!fits(offset, size, bytes.size())) {
        return error("its " + counted(size, "byte") + " of data at offset " +
                     std::to_string(offset) + " lie outside their segment of " +
                     std::to_string(bytes.size()));
      }
      return aligned(bytes.subspan(offset, size), tensor);
    }
    if (tensor.allocation) return error("initial data, but the file has no segment for it");
    // Before segments, constants were stored inline.
    if (index >= length(root_->constant_buffer())) {
      return error("data " + std::to_string(index) + ", but the file has " +
                   std::to_string(length(root_->constant_buffer())));
    }
    const Bytes bytes = bytes_of(root_->constant_buffer()->Get(index)->storage());
    if (bytes.size() < size) {
      return error("it needs " + counted(size, "byte") + " of data, and the file has " +
                   std::to_string(bytes.size()));
    }
    return aligned(bytes.first(size), tensor);
  }

  Result<Bytes> aligned(Bytes bytes, const TensorDef& tensor) const {
    // Where initial data is only copied, its place does not matter.
    if (!tensor.allocation && !bytes.empty() &&
        reinterpret_cast<uintptr_t>(bytes.data()) % dtype_size(tensor.dtype) != 0) {
      return error("its data is not aligned to its dtype");
    }
    return bytes;
  }

  // Lists name values that may come after them, so they are checked when all values are known.
  Result<void> check_lists(const Plan& plan) const {
    for (size_t i = 0; i < plan.values.size(); ++i) {
      const auto wrong = [&](size_t item, const char* wanted) {
        return error("value " + std::to_string(i) + ": item " + std::to_string(item) + " is not " +
                     wanted);
      };
      if (const auto* ints = std::get_if<IntList>(&plan.values[i])) {
        for (const ValueIndex item : ints->items) {
          if (!std::holds_alternative<int64_t>(plan.values[item])) return wrong(item, "an int");
        }
      } else if (const auto* tensors = std::get_if<TensorList>(&plan.values[i])) {
        for (const ValueIndex item : tensors->items) {
          if (!std::holds_alternative<TensorDef>(plan.values[item])) return wrong(item, "a tensor");
        }
      } else if (const auto* optional = std::get_if<OptionalTensorList>(&plan.values[i])) {
        for (const int32_t item : optional->items) {
          if (item < 0) continue;
          const ValueDef& value = plan.values[static_cast<size_t>(item)];
          if (!std::holds_alternative<TensorDef>(value) &&
              !std::holds_alternative<NoneDef>(value)) {
            return wrong(static_cast<size_t>(item), "a tensor or none");
          }
        }
      }
    }
    return {};
  }

  template <typename Vector>
  Result<void> copy_indices(const Vector* in, size_t value_count, const char* what,
                            std::vector<ValueIndex>& out) {
    const size_t count = length(in);
    if (!budget_.take(count)) return over_budget();
    out.reserve(count);
    for (uint32_t i = 0; i < count; ++i) {
      const auto index = element(*in, i);
      if (index < 0 || static_cast<uint64_t>(index) >= value_count) {
        return error(std::string(what) + " name value " + std::to_string(index) +
                     ", but the plan has " + counted(value_count, "value"));
      }
      out.push_back(static_cast<ValueIndex>(index));
    }
    return {};
  }

  Result<void> decode_operators(const fb::ExecutionPlan& in, Plan& plan) {
    for (uint32_t i = 0; i < length(in.operators()); ++i) {
      const fb::Operator* op = in.operators()->Get(i);
      const std::string_view name = view(op->name());
      const std::string_view overload = view(op->overload());
      if (!budget_.take(16 + name.size() + overload.size())) return over_budget();
      if (name.empty()) return error("operator " + std::to_string(i) + " has no name");
      std::string full(name);
      if (!overload.empty()) full.append(".").append(overload);
      PTERON_TRY(check_name(full, "the name of operator " + std::to_string(i)));
      plan.operators.push_back(std::move(full));
    }
    return {};
  }

  Result<void> decode_delegates(const fb::ExecutionPlan& in, Plan& plan) {
    for (uint32_t i = 0; i < length(in.delegates()); ++i) {
      const fb::BackendDelegate* delegate = in.delegates()->Get(i);
      const std::string what = "delegate " + std::to_string(i);
      DelegateDef def;
      const std::string_view id = view(delegate->id());
      if (!budget_.take(32 + id.size())) return over_budget();
      if (id.empty()) return error(what + " has no backend id");
      PTERON_TRY(check_name(id, what + "'s backend id"));
      def.id = std::string(id);
      const fb::BackendDelegateDataReference* processed = delegate->processed();
      if (processed == nullptr) return error(what + " has no payload");
      if (processed->location() == fb::DataLocation::SEGMENT) {
        PTERON_ASSIGN(def.payload, segment(processed->index(), what + "'s payload"));
      } else if (processed->location() == fb::DataLocation::INLINE) {
        def.payload_in_segment = false;
        if (processed->index() >= length(root_->backend_delegate_data())) {
          return error(what + "'s payload is inline data " + std::to_string(processed->index()) +
                       ", but the file has " +
                       std::to_string(length(root_->backend_delegate_data())));
        }
        def.payload = bytes_of(root_->backend_delegate_data()->Get(processed->index())->data());
      } else {
        return error(what + "'s payload location is " +
                     std::to_string(static_cast<int>(processed->location())) +
                     "; 0 and 1 are known");
      }
      for (uint32_t s = 0; s < length(delegate->compile_specs()); ++s) {
        const fb::CompileSpec* spec = delegate->compile_specs()->Get(s);
        const std::string_view key = view(spec->key());
        if (!budget_.take(16 + key.size())) return over_budget();
        PTERON_TRY(check_name(key, what + "'s compile spec " + std::to_string(s) + ": its key"));
        def.specs.push_back({std::string(key), bytes_of(spec->value())});
      }
      plan.delegates.push_back(std::move(def));
    }
    return {};
  }

  Result<Chain> decode_chain(const fb::Chain& in, const Plan& plan, uint32_t number) {
    Chain chain;
    const std::string method = where_;
    const size_t count = length(in.instructions());
    if (!budget_.take(8 * static_cast<uint64_t>(count))) return over_budget();
    chain.instructions.reserve(count);
    for (uint32_t i = 0; i < count; ++i) {
      where_ = method + (number > 0 ? ": chain " + std::to_string(number) : "") + ": instruction " +
               std::to_string(i);
      PTERON_ASSIGN(Instruction instruction,
                    decode_instruction(*in.instructions()->Get(i), plan, count));
      chain.instructions.push_back(std::move(instruction));
    }
    where_ = method;
    return chain;
  }

  Result<Instruction> decode_instruction(const fb::Instruction& in, const Plan& plan,
                                         size_t count) {
    using T = fb::InstructionArguments;
    if (in.instr_args() == nullptr) return error("it has no arguments");
    const size_t values = plan.values.size();
    switch (in.instr_args_type()) {
      case T::KernelCall: {
        const fb::KernelCall* call = in.instr_args_as_KernelCall();
        KernelCall out;
        PTERON_ASSIGN(out.op, index(call->op_index(), plan.operators.size(), "operator"));
        PTERON_TRY(copy_indices(call->args(), values, "its arguments", out.args));
        return Instruction(std::move(out));
      }
      case T::DelegateCall: {
        const fb::DelegateCall* call = in.instr_args_as_DelegateCall();
        DelegateCall out;
        PTERON_ASSIGN(out.delegate,
                      index(call->delegate_index(), plan.delegates.size(), "delegate"));
        PTERON_TRY(copy_indices(call->args(), values, "its arguments", out.args));
        return Instruction(std::move(out));
      }
      case T::MoveCall: {
        const fb::MoveCall* call = in.instr_args_as_MoveCall();
        MoveCall out{};
        PTERON_ASSIGN(out.from, index(call->move_from(), values, "value"));
        PTERON_ASSIGN(out.to, index(call->move_to(), values, "value"));
        if (plan.values[out.from].index() != plan.values[out.to].index()) {
          return error("it moves value " + std::to_string(out.from) + " to value " +
                       std::to_string(out.to) + ", which is of another kind");
        }
        return Instruction(out);
      }
      case T::JumpFalseCall: {
        const fb::JumpFalseCall* call = in.instr_args_as_JumpFalseCall();
        JumpFalseCall out{};
        PTERON_ASSIGN(out.condition, index(call->cond_value_index(), values, "value"));
        PTERON_ASSIGN(out.destination,
                      index(call->destination_instruction(), count + 1, "instruction"));
        const auto* tensor = std::get_if<TensorDef>(&plan.values[out.condition]);
        if (!std::holds_alternative<bool>(plan.values[out.condition]) &&
            !(tensor != nullptr && tensor->dtype == DType::Bool)) {
          return error("it jumps on value " + std::to_string(out.condition) +
                       ", which is not a bool");
        }
        return Instruction(out);
      }
      case T::FreeCall: {
        FreeCall out{};
        PTERON_ASSIGN(out.value,
                      index(in.instr_args_as_FreeCall()->value_index(), values, "value"));
        if (!std::holds_alternative<TensorDef>(plan.values[out.value])) {
          return error("it frees value " + std::to_string(out.value) + ", which is not a tensor");
        }
        return Instruction(out);
      }
      default:
        return error("its type tag is " + std::to_string(static_cast<int>(in.instr_args_type())) +
                     "; 1 to 5 are known");
    }
  }

  Result<uint32_t> index(int64_t number, size_t count, const char* what) const {
    if (number < 0 || static_cast<uint64_t>(number) >= count) {
      return error("it refers to " + std::string(what) + " " + std::to_string(number) +
                   ", but there are " + std::to_string(count));
    }
    return static_cast<uint32_t>(number);
  }

  FileBytes file_;
  Container container_;
  DecodeLimits limits_;
  Budget budget_;
  const fb::Program* root_ = nullptr;
  std::vector<Bytes> segments_;
  std::string where_;
};

}  // namespace

Result<Program> decode_program(FileBytes file, const DecodeLimits& limits) {
  PTERON_ASSIGN(const Container container, read_program_container(file));
  return Decoder(std::move(file), container, limits).decode();
}

}  // namespace pteron
