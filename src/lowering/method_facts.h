// What the instructions of a whole method do to its values: where tensors lie, who reads and writes
// what, and whether what lies somewhere is read later. Errs on the side of "it is".
#pragma once

#include <vector>

#include "lowering/memory.h"
#include "runtime/accelerator.h"

namespace pteron {

class MethodFacts {
 public:
  explicit MethodFacts(const MethodView& method);

  struct Site {
    size_t chain = 0;
    size_t step = 0;
  };

  const MethodView& method() const { return method_; }
  const Plan& plan() const { return method_.plan; }
  const Step& step(Site site) const { return method_.chains[site.chain][site.step]; }
  const TensorDef* tensor_def(ValueIndex value) const {
    return std::get_if<TensorDef>(&plan().values[value]);
  }
  const Places& places() const { return places_; }

  // A tensor whose memory is not always the same, or is freed.
  bool is_unclear(ValueIndex value) const { return unclear_[value]; }
  // An instruction writes it, or the caller gives it.
  bool is_changed(ValueIndex value) const { return changed_[value]; }
  // What reads a value: itself, or a list that it is in. Method outputs are in none of the sites.
  const std::vector<Site>& readers(ValueIndex value) const { return readers_[value]; }
  const std::vector<Site>& writers(ValueIndex value) const { return writers_[value]; }
  bool is_output(ValueIndex value) const { return is_output_[value]; }
  bool is_read(ValueIndex value) const { return is_output_[value] || !readers_[value].empty(); }
  bool is_jump_target(Site site) const { return is_target_[site.chain][site.step]; }
  bool has_loops() const { return has_loops_; }

  // Whether anything may read these bytes from `site` on, before they are written anew.
  bool is_read_later(const Stretch& stretch, Site site);

 private:
  std::vector<ValueIndex> find_views();
  void note_steps();
  bool is_read_anywhere(const Stretch& stretch);
  int look(const Step& step, const Stretch& stretch);
  bool is_left(const Stretch& stretch) const;

  const MethodView& method_;
  std::vector<bool> unclear_;
  Places places_;
  std::vector<bool> changed_;
  std::vector<bool> is_output_;
  std::vector<std::vector<Site>> readers_;
  std::vector<std::vector<Site>> writers_;
  std::vector<std::vector<bool>> is_target_;  // By chain.
  bool has_loops_ = false;
  size_t looks_ = 0;
};

// Data of the file's, or of a .ptd's, that nothing changes.
bool is_constant(const TensorDef& def);
bool is_row_major(const TensorDef& def);
// et_view: the result gets its pointer from the first argument.
bool is_view(const Step& step);

}  // namespace pteron
