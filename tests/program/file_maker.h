// .pte and .ptd files made in memory, right or wrong, by other code than src/program/encode.cpp:
// what encode and decode agree on but the format does not say would show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "program/decode.h"
#include "test_flat_tensor_generated.h"
#include "test_program_generated.h"

namespace pteron::test {

namespace pte = pteron::test_fb;
namespace ptd = pteron::test_fb_tensor;

using ByteVector = std::vector<std::byte>;

// A program file's contents, to be changed before bytes() is called.
struct PteFile {
  pte::ProgramT program;
  ByteVector segment_data;  // What lies from the segment base to the end of the file.
  // 0: no extended header and no segments. ExecuTorch writes 24 (old) or 32.
  uint32_t header_length = 32;
  // Changes the finished file.
  std::function<void(ByteVector&)> patch;

  pte::ExecutionPlanT& plan() { return *program.execution_plan[0]; }
  pte::EValueT& value(size_t index) { return *plan().values[index]; }
  pte::TensorT& tensor(size_t index) { return *value(index).val.AsTensor(); }
  pte::InstructionArgumentsUnion& instruction(size_t index) {
    return plan().chains[0]->instructions[index]->instr_args;
  }
  ByteVector bytes() const;
};

// The values of simple(), by what they are.
namespace simple_value {
enum : uint32_t {
  Input,      // float32 [2, 3], planned in buffer 1 at 0
  Constant,   // float32 [2, 3], data 1
  State,      // float32 [4], planned in buffer 1 at 48, with initial data 1
  Output,     // float32 [2, 3], bounded, planned in buffer 1 at 64
  Condition,  // bool
  Number,     // int 7
  Real,       // double 0.5
  Text,       // "floor"
  None,
  Ints,             // [Number, Number]
  Reals,            // [1.5]
  Flags,            // [true, false]
  Tensors,          // [Input, Constant]
  Optionals,        // [Input, -1, None]
  External,         // float32 [2], in a .ptd file as "w"
  Unplanned,        // float32 [2, 3]
  ConditionTensor,  // bool [1], planned in buffer 2 at 0
  Count
};
}

// The instructions of simple(), by what they are.
namespace simple_instruction {
enum : uint32_t { Kernel, Jump, Delegate, Move, Free, Count };
}

// A small right program that has one of everything: method "forward", operators aten::add.out and
// aten::copy_, delegates "A" (payload in a segment, with a compile spec) and "B" (inline), a
// constant segment, a mutable segment, named data "blob".
PteFile simple();

// Rounds the segments up and appends `data`; the number of the new segment.
uint32_t add_segment(PteFile& file, const ByteVector& data);

std::unique_ptr<pte::EValueT> tensor_value(std::vector<int32_t> sizes,
                                           pte::ScalarType dtype = pte::ScalarType::Float);

struct PtdFile {
  ptd::FlatTensorT tensors;
  ByteVector segment_data;
  std::function<void(ByteVector&)> patch;
  ByteVector bytes() const;
};

// Entries "w" (float32 [2]) and "raw" (no layout), in the segments 0 and 1.
PtdFile simple_weights();

ByteVector to_bytes(const std::string& text);

// Decodes exactly these bytes, so that a sanitizer sees one byte too many.
Result<Program> decode(const ByteVector& bytes, const DecodeLimits& limits = {});
Result<Weights> decode_ptd(const ByteVector& bytes);

// What decoding answers: "" for success, else the message.
std::string refusal(const PteFile& file);
std::string refusal(const PtdFile& file);

template <typename T>
void put(ByteVector& file, size_t at, T number) {
  for (size_t i = 0; i < sizeof(T); ++i)
    file.at(at + i) = static_cast<std::byte>((static_cast<uint64_t>(number) >> (8 * i)) & 0xff);
}

}  // namespace pteron::test
