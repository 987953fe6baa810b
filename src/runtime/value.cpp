#include "runtime/value.h"

namespace pteron {

const char* value_kind_name(ValueKind kind) {
  switch (kind) {
    case ValueKind::None:
      return "none";
    case ValueKind::Tensor:
      return "tensor";
    case ValueKind::Int:
      return "int";
    case ValueKind::Double:
      return "double";
    case ValueKind::Bool:
      return "bool";
    case ValueKind::String:
      return "string";
    case ValueKind::IntList:
      return "list of ints";
    case ValueKind::DoubleList:
      return "list of doubles";
    case ValueKind::BoolList:
      return "list of bools";
    case ValueKind::TensorList:
      return "list of tensors";
    case ValueKind::OptionalTensorList:
      return "list of optional tensors";
  }
  return "unknown";
}

ValueKind value_kind(const ValueDef& def) {
  struct Visitor {
    ValueKind operator()(const NoneDef&) { return ValueKind::None; }
    ValueKind operator()(int64_t) { return ValueKind::Int; }
    ValueKind operator()(bool) { return ValueKind::Bool; }
    ValueKind operator()(double) { return ValueKind::Double; }
    ValueKind operator()(const TensorDef&) { return ValueKind::Tensor; }
    ValueKind operator()(const std::string&) { return ValueKind::String; }
    ValueKind operator()(const IntList&) { return ValueKind::IntList; }
    ValueKind operator()(const DoubleList&) { return ValueKind::DoubleList; }
    ValueKind operator()(const BoolList&) { return ValueKind::BoolList; }
    ValueKind operator()(const TensorList&) { return ValueKind::TensorList; }
    ValueKind operator()(const OptionalTensorList&) { return ValueKind::OptionalTensorList; }
  };
  return std::visit(Visitor(), def);
}

}  // namespace pteron
