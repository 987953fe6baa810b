#include "lowering/memory.h"

#include <iterator>

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

std::map<Memory::Place, Memory::Names>::const_iterator Memory::first_at(
    const Stretch& stretch) const {
  auto at = held_.lower_bound({stretch.memory, stretch.begin});
  if (at != held_.begin()) {
    const auto before = std::prev(at);
    if (before->second.front().stretch.overlaps(stretch)) at = before;
  }
  return at;
}

void Memory::define(const Held& held) {
  auto at = first_at(held.stretch);
  while (at != held_.end() && at->second.front().stretch.overlaps(held.stretch))
    at = held_.erase(at);
  held_[{held.stretch.memory, held.stretch.begin}] = {held};
}

void Memory::add(const Held& held) {
  held_[{held.stretch.memory, held.stretch.begin}].push_back(held);
}

const Memory::Held* Memory::find(const Stretch& stretch, ValueIndex value, bool& clear) const {
  clear = true;
  const auto at = first_at(stretch);
  if (at == held_.end() || !at->second.front().stretch.overlaps(stretch)) return nullptr;
  if (at->second.front().stretch != stretch) {
    clear = false;
    return nullptr;
  }
  for (const Held& held : at->second) {
    if (held.value == value) return &held;
  }
  return &at->second.front();
}

}  // namespace pteron
