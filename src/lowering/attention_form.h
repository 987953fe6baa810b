// Attention as exporters write it (products, softmax, a guard), brought to the one operation that
// OpenVINO has for it.
#pragma once

#include <optional>

#include "lowering/call.h"

namespace pteron {

// where(every score of a row is -inf, 0, softmax(scores)): the softmax alone, if the scores are a
// product of finite numbers without a mask, of which a row is nowhere near all -inf.
std::optional<ir::Output> without_guard(Call& call, ir::Output condition, ir::Output otherwise,
                                        ir::Output softmax);

// The product of softmax(q k) and v as scaled dot-product attention, of the shape of argument
// `out`; nothing if `weights` is no such softmax. Of float32.
std::optional<ir::Output> as_attention(Call& call, ir::Output weights, ir::Output values,
                                       size_t out);

}  // namespace pteron
