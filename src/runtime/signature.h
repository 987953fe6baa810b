// Reading an operator's signature (the letters of runtime/kernel.h) and holding a call against it.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "runtime/kernel.h"
#include "runtime/value.h"

namespace pteron {

// Whether a value of this kind may stand where the letter is.
bool letter_accepts(char letter, ValueKind kind);

// The letters without '>', and how many of them are inputs.
struct Signature {
  explicit Signature(std::string_view text)
      : inputs(text.find('>') == std::string_view::npos ? text.size() : text.find('>')),
        text_(text) {}
  size_t size() const { return text_.size() - (inputs < text_.size() ? 1 : 0); }
  char letter(size_t i) const { return text_[i < inputs ? i : i + 1]; }
  bool is_output(size_t i) const { return i >= inputs; }
  // Whether the call writes to argument i: an output, or an input changed in place (M).
  bool writes(size_t i) const { return is_output(i) || letter(i) == 'M'; }
  // Whether the call reads argument i.
  bool reads(size_t i) const { return !is_output(i); }

  size_t inputs;

 private:
  std::string_view text_;
};

// Whether every letter is one of those that runtime/kernel.h lists, and stands where it may.
bool is_valid_signature(std::string_view text);

// The arguments without the repeated outputs that ExecuTorch's emitter appends ("return slots").
// A slot names an output (or what is changed in place) again, or one slot names all of them as a
// list. Fails with Malformed if the number or a kind is not the operator's, or a slot names
// something else.
Result<std::span<const ValueIndex>> match_signature(const Kernel& kernel,
                                                    std::span<const ValueIndex> args,
                                                    const Value* values);

}  // namespace pteron
