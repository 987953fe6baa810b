// Calls of kernels without a program: values made from a case, in buffers as long as their tensors.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "case_file.h"
#include "kernels/tables.h"

namespace pteron {

class TestContext final : public KernelContext {
 public:
  // most: the bytes of scratch memory that there are.
  explicit TestContext(size_t most = SIZE_MAX) : most_(most) {}

  void* scratch(size_t bytes) override {
    if (bytes > most_) throw std::bad_alloc();
    most_ -= bytes;
    blocks_.push_back(std::make_unique<Block[]>(bytes / sizeof(Block) + 1));
    std::memset(blocks_.back().get(), 0x5a, bytes);
    return blocks_.back().get();
  }
  // Ranges as short as may be, last first.
  void parallel_for(size_t count, size_t grain, ParallelBody body, void* argument) override {
    grain = std::max<size_t>(grain, 1);
    for (size_t i = (count + grain - 1) / grain; i-- > 0;)
      body(argument, i * grain, std::min(count, (i + 1) * grain));
  }
  uint64_t random() override { return state_ += 0x9e3779b97f4a7c15u; }

 private:
  struct alignas(64) Block {
    char bytes[64];
  };
  size_t most_;
  std::vector<std::unique_ptr<Block[]>> blocks_;
  uint64_t state_ = 1;
};

// The values of one call, with all that they point to.
class Call {
 public:
  // must_resize: outputs are larger than the case says, and dynamic.
  explicit Call(const Case& one, bool must_resize = false) {
    for (const CaseValue& value : one.arguments) arguments_.push_back(add(value, false, false));
    for (const CaseValue& value : one.outputs) arguments_.push_back(add(value, true, must_resize));
  }

  std::span<const ValueIndex> arguments() const { return arguments_; }
  Value* values() { return values_.data(); }
  const Value& argument(size_t i) const { return values_[static_cast<size_t>(arguments_[i])]; }
  const Value& value(ValueIndex i) const { return values_[static_cast<size_t>(i)]; }

 private:
  ValueIndex append(const Value& value) {
    values_.push_back(value);
    return static_cast<ValueIndex>(values_.size() - 1);
  }

  template <typename T>
  T* keep(T object) {
    auto owned = std::make_shared<T>(std::move(object));
    T* result = owned.get();
    owned_.push_back(std::move(owned));
    return result;
  }

  Tensor* make_tensor(const CaseTensor& from, bool is_output, bool must_resize) {
    TensorDef def;
    def.dtype = from.dtype;
    def.sizes.assign(from.sizes.begin(), from.sizes.end());
    def.dim_order.assign(from.order.begin(), from.order.end());
    if (must_resize) {
      def.dynamism = Dynamism::Bounded;
      for (auto& size : def.sizes) ++size;
    }
    Tensor* tensor = keep(Tensor(def));
    const size_t bytes = is_output ? tensor->capacity() : from.data.size();
    auto buffer = std::make_shared<std::unique_ptr<std::byte[]>>(new std::byte[bytes]);
    if (is_output)
      std::memset(buffer->get(), 0xa5, bytes);
    else
      std::memcpy(buffer->get(), from.data.data(), bytes);
    tensor->set_raw(buffer->get());
    owned_.push_back(std::move(buffer));
    return tensor;
  }

  ValueIndex add(const CaseValue& from, bool is_output, bool must_resize) {
    Value value;
    switch (from.kind) {
      case 'n':
        break;
      case 'i':
        value.kind = ValueKind::Int;
        value.integer = from.integer;
        break;
      case 'd':
        value.kind = ValueKind::Double;
        value.real = from.real;
        break;
      case 'b':
        value.kind = ValueKind::Bool;
        value.boolean = from.integer != 0;
        break;
      case 'g':
        value.kind = ValueKind::String;
        value.string = keep(std::string(from.text));
        break;
      case 'L': {
        IntList list;
        for (const int64_t item : from.ints) {
          Value number;
          number.kind = ValueKind::Int;
          number.integer = item;
          list.items.push_back(append(number));
        }
        value.kind = ValueKind::IntList;
        value.ints = keep(std::move(list));
        break;
      }
      case 'F': {
        DoubleList list;
        list.items.assign(from.reals.begin(), from.reals.end());
        value.kind = ValueKind::DoubleList;
        value.reals = keep(std::move(list));
        break;
      }
      case 'Q': {
        BoolList list;
        for (const int64_t item : from.ints) list.items.push_back(item != 0);
        value.kind = ValueKind::BoolList;
        value.booleans = keep(std::move(list));
        break;
      }
      case 'V': {
        TensorList list;
        for (const CaseValue& item : from.items)
          list.items.push_back(add(item, is_output, must_resize));
        value.kind = ValueKind::TensorList;
        value.tensors = keep(std::move(list));
        break;
      }
      case 'v': {
        OptionalTensorList list;
        for (const CaseValue& item : from.items)
          list.items.push_back(item.kind == 'n' ? -1 : add(item, is_output, must_resize));
        value.kind = ValueKind::OptionalTensorList;
        value.optional_tensors = keep(std::move(list));
        break;
      }
      default:
        value.kind = ValueKind::Tensor;
        value.tensor = make_tensor(from.tensor, is_output, must_resize);
    }
    return append(value);
  }

  std::vector<Value> values_;
  std::vector<ValueIndex> arguments_;
  std::vector<std::shared_ptr<void>> owned_;
};

inline std::map<std::string, const Kernel*> kernels_by_name() {
  std::map<std::string, const Kernel*> kernels;
  for (const auto table : all_kernels()) {
    for (const Kernel& kernel : table) kernels[std::string(kernel.name)] = &kernel;
  }
  return kernels;
}

}  // namespace pteron
