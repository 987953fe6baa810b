// ExecuTorch's operators for language models (llama::). Caches are [batch, positions, heads,
// width], as queries, keys and values are.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "lowering/call.h"
#include "lowering/rules.h"

namespace pteron {
namespace {

using ir::Output;
using Sizes = std::vector<int64_t>;

// What a row may put into the graph: a matrix's sides, a mask's elements.
constexpr int64_t kMostWidth = 1024;
constexpr int64_t kMostScores = 1 << 24;

// `value` at positions of a cache from `start` on.
Reason write_cache(Call& call, size_t value, size_t cache, int64_t start, Output& result) {
  if (Reason reason = require_moved(call, {value, cache}); !reason.empty()) return reason;
  if (call.rank(value) != 4 || call.rank(cache) != 4) return "it is no cache";
  for (const size_t d : {0, 2, 3}) {
    if (call.size_of(value, d) != call.size_of(cache, d)) return "it does not fit its cache";
  }
  const int64_t count = call.size_of(value, 1);
  if (start < 0 || start > call.size_of(cache, 1) || count > call.size_of(cache, 1) - start)
    return "it does not fit its cache";
  Sizes places;
  for (int64_t i = 0; i < count; ++i) places.push_back(start + i);
  const int64_t axis = 1;
  result = call.node("ScatterUpdate",
                     {call.tensor(cache), call.indices(places), call.tensor(value),
                      call.indices(std::span(&axis, 1), true)},
                     call.dtype(cache), "opset3");
  return {};
}

// The result of the cache operators carries nothing.
void clear(Call& call, size_t out) {
  call.set(out,
           call.node("Broadcast", {call.scalar(0, call.dtype(out)), call.indices(call.shape(out))},
                     call.dtype(out), "opset3", {{"mode", "numpy"}}));
}

// value, cache, start
Reason update_cache(Call& call) {
  Output cache;
  if (Reason reason = write_cache(call, 0, 1, call.integer(2), cache); !reason.empty())
    return reason;
  if (Reason reason = require_moved(call, {3}); !reason.empty()) return reason;
  call.set(1, cache);
  clear(call, 3);
  return {};
}

// value, cache, start, indices: each position of each batch goes where its index says.
Reason update_by_indices(Call& call) {
  if (Reason reason = require_moved(call, {0, 1}); !reason.empty()) return reason;
  if (Reason reason = require_moved(call, {4}); !reason.empty()) return reason;
  if (call.rank(0) != 4 || call.rank(1) != 4 || call.rank(3) != 2) return "it is no cache";
  for (const size_t d : {0, 2, 3}) {
    if (call.size_of(0, d) != call.size_of(1, d)) return "it does not fit its cache";
  }
  const int64_t batch = call.size_of(0, 0);
  const int64_t count = call.size_of(0, 1);
  if (call.shape(3) != Sizes{batch, count}) return "its indices do not fit it";
  if (call.dtype(3) != DType::Int64) return refuse_dtype(call, 3);
  if (!call.ranges.demand(call.tensor(3), {0, call.size_of(1, 1) - 1}))
    return "an index of it may be out of range";
  // [batch, count, 2]: which batch, which position.
  Sizes batches;
  for (int64_t b = 0; b < batch; ++b) batches.insert(batches.end(), static_cast<size_t>(count), b);
  const Sizes shape{batch, count, 1};
  const std::vector<Output> parts{call.reshaped(call.indices(batches), shape),
                                  call.reshaped(call.tensor(3), shape)};
  const Output places = call.node("Concat", parts, DType::Int64, "opset1", {{"axis", "2"}});
  call.set(1, call.node("ScatterNDUpdate", {call.tensor(1), places, call.tensor(0)}, call.dtype(1),
                        "opset4"));
  clear(call, 4);
  return {};
}

struct Attention {
  Output query, key, value;  // Floats.
  Sizes query_shape, key_shape;
  size_t mask;  // Its argument.
  int64_t start;
  bool is_causal;
  std::optional<double> scale;
  bool heads_first = false;
};

Output in_heads(Call& call, const Attention& a, Output x) {
  if (a.heads_first) return x;
  const Sizes order{0, 2, 1, 3};
  return call.node("Transpose", {x, call.indices(order)}, call.graph.dtype(x));
}

// Which of the keys each query sees, as what is added to its scores.
Output causal_mask(Call& call, int64_t queries, int64_t used, int64_t start) {
  std::vector<float> mask;
  for (int64_t q = 0; q < queries; ++q) {
    for (int64_t k = 0; k < used; ++k)
      mask.push_back(k <= start + q ? 0.0f : -std::numeric_limits<float>::infinity());
  }
  return call.graph.copied_constant(DType::Float32, {queries, used},
                                    std::as_bytes(std::span(mask)));
}

// softmax(scale * q k + mask) v; a query that may attend to nothing gives 0.
Reason attend(Call& call, const Attention& a, size_t out) {
  const size_t positions = a.heads_first ? 2 : 1;
  const size_t heads = 3 - positions;
  const Sizes& q = a.query_shape;
  const Sizes& k = a.key_shape;
  if (q[0] != k[0] || q[3] != k[3] || q[heads] % k[heads] != 0) return "its keys do not fit it";
  const int64_t queries = q[positions];
  if (a.start < 0 || a.start > k[positions] || queries > k[positions] - a.start)
    return "its positions are out of range";
  if (queries > kMostWidth * kMostWidth / std::max<int64_t>(k[positions], 1))
    return "it has many positions";
  int64_t used = a.start + queries;
  if (call.has(a.mask)) {
    if (a.is_causal || call.rank(a.mask) != 2 || call.size_of(a.mask, 0) != queries ||
        (call.size_of(a.mask, 1) != k[positions] && call.size_of(a.mask, 1) != used))
      return "its mask does not fit it";
    if (Reason reason = require_floats(call, {a.mask}); !reason.empty()) return reason;
    used = call.size_of(a.mask, 1);
  }
  if (a.is_causal && queries * used > kMostScores) return "it has many positions";
  const auto of_keys = [&](Output x) {
    x = call.converted(in_heads(call, a, x), DType::Float32);
    if (used < k[positions])
      x = call.node("Slice", {x, call.one(0), call.one(used), call.one(1), call.one(2)},
                    DType::Float32, "opset8");
    // Heads that share a key.
    const int64_t times = q[heads] / k[heads];
    if (times == 1) return x;
    const Sizes apart{k[0], k[heads], 1, used, k[3]};
    const Sizes repeated{k[0], k[heads], times, used, k[3]};
    x = call.node("Broadcast", {call.reshaped(x, apart), call.indices(repeated)}, DType::Float32,
                  "opset3", {{"mode", "numpy"}});
    return call.reshaped(x, Sizes{k[0], q[heads], used, k[3]});
  };
  std::vector<Output> inputs{call.converted(in_heads(call, a, a.query), DType::Float32),
                             of_keys(a.key), of_keys(a.value)};
  std::optional<Output> mask;
  if (call.has(a.mask)) mask = call.converted(call.tensor(a.mask), DType::Float32);
  inputs.push_back(mask          ? *mask
                   : a.is_causal ? causal_mask(call, queries, used, a.start)
                                 : call.scalar(0, DType::Float32));
  const double scale = a.scale ? *a.scale : 1 / std::sqrt(static_cast<double>(q[3]));
  inputs.push_back(call.scalar(scale, DType::Float32));
  Output result = call.node("ScaledDotProductAttention", inputs, DType::Float32, "opset13",
                            {{"causal", "false"}});
  if (mask) {
    const Output most = call.node("ReduceMax", {*mask, call.one(1)}, DType::Float32, "opset1",
                                  {{"keep_dims", "true"}});
    const Output none =
        call.node("Equal", {most, call.scalar(-HUGE_VAL, DType::Float32)}, DType::Bool);
    result = call.node("Select", {none, call.scalar(0, DType::Float32), result}, DType::Float32,
                       "opset1", {{"auto_broadcast", "numpy"}});
  }
  call.set(out, call.converted(in_heads(call, a, result), call.dtype(out)));
  return {};
}

std::optional<double> scale_at(const Call& call, size_t i) {
  return call.has(i) ? std::optional(call.real(i)) : std::nullopt;
}
bool are_alike(const Call& call, size_t a, size_t b) {
  return call.rank(a) == 4 && call.rank(b) == 4 && call.shape(a) == call.shape(b);
}

// query, key, value, start, mask, dropout, is_causal, scale
Reason custom_sdpa(Call& call) {
  if (Reason reason = require_floats(call, {0, 1, 2}); !reason.empty()) return reason;
  if (Reason reason = require_floats(call, {8}); !reason.empty()) return reason;
  if (call.rank(0) != 4 || !are_alike(call, 1, 2)) return "its keys do not fit it";
  if (call.real(5) != 0) return "it drops out";
  return attend(call,
                {call.tensor(0), call.tensor(1), call.tensor(2), call.shape(0), call.shape(1), 4,
                 call.integer(3), call.boolean(6), scale_at(call, 7)},
                8);
}

// query, key, value, two caches, start, length, mask, dropout, is_causal, scale
Reason sdpa_with_cache(Call& call) {
  if (Reason reason = require_floats(call, {0, 1, 2, 3, 4}); !reason.empty()) return reason;
  if (Reason reason = require_floats(call, {11}); !reason.empty()) return reason;
  if (call.rank(0) != 4 || !are_alike(call, 3, 4)) return "its keys do not fit it";
  if (call.real(8) != 0) return "it drops out";
  Output caches[2];
  for (size_t i = 0; i < 2; ++i) {
    if (Reason reason = write_cache(call, 1 + i, 3 + i, call.integer(5), caches[i]);
        !reason.empty())
      return reason;
  }
  call.set(3, caches[0]);
  call.set(4, caches[1]);
  return attend(call,
                {call.tensor(0), caches[0], caches[1], call.shape(0), call.shape(3), 7,
                 call.integer(5), call.boolean(9), scale_at(call, 10)},
                11);
}

// Sylvester's matrix of order 2^k, made orthogonal.
Reason hadamard(Call& call) {
  if (Reason reason = require_floats(call, {0, 1}); !reason.empty()) return reason;
  if (call.rank(0) == 0 || !call.is_static(0)) return "a run decides its width";
  const int64_t n = call.size_of(0, call.rank(0) - 1);
  if (n < 1 || n > kMostWidth || (n & (n - 1)) != 0)
    return "its width is no power of two up to " + std::to_string(kMostWidth);
  const auto unit = static_cast<float>(1 / std::sqrt(static_cast<double>(n)));
  std::vector<float> matrix;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = 0; k < n; ++k) {
      bool is_minus = false;
      for (int64_t bits = i & k; bits != 0; bits &= bits - 1) is_minus = !is_minus;
      matrix.push_back(is_minus ? -unit : unit);
    }
  }
  const Output right =
      call.graph.copied_constant(DType::Float32, {n, n}, std::as_bytes(std::span(matrix)));
  Output input = call.converted(call.tensor(0), DType::Float32);
  if (call.rank(0) == 1) input = call.reshaped(input, Sizes{1, n});
  Output result = call.node("MatMul", {input, right}, DType::Float32, "opset1",
                            {{"transpose_a", "false"}, {"transpose_b", "false"}});
  if (call.rank(0) == 1) result = call.reshaped(result, Sizes{n});
  call.set(1, call.converted(result, call.dtype(1)));
  return {};
}

constexpr LoweringRow kRows[] = {
    {"llama::custom_sdpa.out", custom_sdpa},
    {"llama::fast_hadamard_transform.out", hadamard},
    {"llama::sdpa_with_kv_cache.out", sdpa_with_cache},
    {"llama::update_cache.out", update_cache},
    {"llama::update_cache_with_indices.out", update_by_indices},
};

}  // namespace

std::span<const LoweringRow> attention_rows() { return kRows; }

}  // namespace pteron
