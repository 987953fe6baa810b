#include "lowering/memory.h"

#include <algorithm>

namespace pteron {

Stretch Places::of(ValueIndex value) const {
  const auto& def = std::get<TensorDef>(plan_.values[value]);
  const ValueIndex at = root(value);
  const auto& place = std::get<TensorDef>(plan_.values[at]);
  if (place.allocation) {
    return {place.allocation->memory_id, place.allocation->offset,
            place.allocation->offset + def.nbytes()};
  }
  // Planned buffers have numbers of 32 bits.
  return {(uint64_t{1} << 40) + at, 0, def.nbytes()};
}

void Memory::define(const Held& held) {
  std::erase_if(held_, [&](const Held& other) { return other.stretch.overlaps(held.stretch); });
  held_.push_back(held);
}

const Memory::Held* Memory::find(const Stretch& stretch, ValueIndex value, bool& clear) const {
  const Held* found = nullptr;
  clear = true;
  for (const Held& held : held_) {
    if (!held.stretch.overlaps(stretch)) continue;
    if (held.stretch != stretch) {
      clear = false;
      return nullptr;
    }
    if (found == nullptr || held.value == value) found = &held;
  }
  return found;
}

}  // namespace pteron
