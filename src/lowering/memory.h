// What planned memory holds while a stretch of instructions is followed: which node of the graph
// made what lies where. A definition ends those that it overlaps (single assignment).
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "program/program.h"

namespace pteron {

// Bytes [begin, end) of a planned buffer, or of a tensor that has memory of its own.
struct Stretch {
  uint64_t memory = 0;
  uint64_t begin = 0;
  uint64_t end = 0;

  bool overlaps(const Stretch& other) const {
    return memory == other.memory && begin < other.end && other.begin < end;
  }
  bool covers(const Stretch& other) const {
    return memory == other.memory && begin <= other.begin && other.end <= end;
  }
  bool operator==(const Stretch&) const = default;
};

// Where each value of a method lies. Views (et_view) lie where what they view does.
class Places {
 public:
  // views: by value, what it is a view of; itself if of nothing.
  Places(const Plan& plan, std::vector<ValueIndex> views) : plan_(plan), views_(std::move(views)) {}
  ValueIndex root(ValueIndex value) const { return views_[value]; }
  // Of a tensor.
  Stretch of(ValueIndex value) const;

 private:
  const Plan& plan_;
  std::vector<ValueIndex> views_;
};

class Memory {
 public:
  struct Held {
    Stretch stretch;
    ValueIndex value = 0;
    ir::Output output;
    bool is_made = false;  // By the instructions followed; else it was there before.
  };

  // Whatever of the stretch was held before is gone.
  void define(const Held& held);
  // The same content by another name or shape. Of a stretch that nothing holds in part.
  void add(const Held& held);
  // What holds exactly these bytes, under this name if under any; nothing if nobody holds any of
  // them. `clear`: false if they are held in part, or in pieces.
  const Held* find(const Stretch& stretch, ValueIndex value, bool& clear) const;
  // Calls visit(held) for all that is held.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const auto& [place, names] : held_) {
      for (const Held& held : names) visit(held);
    }
  }

 private:
  using Place = std::pair<uint64_t, uint64_t>;  // Memory and begin.
  using Names = std::vector<Held>;              // Of one stretch, by each name that it has.
  // The first that may overlap it.
  std::map<Place, Names>::const_iterator first_at(const Stretch& stretch) const;

  std::map<Place, Names> held_;  // Stretches do not overlap.
};

}  // namespace pteron
