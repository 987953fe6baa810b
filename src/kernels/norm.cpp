// Normalizations and softmax.
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/text.h"
#include "kernels/element.h"
#include "kernels/moments.h"
#include "kernels/scratch.h"
#include "kernels/tables.h"
#include "kernels/vector/functions.h"

namespace pteron {
namespace {

using Context = KernelContext;

Result<void> check_float(const Tensor& in, const Tensor& out) {
  if (!is_float(in.dtype()) || !is_float(out.dtype()))
    return kernel_error("got " + in.describe() + "; floats are wanted");
  return {};
}

template <typename C>
void exp_in_place(C* x, int64_t n) {
  if constexpr (std::is_same_v<C, float>) {
    vector_functions().run(RowFunction::Exp, x, x, n);
  } else {
    for (int64_t i = 0; i < n; ++i) x[i] = std::exp(x[i]);
  }
}

// One row of a softmax.
template <bool kLog, typename C>
void softmax_row(const C* x, C* y, int64_t size) {
  if constexpr (std::is_same_v<C, float>) {
    const VectorFunctions& vector = vector_functions();
    const float greatest = vector.maximum(x, size);
    if constexpr (kLog) {
      float sum = 0;
      constexpr int64_t kRun = 512;
      float buffer[kRun];
      for (int64_t i = 0; i < size; i += kRun)
        sum += vector.exp_sum(x + i, greatest, buffer, std::min(kRun, size - i));
      const float rest = std::log(sum);
      for (int64_t i = 0; i < size; ++i) y[i] = x[i] - greatest - rest;
    } else {
      const float sum = vector.exp_sum(x, greatest, y, size);
      vector.scale(y, 1 / sum, 0, y, size);
    }
    return;
  }
  C greatest = x[0];
  for (int64_t i = 1; i < size; ++i) greatest = x[i] > greatest || is_nan(x[i]) ? x[i] : greatest;
  C sum = 0;
  for (int64_t i = 0; i < size; ++i) sum += std::exp(x[i] - greatest);
  const C rest = std::log(sum);
  for (int64_t i = 0; i < size; ++i)
    y[i] = kLog ? x[i] - greatest - rest : std::exp(x[i] - greatest) / sum;
}

// The same for columns side by side: x[k * inner + i] for each i.
template <bool kLog, typename C>
void softmax_columns(const C* x, C* y, int64_t size, int64_t inner, int64_t width) {
  constexpr int64_t kMost = 256;
  C greatest[kMost];
  C sum[kMost];
  C exponentials[kMost];
  std::copy_n(x, width, greatest);
  for (int64_t k = 1; k < size; ++k) {
    const C* row = x + k * inner;
    for (int64_t i = 0; i < width; ++i) greatest[i] = row[i] > greatest[i] ? row[i] : greatest[i];
  }
  std::fill_n(sum, width, C(0));
  for (int64_t k = 0; k < size; ++k) {
    C* to = kLog ? exponentials : y + k * inner;
    for (int64_t i = 0; i < width; ++i) to[i] = x[k * inner + i] - greatest[i];
    exp_in_place(to, width);
    for (int64_t i = 0; i < width; ++i) sum[i] += to[i];
  }
  for (int64_t i = 0; i < width; ++i) sum[i] = kLog ? std::log(sum[i]) : 1 / sum[i];
  for (int64_t k = 0; k < size; ++k) {
    const C* from = (kLog ? x : y) + k * inner;
    C* to = y + k * inner;
    for (int64_t i = 0; i < width; ++i)
      to[i] = kLog ? from[i] - greatest[i] - sum[i] : from[i] * sum[i];
  }
}

template <bool kLog>
Result<void> softmax_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(3);
  PTERON_TRY(check_float(in, out));
  PTERON_ASSIGN(const int dim, read_dim(args, 1, in.rank()));
  PTERON_TRY(out.resize(in.sizes()));
  if (in.numel() == 0) return {};
  return with_float_type(in.dtype(), [&](auto type) -> Result<void> {
    using C = decltype(type);
    const C* x = elements<C>(context, in);
    Results<C> results(context, out);
    C* y = results.data();
    int64_t inner = 1;
    for (int d = dim + 1; d < in.rank(); ++d) inner *= in.size(d);
    const int64_t size = in.rank() > 0 ? in.size(dim) : 1;
    const int64_t most = std::min<int64_t>(inner, 256);
    const int64_t blocks = (inner + most - 1) / most;
    const auto tasks = static_cast<size_t>(in.numel() / (size * inner) * blocks);
    const auto grain = static_cast<size_t>(4096 / (size * most) + 1);
    context.parallel(tasks, grain, [=](size_t begin, size_t end) {
      for (auto t = static_cast<int64_t>(begin); t < static_cast<int64_t>(end); ++t) {
        const int64_t first = t % blocks * most;
        const int64_t at = t / blocks * size * inner + first;
        if (inner == 1)
          softmax_row<kLog>(x + at, y + at, size);
        else
          softmax_columns<kLog>(x + at, y + at, size, inner, std::min(most, inner - first));
      }
    });
    results.store();
    return {};
  });
}

// Arguments `epsilon_at`, and outputs from `first`.
Result<void> batch_norm_inference(Context& context, const Args& args, const Kernel&,
                                  size_t epsilon_at, size_t first) {
  const Tensor& in = args.tensor(0);
  const Tensor* weight = args.optional_tensor(1);
  const Tensor* bias = args.optional_tensor(2);
  const Tensor& mean = args.tensor(3);
  const Tensor& variance = args.tensor(4);
  const double epsilon = args.real(epsilon_at);
  Tensor& out = args.tensor(first);
  PTERON_TRY(check_float(in, out));
  if (in.rank() < 2) return kernel_error("batch norm of " + args.describe(0));
  const int64_t channels = in.size(1);
  for (const Tensor* parameter : {weight, bias, &mean, &variance}) {
    if (parameter && (parameter->numel() != channels || !is_float(parameter->dtype())))
      return kernel_error("batch norm of " + args.describe(0) + " with " + parameter->describe());
  }
  PTERON_TRY(out.resize(in.sizes()));
  // In inference the batch's own statistics are not saved.
  const int64_t none[] = {0};
  for (size_t i : {first + 1, first + 2}) {
    if (args.tensor(i).rank() == 1) PTERON_TRY(args.tensor(i).resize(none));
  }
  if (in.numel() == 0) return {};
  return with_float_type(in.dtype(), [&](auto type) -> Result<void> {
    using C = decltype(type);
    const C* x = elements<C>(context, in);
    const C* m = elements<C>(context, mean);
    const C* v = elements<C>(context, variance);
    const C* w = weight ? elements<C>(context, *weight) : nullptr;
    const C* b = bias ? elements<C>(context, *bias) : nullptr;
    Results<C> results(context, out);
    C* y = results.data();
    int64_t inner = 1;
    for (int d = 2; d < in.rank(); ++d) inner *= in.size(d);
    const auto planes = static_cast<size_t>(in.size(0) * channels);
    const auto grain = static_cast<size_t>(16384 / std::max<int64_t>(inner, 1) + 1);
    context.parallel(planes, grain, [=](size_t begin, size_t end) {
      for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
        const int64_t c = i % channels;
        const C scale = (w ? w[c] : C(1)) / std::sqrt(v[c] + static_cast<C>(epsilon));
        const C shift = (b ? b[c] : C(0)) - m[c] * scale;
        for (int64_t k = 0; k < inner; ++k) y[i * inner + k] = x[i * inner + k] * scale + shift;
      }
    });
    results.store();
    return {};
  });
}

Result<void> batch_norm(Context& context, const Args& args, const Kernel& self) {
  return batch_norm_inference(context, args, self, 6, 7);
}

template <typename C>
void scale_row(const C* from, C* to, int64_t n, C middle, C factor, C term) {
  for (int64_t i = 0; i < n; ++i) to[i] = (from[i] - middle) * factor + term;
}

template <typename C>
C* constant_row(Context& context, int64_t n, C value) {
  C* row = context.scratch_array<C>(static_cast<size_t>(n));
  std::fill_n(row, n, value);
  return row;
}

// Batch norm with statistics of its own, which it gives back; running ones are updated where there
// are any. Arguments: outputs begin at `first`.
Result<void> batch_norm_training(Context& context, const Args& args, size_t first, Tensor* mean,
                                 Tensor* variance, double momentum, double epsilon) {
  const Tensor& in = args.tensor(0);
  const Tensor* weight = args.optional_tensor(1);
  const Tensor* bias = args.optional_tensor(2);
  Tensor& out = args.tensor(first);
  PTERON_TRY(check_float(in, out));
  if (in.rank() < 2) return kernel_error("batch norm of " + args.describe(0));
  const int64_t channels = in.size(1);
  for (const Tensor* parameter :
       {weight, bias, static_cast<const Tensor*>(mean), static_cast<const Tensor*>(variance)}) {
    if (parameter && (parameter->numel() != channels || !is_float(parameter->dtype())))
      return kernel_error("batch norm of " + args.describe(0) + " with " + parameter->describe());
  }
  PTERON_TRY(out.resize(in.sizes()));
  const int64_t size[] = {channels};
  for (size_t i : {first + 1, first + 2}) {
    if (!is_float(args.tensor(i).dtype()))
      return kernel_error(args.describe(i) + " is not of floats");
    PTERON_TRY(args.tensor(i).resize(size));
  }
  if (in.numel() == 0) return kernel_error("batch norm of " + args.describe(0) + " in training");
  return with_float_type(in.dtype(), [&](auto type) -> Result<void> {
    using C = decltype(type);
    const C* x = elements<C>(context, in);
    const C* w = weight ? elements<C>(context, *weight) : nullptr;
    const C* b = bias ? elements<C>(context, *bias) : nullptr;
    Results<C> results(context, out);
    C* y = results.data();
    const auto count = static_cast<size_t>(channels);
    double* means = context.scratch_array<double>(count);
    double* rstds = context.scratch_array<double>(count);
    double* running_mean = mean ? load_all<double>(context, *mean) : nullptr;
    double* running_variance = variance ? load_all<double>(context, *variance) : nullptr;
    int64_t inner = 1;
    for (int d = 2; d < in.rank(); ++d) inner *= in.size(d);
    const int64_t batch = in.size(0);
    const auto whole = static_cast<double>(batch * inner);
    context.parallel(count, 1, [=](size_t begin, size_t end) {
      for (auto c = static_cast<int64_t>(begin); c < static_cast<int64_t>(end); ++c) {
        const auto plane = [=](int64_t n) { return (n * channels + c) * inner; };
        double sum = 0;
        double squares = 0;
        for (int64_t n = 0; n < batch; ++n) sum += moments(x + plane(n), inner).mean;
        const double center = sum / static_cast<double>(batch);
        for (int64_t n = 0; n < batch; ++n) {
          const Moments own = moments(x + plane(n), inner);
          squares +=
              own.squares + static_cast<double>(inner) * (own.mean - center) * (own.mean - center);
        }
        means[c] = center;
        rstds[c] = 1 / std::sqrt(squares / whole + epsilon);
        for (int64_t n = 0; n < batch; ++n) {
          scale_row(x + plane(n), y + plane(n), inner, static_cast<C>(center),
                    static_cast<C>(rstds[c]) * (w ? w[c] : C(1)), b ? b[c] : C(0));
        }
        if (running_mean) running_mean[c] += momentum * (center - running_mean[c]);
        if (running_variance)
          running_variance[c] += momentum * (squares / (whole - 1) - running_variance[c]);
      }
    });
    results.store();
    store_all(means, args.tensor(first + 1));
    store_all(rstds, args.tensor(first + 2));
    if (mean) store_all(running_mean, *mean);
    if (variance) store_all(running_variance, *variance);
    return {};
  });
}

Result<void> batch_norm_with_statistics(Context& context, const Args& args, const Kernel& self) {
  if (args.boolean(5)) {
    return batch_norm_training(context, args, 8, &args.tensor(3), &args.tensor(4), args.real(6),
                               args.real(7));
  }
  return batch_norm_inference(context, args, self, 7, 8);
}

Result<void> batch_norm_without_statistics(Context& context, const Args& args, const Kernel&) {
  if (!args.boolean(3))
    return kernel_error("batch norm without statistics trains: argument 3 is false");
  return batch_norm_training(context, args, 6, nullptr, nullptr, 0, args.real(5));
}

// Normalizes runs of `size` elements of x into y: scale(run, from, to, mean, 1 / deviation).
template <typename C, typename Scale>
void normalize(Context& context, const C* x, C* y, int64_t rows, int64_t size, double epsilon,
               C* means, C* rstds, Scale&& scale) {
  const auto grain = static_cast<size_t>(8192 / std::max<int64_t>(size, 1) + 1);
  context.parallel(static_cast<size_t>(rows), grain, [&](size_t begin, size_t end) {
    for (auto r = static_cast<int64_t>(begin); r < static_cast<int64_t>(end); ++r) {
      const auto [mean, squares] = moments(x + r * size, size);
      means[r] = static_cast<C>(mean);
      rstds[r] = static_cast<C>(1 / std::sqrt(squares / static_cast<double>(size) + epsilon));
      scale(r, x + r * size, y + r * size, means[r], rstds[r]);
    }
  });
}

Result<void> layer_norm(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Ints shape = args.ints(1);
  const Tensor* weight = args.optional_tensor(2);
  const Tensor* bias = args.optional_tensor(3);
  const double epsilon = args.real(4);
  Tensor& out = args.tensor(5);
  PTERON_TRY(check_float(in, out));
  int64_t size = 1;
  bool fits = shape.size() <= static_cast<size_t>(in.rank());
  for (size_t i = 0; fits && i < shape.size(); ++i) {
    fits = shape[i] == in.size(in.rank() - static_cast<int>(shape.size() - i));
    if (fits) size *= shape[i];
  }
  for (const Tensor* parameter : {weight, bias})
    fits = fits && (!parameter || (parameter->numel() == size && is_float(parameter->dtype())));
  if (!fits) return kernel_error("layer norm over " + args.describe(1) + " of " + args.describe(0));
  PTERON_TRY(out.resize(in.sizes()));
  Shape statistics;
  for (int d = 0; d < in.rank(); ++d)
    statistics.sizes[statistics.rank++] =
        d < in.rank() - static_cast<int>(shape.size()) ? in.size(d) : 1;
  for (size_t i : {size_t{6}, size_t{7}}) {
    if (!is_float(args.tensor(i).dtype()))
      return kernel_error(args.describe(i) + " is not of floats");
    PTERON_TRY(args.tensor(i).resize(statistics.span()));
  }
  if (in.numel() == 0) {
    // Means and deviations of nothing, where there are any.
    auto nothing = scratch_vector<float>(context, static_cast<size_t>(args.tensor(6).numel()));
    store_all(nothing.data(), args.tensor(6));
    std::fill(nothing.begin(), nothing.end(), std::numeric_limits<float>::quiet_NaN());
    store_all(nothing.data(), args.tensor(7));
    return {};
  }
  return with_float_type(in.dtype(), [&](auto type) -> Result<void> {
    using C = decltype(type);
    const C* x = elements<C>(context, in);
    const C* w = weight ? elements<C>(context, *weight) : nullptr;
    const C* b = bias ? elements<C>(context, *bias) : nullptr;
    Results<C> results(context, out);
    const int64_t rows = in.numel() / size;
    C* means = context.scratch_array<C>(static_cast<size_t>(rows));
    C* rstds = context.scratch_array<C>(static_cast<size_t>(rows));
    const C* factors = w ? w : constant_row(context, size, C(1));
    const C* terms = b ? b : constant_row(context, size, C(0));
    normalize(context, x, results.data(), rows, size, epsilon, means, rstds,
              [=](int64_t, const C* from, C* to, C mean, C rstd) {
                for (int64_t i = 0; i < size; ++i)
                  to[i] = (from[i] - mean) * rstd * factors[i] + terms[i];
              });
    results.store();
    store_all(means, args.tensor(6));
    store_all(rstds, args.tensor(7));
    return {};
  });
}

Result<void> group_norm(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Tensor* weight = args.optional_tensor(1);
  const Tensor* bias = args.optional_tensor(2);
  const int64_t groups = args.integer(6);
  const double epsilon = args.real(7);
  Tensor& out = args.tensor(8);
  PTERON_TRY(check_float(in, out));
  bool fits = in.rank() >= 2 && groups > 0 && in.size(1) % groups == 0;
  for (const Tensor* parameter : {weight, bias})
    fits =
        fits && (!parameter || (parameter->numel() == in.size(1) && is_float(parameter->dtype())));
  if (!fits)
    return kernel_error("group norm of " + args.describe(0) + " in " + counted(groups, "group"));
  PTERON_TRY(out.resize(in.sizes()));
  const int64_t statistics[] = {in.size(0), groups};
  for (size_t i : {size_t{9}, size_t{10}}) {
    if (!is_float(args.tensor(i).dtype()))
      return kernel_error(args.describe(i) + " is not of floats");
    PTERON_TRY(args.tensor(i).resize(statistics));
  }
  if (in.numel() == 0) return {};
  return with_float_type(in.dtype(), [&](auto type) -> Result<void> {
    using C = decltype(type);
    const C* x = elements<C>(context, in);
    const C* w = weight ? elements<C>(context, *weight) : nullptr;
    const C* b = bias ? elements<C>(context, *bias) : nullptr;
    Results<C> results(context, out);
    const int64_t rows = in.size(0) * groups;
    const int64_t size = in.numel() / rows;
    const int64_t inner = in.numel() / (in.size(0) * in.size(1));
    C* means = context.scratch_array<C>(static_cast<size_t>(rows));
    C* rstds = context.scratch_array<C>(static_cast<size_t>(rows));
    const int64_t channels = in.size(1);
    const int64_t own = channels / groups;
    normalize(context, x, results.data(), rows, size, epsilon, means, rstds,
              [=](int64_t r, const C* from, C* to, C mean, C rstd) {
                for (int64_t k = 0; k < own; ++k) {
                  const int64_t c = r % groups * own + k;
                  scale_row(from + k * inner, to + k * inner, inner, mean, rstd * (w ? w[c] : C(1)),
                            b ? b[c] : C(0));
                }
              });
    results.store();
    store_all(means, args.tensor(9));
    store_all(rstds, args.tensor(10));
    return {};
  });
}

constexpr Kernel kTable[] = {
    {"aten::_log_softmax.out", "TIB>T", softmax_<true>},
    {"aten::_native_batch_norm_legit.no_stats_out", "TttBDD>TTT", batch_norm_without_statistics},
    {"aten::_native_batch_norm_legit.out", "TttMMBDD>TTT", batch_norm_with_statistics},
    {"aten::_native_batch_norm_legit_no_training.out", "TttTTDD>TTT", batch_norm},
    {"aten::_softmax.out", "TIB>T", softmax_<false>},
    {"aten::native_group_norm.out", "TttIIIID>TTT", group_norm},
    {"aten::native_layer_norm.out", "TLttD>TTT", layer_norm},
};

}  // namespace

std::span<const Kernel> norm_kernels() { return kTable; }

}  // namespace pteron
