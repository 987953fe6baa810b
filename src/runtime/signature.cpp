#include "runtime/signature.h"

#include <algorithm>
#include <string>

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
  return std::count(text.begin(), text.end(), '>') <= 1 &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return c == '>' || kLetters.find(c) != std::string_view::npos;
         });
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
    return Error{Code::Malformed, "the operator takes " + std::to_string(count) +
                                      " arguments, but the program gives " +
                                      std::to_string(args.size())};
  }
  for (size_t i = 0; i < count; ++i) {
    const ValueKind kind = values[args[i]].kind;
    if (!letter_accepts(signature.letter(i), kind)) {
      return Error{Code::Malformed, "argument " + std::to_string(i) + " is a value of kind " +
                                        value_kind_name(kind) + ", but the operator takes " +
                                        letter_name(signature.letter(i))};
    }
  }
  return args.first(count);
}

}  // namespace pteron
