// The ways in which a small file is made wrong throughout: every truncation, and every byte set to
// 0, to 255, and with its lowest and its highest bit flipped.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace pteron::test {

// Calls try_bytes(std::span<const std::byte>) for each wrong file made from `right`.
template <typename Try>
void for_each_mutation(std::span<const std::byte> right, Try try_bytes) {
  for (size_t length = 0; length < right.size(); ++length) try_bytes(right.first(length));
  std::vector<std::byte> bytes(right.begin(), right.end());
  for (size_t i = 0; i < bytes.size(); ++i) {
    const std::byte original = bytes[i];
    for (const std::byte value :
         {std::byte{0}, std::byte{255}, original ^ std::byte{1}, original ^ std::byte{128}}) {
      bytes[i] = value;
      try_bytes(std::span<const std::byte>(bytes));
    }
    bytes[i] = original;
  }
}

// Ten small golden programs, of each kind, and the golden weights files.
constexpr const char* kMutatedFiles[] = {
    "portable/extra__map/model.pte",
    "portable/extra__cond/model.pte",
    "portable/extra__mlp/model.pte",
    "portable/models__ModuleAdd/model.pte",
    "portable/models__ModuleSharedState/model.pte",
    "portable/models__ModuleLinear_ptd/model.pte",
    "portable/models__ModuleAddMul_ptd/model.pte",
    "portable/split__split_dtype/model.pte",
    "portable/extra__where/model.pte",
    "openvino/abs__abs_shapes/model.pte",
    "portable/models__ModuleLinear_ptd/_default_external_constant.ptd",
    "portable/models__ModuleAddMul_ptd/_default_external_constant.ptd",
};

}  // namespace pteron::test
