// ExecuTorch's operators for language models (llama::): attention with a cache of keys and values,
// and the Hadamard transform.
//
// Caches are [batch, positions, heads, width], as queries, keys and values are.
#include <cmath>
#include <cstring>
#include <limits>

#include "base/text.h"
#include "kernels/element.h"
#include "kernels/gemm.h"
#include "kernels/tables.h"
#include "kernels/vector/functions.h"
#include "kernels/view.h"

namespace pteron {
namespace {

using Context = KernelContext;

// `what` of argument `from` into the cache that is argument `to`.
Result<void> check_cache(const char* what, const Args& args, size_t from, size_t to) {
  const Tensor& value = args.tensor(from);
  const Tensor& cache = args.tensor(to);
  bool fits = value.rank() == 4 && cache.rank() == 4 && value.dtype() == cache.dtype();
  for (int d : {0, 2, 3}) fits = fits && value.size(d) == cache.size(d);
  if (!fits)
    return kernel_error(std::string(what) + " of " + args.describe(from) + " into the cache, " +
                        args.describe(to));
  return {};
}

// Copies value[:, s] to cache[:, start + s].
Result<void> write_cache(const char* what, const Args& args, size_t from, size_t into,
                         int64_t start) {
  PTERON_TRY(check_cache(what, args, from, into));
  const Tensor& value = args.tensor(from);
  Tensor& cache = args.tensor(into);
  if (start < 0 || start > cache.size(1) || value.size(1) > cache.size(1) - start)
    return kernel_error(std::string(what) + " of " + counted(value.size(1), "position") + " from " +
                        std::to_string(start) + " into the cache, " + args.describe(into));
  if (value.numel() == 0) return {};
  View to(cache);
  to.sizes[1] = value.size(1);
  to.offset = start * to.strides[1];
  copy_between(nullptr, value, View(value), cache, to);
  return {};
}

// The output of the cache operators carries nothing.
Result<void> clear(Tensor& out) {
  const int64_t one[] = {1};
  if (out.rank() == 1) PTERON_TRY(out.resize(one));
  if (out.nbytes() > 0) std::memset(out.raw(), 0, out.nbytes());
  return {};
}

Result<void> update_cache(Context&, const Args& args, const Kernel&) {
  PTERON_TRY(write_cache("update_cache", args, 0, 1, args.integer(2)));
  return clear(args.tensor(3));
}

// Each position of each batch goes where its index says.
Result<void> update_cache_with_indices(Context& context, const Args& args, const Kernel&) {
  const Tensor& value = args.tensor(0);
  Tensor& cache = args.tensor(1);
  const Tensor& indices = args.tensor(3);
  PTERON_TRY(check_cache("update_cache_with_indices", args, 0, 1));
  if (indices.dtype() != DType::Int64 || indices.rank() != 2 || indices.size(0) != value.size(0) ||
      indices.size(1) != value.size(1))
    return kernel_error("update_cache_with_indices of " + args.describe(0) + " at " +
                        args.describe(3));
  const int64_t* at = load_all<int64_t>(context, indices);
  for (int64_t i = 0; i < indices.numel(); ++i) {
    if (at[i] < 0 || at[i] >= cache.size(1))
      return kernel_error("index " + std::to_string(at[i]) + " in argument 3 for a cache of " +
                          counted(cache.size(1), "position"));
  }
  View from(value);
  View to(cache);
  from.sizes[0] = from.sizes[1] = to.sizes[0] = to.sizes[1] = 1;
  for (int64_t i = 0; i < indices.numel() && value.numel() > 0; ++i) {
    const int64_t b = i / value.size(1);
    from.offset = b * from.strides[0] + i % value.size(1) * from.strides[1];
    to.offset = b * to.strides[0] + at[i] * to.strides[1];
    copy_between(nullptr, value, from, cache, to);
  }
  return clear(args.tensor(4));
}

// Queries, keys and values as dense floats, and how their dimensions lie.
struct Attention {
  const float* query;
  const float* key;
  const float* value;
  int64_t batch, queries, keys, heads, kv_heads, width;
  bool heads_first;  // [batch, heads, positions, width]
  int64_t used;      // How many of the keys are attended to.
  int64_t start;     // The position of the first query, for causal attention.
  bool is_causal;
  float scale;
  const float* mask;  // [queries, used], rows `mask_width` apart; may be null.
  int64_t mask_width;

  int64_t offset(int64_t b, int64_t position, int64_t head, bool is_query) const {
    const int64_t positions = is_query ? queries : keys;
    const int64_t count = is_query ? heads : kv_heads;
    return width * (heads_first ? (b * count + head) * positions + position
                                : (b * positions + position) * count + head);
  }
};

// The weights of one query, from its scores: softmax(scale * score + mask) of the first `past`, 0
// for the rest. A query that may attend to nothing has none.
void weigh(const Attention& a, int64_t query, int64_t past, int64_t count, float* score) {
  const VectorFunctions& vector = vector_functions();
  std::fill(score + past, score + count, 0.0f);
  vector.scale(score, a.scale, 0, score, past);
  for (int64_t j = 0; a.mask && j < past; ++j) score[j] += a.mask[query * a.mask_width + j];
  const float greatest =
      past > 0 ? vector.maximum(score, past) : -std::numeric_limits<float>::infinity();
  if (greatest == -std::numeric_limits<float>::infinity()) {
    std::fill_n(score, past, 0.0f);
    return;
  }
  const float total = vector.exp_sum(score, greatest, score, past);
  vector.scale(score, 1 / total, 0, score, past);
}

// softmax(scale * q k + mask) v, some queries of one head at a time, as two matrix products.
void attend(Context& context, const Attention& a, float* out) {
  constexpr int64_t kQueries = 128;
  const int64_t row = a.heads_first ? a.width : a.heads * a.width;
  const int64_t kv_row = a.heads_first ? a.width : a.kv_heads * a.width;
  float* scores =
      context.scratch_array<float>(static_cast<size_t>(std::min(kQueries, a.queries) * a.used));
  PackSpace<float> space;
  for (int64_t b = 0; b < a.batch; ++b) {
    for (int64_t head = 0; head < a.heads; ++head) {
      const int64_t kv_head = head / (a.heads / a.kv_heads);
      const float* key = a.key + a.offset(b, 0, kv_head, false);
      const float* value = a.value + a.offset(b, 0, kv_head, false);
      for (int64_t first = 0; first < a.queries; first += kQueries) {
        const int64_t n = std::min(kQueries, a.queries - first);
        const auto past = [&a](int64_t query) {
          return a.is_causal ? std::min(a.used, a.start + query + 1) : a.used;
        };
        const int64_t count = past(first + n - 1);
        const int64_t at = a.offset(b, first, head, true);
        gemm<float>(context, n, count, a.width, {a.query + at, row, 1}, {key, 1, kv_row}, scores,
                    count, false, &space);
        context.parallel(static_cast<size_t>(n), static_cast<size_t>(8192 / (count + 1) + 1),
                         [&](size_t begin, size_t end) {
                           for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end);
                                ++i)
                             weigh(a, first + i, past(first + i), count, scores + i * count);
                         });
        gemm<float>(context, n, a.width, count, {scores, count, 1}, {value, kv_row, 1}, out + at,
                    row, false, &space);
      }
    }
  }
}

struct Parameters {
  int64_t start;
  const Tensor* mask;
  double dropout;
  bool is_causal;
  std::optional<double> scale;
  bool heads_first = false;
};

// Checks shapes and fills in all but the data.
Result<Attention> plan(Context& context, const Tensor& q, const Tensor& k, const Tensor& v,
                       const Parameters& p) {
  const int positions = p.heads_first ? 2 : 1;
  const int heads = 3 - positions;
  bool fits = q.rank() == 4 && k.rank() == 4 && v.rank() == 4;
  for (int d = 0; fits && d < 4; ++d) fits = k.size(d) == v.size(d);
  fits = fits && q.size(0) == k.size(0) && q.size(3) == k.size(3) && q.size(3) > 0 &&
         k.size(heads) > 0 && q.size(heads) % k.size(heads) == 0;
  if (!fits)
    return kernel_error("attention of queries " + q.describe() + " to keys " + k.describe() +
                        " and values " + v.describe());
  if (p.dropout != 0)
    return kernel_error("attention with dropout " + std::to_string(p.dropout) + "; 0 is wanted");
  Attention a{};
  a.batch = q.size(0);
  a.queries = q.size(positions);
  a.keys = k.size(positions);
  a.heads = q.size(heads);
  a.kv_heads = k.size(heads);
  a.width = q.size(3);
  a.heads_first = p.heads_first;
  a.start = p.start;
  a.is_causal = p.is_causal;
  if (p.start < 0 || p.start > a.keys || a.queries > a.keys - p.start)
    return kernel_error("attention from position " + std::to_string(p.start) + " for " +
                        counted(a.queries, "query", "queries") + " to " + counted(a.keys, "key"));
  a.used = p.start + a.queries;
  if (p.mask) {
    const Tensor& mask = *p.mask;
    if (p.is_causal) return kernel_error("attention that is causal and has a mask");
    if (mask.rank() != 2 || !is_float(mask.dtype()) || mask.size(0) != a.queries ||
        (mask.size(1) != a.keys && mask.size(1) != a.used)) {
      return kernel_error("an attention mask of " + mask.describe() + " for " +
                          counted(a.queries, "query", "queries") + " and " +
                          counted(a.keys, "key"));
    }
    a.mask = load_all<float>(context, mask);
    a.mask_width = mask.size(1);
    a.used = mask.size(1);
  }
  a.scale = static_cast<float>(p.scale ? *p.scale : 1 / std::sqrt(static_cast<double>(a.width)));
  return a;
}

Result<void> run_float(Context& context, const Tensor& q, const Tensor& k, const Tensor& v,
                       const Parameters& p, Tensor& out) {
  if (!is_float(q.dtype()) || k.dtype() != q.dtype() || v.dtype() != q.dtype() ||
      !is_float(out.dtype()))
    return kernel_error("attention of queries " + q.describe() + " to keys " + k.describe() +
                        " and values " + v.describe());
  PTERON_ASSIGN(Attention a, plan(context, q, k, v, p));
  PTERON_TRY(out.resize(q.sizes()));
  if (out.numel() == 0) return {};
  a.query = elements<float>(context, q);
  a.key = elements<float>(context, k);
  a.value = elements<float>(context, v);
  Results<float> results(context, out);
  attend(context, a, results.data());
  results.store();
  return {};
}

Result<void> sdpa_with_cache(Context& context, const Args& args, const Kernel&) {
  const int64_t start = args.integer(5);
  PTERON_TRY(write_cache("sdpa_with_kv_cache", args, 1, 3, start));
  PTERON_TRY(write_cache("sdpa_with_kv_cache", args, 2, 4, start));
  return run_float(
      context, args.tensor(0), args.tensor(3), args.tensor(4),
      {start, args.optional_tensor(7), args.real(8), args.boolean(9), args.optional_real(10)},
      args.tensor(11));
}

Result<void> custom_sdpa(Context& context, const Args& args, const Kernel&) {
  return run_float(context, args.tensor(0), args.tensor(1), args.tensor(2),
                   {args.integer(3), args.optional_tensor(4), args.real(5), args.boolean(6),
                    args.optional_real(7)},
                   args.tensor(8));
}

// int8 with a scale and a zero point for each position of each head.
Result<const float*> dequantized(Context& context, const Tensor& in, const Tensor* zeros,
                                 const Tensor* scales) {
  if (in.dtype() != DType::Int8 || in.rank() != 4 || !zeros || !scales ||
      !is_float(scales->dtype()) || !is_number(zeros->dtype())) {
    return kernel_error("quantized attention of " + in.describe() + " without scales or zeros");
  }
  const int64_t rows = in.size(3) > 0 ? in.numel() / in.size(3) : 0;
  if (scales->numel() != rows || zeros->numel() != rows)
    return kernel_error("quantized attention of " + in.describe() + " with scales of " +
                        scales->describe() + " and zero points of " + zeros->describe());
  float* x = load_all<float>(context, in);
  const float* s = load_all<float>(context, *scales);
  const float* z = load_all<float>(context, *zeros);
  for (int64_t i = 0; i < in.numel(); ++i) x[i] = (x[i] - z[i / in.size(3)]) * s[i / in.size(3)];
  return x;
}

Result<void> custom_quantized_sdpa(Context& context, const Args& args, const Kernel&) {
  const Tensor& q = args.tensor(0);
  const Tensor& k = args.tensor(1);
  const Tensor& v = args.tensor(2);
  Tensor& out = args.tensor(15);
  if (!is_float(out.dtype())) return kernel_error("quantized attention into " + args.describe(15));
  PTERON_ASSIGN(Attention a, plan(context, q, k, v,
                                  {args.integer(3), args.optional_tensor(4), args.real(5),
                                   args.boolean(6), args.optional_real(7), args.boolean(14)}));
  PTERON_ASSIGN(a.query, dequantized(context, q, args.optional_tensor(8), args.optional_tensor(9)));
  PTERON_ASSIGN(a.key, dequantized(context, k, args.optional_tensor(10), args.optional_tensor(11)));
  PTERON_ASSIGN(a.value,
                dequantized(context, v, args.optional_tensor(12), args.optional_tensor(13)));
  PTERON_TRY(out.resize(q.sizes()));
  float* y = context.scratch_array<float>(static_cast<size_t>(out.numel()));
  attend(context, a, y);
  store_all(y, out);
  return {};
}

// A Hadamard matrix of order 28: bit j of row i is set where the element is -1. Lines of 28 * 2^k
// are split into 28 parts, which this matrix mixes.
constexpr int64_t kSpecial = 28;
constexpr uint32_t kMinus[kSpecial] = {
    0x32961fe, 0x65283fd, 0xc85477b, 0x92a8e77, 0x2751c6f, 0x4ca785f, 0x994b0bf,
    0x4b9bf3c, 0x9537ef8, 0x2a6fdf1, 0x54dbbe3, 0xa9b37c7, 0x5366f8f, 0xa4cdf9e,
    0x79f8cda, 0xf1f5935, 0xe3ef26a, 0xc7de4d5, 0x8fbc9ab, 0x1f7d356, 0x3cfe62d,
    0xfd0ed66, 0xfa1dacd, 0xf63b51b, 0xee72ab6, 0xdee15ec, 0xbfc2b59, 0x7f856b3,
};

void hadamard_power_of_two(float* line, int64_t n) {
  const VectorFunctions& vector = vector_functions();
  vector.hadamard(line, n);
  vector.scale(line, static_cast<float>(1 / std::sqrt(static_cast<double>(n))), 0, line, n);
}

Result<void> hadamard(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(1);
  const int64_t n = in.rank() > 0 ? in.size(in.rank() - 1) : 0;
  const int64_t parts = n % kSpecial == 0 ? kSpecial : 1;
  const int64_t part = n / parts;
  if (!is_float(in.dtype()) || in.dtype() != out.dtype() || n < 1 || (part & (part - 1)) != 0) {
    return kernel_error("a Hadamard transform of " + args.describe(0) +
                        "; a last dimension of 2^k or 28 * 2^k floats is wanted");
  }
  PTERON_TRY(out.resize(in.sizes()));
  const float* x = elements<float>(context, in);
  Results<float> results(context, out);
  float* y = results.data();
  const auto grain = static_cast<size_t>(16384 / n + 1);
  context.parallel(static_cast<size_t>(in.numel() / n), grain, [=](size_t begin, size_t end) {
    for (auto r = static_cast<int64_t>(begin); r < static_cast<int64_t>(end); ++r) {
      float* line = y + r * n;
      std::copy_n(x + r * n, n, line);
      for (int64_t i = 0; i < parts; ++i) hadamard_power_of_two(line + i * part, part);
      for (int64_t k = 0; k < part && parts > 1; ++k) {
        float mixed[kSpecial]{};
        for (int64_t i = 0; i < kSpecial; ++i) {
          for (int64_t j = 0; j < kSpecial; ++j) {
            const float value = line[i * part + k];
            mixed[j] += kMinus[i] >> j & 1 ? -value : value;
          }
        }
        for (int64_t j = 0; j < kSpecial; ++j) line[j * part + k] = mixed[j];
      }
    }
  });
  results.store();
  return {};
}

constexpr Kernel kTable[] = {
    {"llama::custom_quantized_sdpa.out", "TTTItDBdttttttB>T", custom_quantized_sdpa},
    {"llama::custom_sdpa.out", "TTTItDBd>T", custom_sdpa},
    {"llama::fast_hadamard_transform.out", "T>T", hadamard},
    {"llama::sdpa_with_kv_cache.out", "TTTMMIItDBd>T", sdpa_with_cache},
    {"llama::update_cache.out", "TMI>T", update_cache},
    {"llama::update_cache_with_indices.out", "TMIT>T", update_cache_with_indices},
};

}  // namespace

std::span<const Kernel> attention_kernels() { return kTable; }

}  // namespace pteron
