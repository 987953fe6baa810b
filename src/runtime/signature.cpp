#include "runtime/signature.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"

namespace pteron {
namespace {

bool is_scalar(ValueKind kind) {
  return kind == ValueKind::Int || kind == ValueKind::Double || kind == ValueKind::Bool;
}

const char* letter_name(char letter) {
  switch (letter) {
    case 'T':
    case 'M':
    case 'A':
      return "a tensor";
    case 't':
      return "a tensor or none";
    case 'V':
      return "a list of tensors";
    case 'v':
      return "a list of optional tensors";
    case 'S':
    case 'X':
      return "a scalar";
    case 's':
      return "a scalar or none";
    case 'I':
      return "an int";
    case 'i':
      return "an int or none";
    case 'D':
      return "a double";
    case 'd':
      return "a double or none";
    case 'B':
      return "a bool";
    case 'b':
      return "a bool or none";
    case 'L':
      return "a list of ints";
    case 'l':
      return "a list of ints or none";
    case 'F':
      return "a list of doubles";
    case 'f':
      return "a list of doubles or none";
    case 'Q':
      return "a list of bools";
    case 'G':
      return "a string";
    case 'g':
      return "a string or none";
    default:
      return "nothing";
  }
}

// What a list of tensors names; nothing for another value.
std::span<const ValueIndex> items_of(const Value& value) {
  return value.kind == ValueKind::TensorList ? std::span<const ValueIndex>(value.tensors->items)
                                             : std::span<const ValueIndex>();
}

// Whether a return slot names the output again, or a list of the same tensors.
bool repeats(ValueIndex slot, ValueIndex output, const Value* values) {
  if (slot == output) return true;
  return values[slot].kind == ValueKind::TensorList &&
         values[output].kind == ValueKind::TensorList &&
         std::ranges::equal(items_of(values[slot]), items_of(values[output]));
}

}  // namespace

bool letter_accepts(char letter, ValueKind kind) {
  switch (letter) {
    case 'T':
    case 'M':
    case 'A':
      return kind == ValueKind::Tensor;
    case 't':
      return kind == ValueKind::Tensor || kind == ValueKind::None;
    case 'V':
      return kind == ValueKind::TensorList;
    case 'v':
      return kind == ValueKind::OptionalTensorList || kind == ValueKind::TensorList;
    case 'S':
    case 'X':
      return is_scalar(kind);
    case 's':
      return is_scalar(kind) || kind == ValueKind::None;
    case 'I':
      return kind == ValueKind::Int;
    case 'i':
      return kind == ValueKind::Int || kind == ValueKind::None;
    case 'D':
      return kind == ValueKind::Double || kind == ValueKind::Int;
    case 'd':
      return kind == ValueKind::Double || kind == ValueKind::Int || kind == ValueKind::None;
    case 'B':
      return kind == ValueKind::Bool;
    case 'b':
      return kind == ValueKind::Bool || kind == ValueKind::None;
    case 'L':
      return kind == ValueKind::IntList;
    case 'l':
      return kind == ValueKind::IntList || kind == ValueKind::None;
    case 'F':
      return kind == ValueKind::DoubleList;
    case 'f':
      return kind == ValueKind::DoubleList || kind == ValueKind::None;
    case 'Q':
      return kind == ValueKind::BoolList;
    case 'G':
      return kind == ValueKind::String;
    case 'g':
      return kind == ValueKind::String || kind == ValueKind::None;
    default:
      return false;
  }
}

bool is_valid_signature(std::string_view text) {
  constexpr std::string_view kLetters = "TMAtVvSXsIiDdBbLlFfQGg";
  const size_t outputs = std::min(text.find('>'), text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == outputs) continue;
    if (kLetters.find(text[i]) == std::string_view::npos) return false;
    if (text[i] == 'A' && (i < outputs || text[0] != 'T')) return false;
  }
  return true;
}

Result<std::span<const ValueIndex>> match_signature(const Kernel& kernel,
                                                    std::span<const ValueIndex> args,
                                                    const Value* values) {
  const Signature signature(kernel.signature);
  const size_t count = signature.size();
  // One slot for each output, or one for all of them as a list; an in-place operator returns its
  // input.
  const size_t slots = std::max<size_t>(count - signature.inputs, 1);
  if (args.size() < count || args.size() > count + slots) {
    return Error{Code::Malformed, "the operator takes " + counted(count, "argument") +
                                      ", but the program gives " + std::to_string(args.size())};
  }
  for (size_t i = 0; i < count; ++i) {
    const ValueKind kind = values[args[i]].kind;
    if (!letter_accepts(signature.letter(i), kind)) {
      return Error{Code::Malformed, "argument " + std::to_string(i) + " is a value of kind " +
                                        value_kind_name(kind) + ", but the operator takes " +
                                        letter_name(signature.letter(i))};
    }
  }
  const std::span<const ValueIndex> returned = args.subspan(count);
  if (returned.empty()) return args;
  std::vector<ValueIndex> outputs;
  for (size_t i = 0; i < count; ++i) {
    if (signature.writes(i)) outputs.push_back(args[i]);
  }
  const bool as_list = returned.size() == 1 && values[returned[0]].kind == ValueKind::TensorList &&
                       std::ranges::equal(items_of(values[returned[0]]), outputs);
  const bool each =
      returned.size() == outputs.size() &&
      std::equal(returned.begin(), returned.end(), outputs.begin(),
                 [&](ValueIndex slot, ValueIndex output) { return repeats(slot, output, values); });
  if (!as_list && !each) {
    return Error{Code::Malformed, "after its " + counted(count, "argument") +
                                      " the program gives value " + std::to_string(returned[0]) +
                                      ", where only the operator's outputs may be named again"};
  }
  return args.first(count);
}

}  // namespace pteron
