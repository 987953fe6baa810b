// A .pte program as plain structs.
//
// decode() makes one from a file's bytes and proves every index, offset, size and tag in it, so
// that whoever holds a Program may trust them: every value index is below `values.size()`, every
// operator and delegate index exists, every jump lands inside its chain (or just past its end),
// every payload and constant lies inside the file. encode() writes one back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/dtype.h"

namespace pteron {

constexpr int kMaxRank = 16;

// The most bytes of a name: of a method, operator, backend, key or tensor. decode() has also proved
// that names are UTF-8 without control characters, and that other texts are UTF-8.
constexpr size_t kMaxName = 4096;

// Bytes of a payload; they live in Program::storage (a mapped file, or a copy).
using Bytes = std::span<const std::byte>;

// Index into Plan::values.
using ValueIndex = uint32_t;

enum class Dynamism : uint8_t {
  Static = 0,   // The sizes never change.
  Bounded = 1,  // The sizes are upper bounds (ExecuTorch: DYNAMIC_BOUND).
};

// Where a planned tensor lies: `offset` bytes into planned buffer `memory_id` (1-based, as in the
// file).
struct Allocation {
  uint32_t memory_id = 0;
  uint64_t offset = 0;
};

struct TensorDef {
  DType dtype = DType::Float32;
  Dynamism dynamism = Dynamism::Static;
  std::vector<int32_t> sizes;  // Each >= 0; the bounds where dynamism is Bounded. At most kMaxRank.
  std::vector<uint8_t> dim_order;  // A permutation of 0..rank-1, outermost dimension first.
  std::optional<Allocation> allocation;
  // The tensor's constant bytes, or the initial bytes of a planned tensor that has `allocation`.
  // Exactly nbytes() long. Empty and unset differ: an empty tensor may have a constant of no bytes.
  std::optional<Bytes> data;
  bool external = false;  // The data is in a .ptd file under the key `name`.
  std::string name;       // Fully qualified name in the model; empty if the file gives none.

  size_t nbytes() const;  // At `sizes`; decode has proved that it fits size_t.
};

struct NoneDef {};
struct IntList {
  std::vector<ValueIndex> items;  // Each names an Int value, read anew at each access.
};
struct DoubleList {
  std::vector<double> items;
};
struct BoolList {
  std::vector<uint8_t> items;  // 0 or 1
};
struct TensorList {
  std::vector<ValueIndex> items;  // Each names a Tensor value.
};
struct OptionalTensorList {
  std::vector<int32_t> items;  // Each names a Tensor value, or a None value, or is -1 for none.
};

using ValueDef = std::variant<NoneDef, int64_t, bool, double, TensorDef, std::string, IntList,
                              DoubleList, BoolList, TensorList, OptionalTensorList>;

struct KernelCall {
  uint32_t op;  // Index into Plan::operators.
  std::vector<ValueIndex> args;
};
struct DelegateCall {
  uint32_t delegate;  // Index into Plan::delegates.
  std::vector<ValueIndex> args;
};
struct MoveCall {
  ValueIndex from;
  ValueIndex to;  // Of the same kind as `from`.
};
struct JumpFalseCall {
  ValueIndex condition;  // A Bool value, or a Tensor of dtype Bool.
  uint32_t destination;  // Index into the chain's instructions, at most their number.
};
struct FreeCall {
  ValueIndex value;  // A Tensor value.
};
using Instruction = std::variant<KernelCall, DelegateCall, MoveCall, JumpFalseCall, FreeCall>;

struct Chain {
  std::vector<Instruction> instructions;
};

struct CompileSpec {
  std::string key;
  Bytes value;
};

// What a delegate's compiler left in the file. Where `payload_in_segment` is false it was stored
// inline.
struct DelegateDef {
  std::string id;  // Backend id, such as "OpenvinoBackend".
  Bytes payload;
  bool payload_in_segment = true;
  std::vector<CompileSpec> specs;
};

// One method.
struct Plan {
  std::string name;
  std::vector<ValueDef> values;
  std::vector<ValueIndex> inputs;
  std::vector<ValueIndex> outputs;
  std::vector<std::string> operators;  // "aten::add.out", "aten::copy_"
  std::vector<Chain> chains;           // Run in order; in practice there is one.
  std::vector<DelegateDef> delegates;
  // Bytes of each planned buffer; buffer k serves memory_id k + 1. The file's reserved first entry
  // is left out. Every allocation of `values` lies inside its buffer.
  std::vector<uint64_t> buffers;
  std::string input_encoding;  // PyTorch's pytree spec, as text; may be empty.
  std::string output_encoding;
};

struct NamedData {
  std::string key;
  Bytes data;
};

struct Program {
  uint32_t version = 0;
  std::vector<Plan> plans;  // At least one; names are unique.
  std::vector<NamedData> named_data;
  std::shared_ptr<const void> storage;  // Keeps every Bytes above alive.
  Bytes file;                           // The whole file, for those who refer to it by offset.
};

// A .ptd file: tensors and other data by key.
struct WeightsEntry {
  std::string key;
  Bytes data;
  // The layout, where the file states one.
  struct Layout {
    DType dtype;
    std::vector<int32_t> sizes;
    std::vector<uint8_t> dim_order;
  };
  std::optional<Layout> layout;
};
struct Weights {
  std::vector<WeightsEntry> entries;  // Keys are unique.
  std::shared_ptr<const void> storage;
  Bytes file;
  std::string origin;  // The path or another name for messages.
};

}  // namespace pteron
