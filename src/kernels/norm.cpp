// Normalizations and softmax.
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/text.h"
#include "kernels/element.h"
#include "kernels/tables.h"
#include "kernels/vector/functions.h"

namespace pteron {
namespace {

using Context = KernelContext;

// The operators here have checked that the dtype is a float.
template <typename Use>
Result<void> with_float_type(DType dtype, Use&& use) {
  return dtype == DType::Float64 ? use(double()) : use(float());
}

Result<void> check_float(const Tensor& in, const Tensor& out) {
  if (!is_float(in.dtype()) || !is_float(out.dtype()))
    return kernel_error("got " + in.describe() + "; floats are wanted");
  return {};
}

// One row of a softmax, `stride` apart; x and y may be the same.
template <bool kLog, typename C>
void softmax_row(const C* x, C* y, int64_t size, int64_t stride) {
  if constexpr (std::is_same_v<C, float>) {
    if (stride == 1) {
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
  }
  C greatest = x[0];
  for (int64_t i = 1; i < size; ++i)
    greatest = x[i * stride] > greatest || is_nan(x[i * stride]) ? x[i * stride] : greatest;
  C sum = 0;
  for (int64_t i = 0; i < size; ++i) sum += std::exp(x[i * stride] - greatest);
  const C rest = std::log(sum);
  for (int64_t i = 0; i < size; ++i) {
    if constexpr (kLog)
      y[i * stride] = x[i * stride] - greatest - rest;
    else
      y[i * stride] = std::exp(x[i * stride] - greatest) / sum;
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
    const int64_t rows = in.numel() / size;
    const auto grain = static_cast<size_t>(std::max<int64_t>(1, 4096 / size));
    context.parallel(static_cast<size_t>(rows), grain, [=](size_t begin, size_t end) {
      for (auto r = static_cast<int64_t>(begin); r < static_cast<int64_t>(end); ++r) {
        const int64_t at = r / inner * size * inner + r % inner;
        softmax_row<kLog>(x + at, y + at, size, inner);
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
  double* e = load_all<double>(context, in);
  const double* w = weight ? load_all<double>(context, *weight) : nullptr;
  const double* b = bias ? load_all<double>(context, *bias) : nullptr;
  const auto count = static_cast<size_t>(channels);
  double* means = context.scratch_array<double>(count);
  double* rstds = context.scratch_array<double>(count);
  double* running_mean = mean ? load_all<double>(context, *mean) : nullptr;
  double* running_variance = variance ? load_all<double>(context, *variance) : nullptr;
  int64_t inner = 1;
  for (int d = 2; d < in.rank(); ++d) inner *= in.size(d);
  const auto elements = static_cast<double>(in.size(0) * inner);
  for (int64_t c = 0; c < channels; ++c) {
    const auto each = [&](auto&& visit) {
      for (int64_t n = 0; n < in.size(0); ++n) {
        for (int64_t k = 0; k < inner; ++k) visit(e[(n * channels + c) * inner + k]);
      }
    };
    double sum = 0;
    each([&](double x) { sum += x; });
    means[c] = sum / elements;
    double squares = 0;
    each([&](double x) { squares += (x - means[c]) * (x - means[c]); });
    rstds[c] = 1 / std::sqrt(squares / elements + epsilon);
    each([&](double& x) { x = (x - means[c]) * rstds[c] * (w ? w[c] : 1) + (b ? b[c] : 0); });
    if (running_mean) running_mean[c] += momentum * (means[c] - running_mean[c]);
    if (running_variance)
      running_variance[c] += momentum * (squares / (elements - 1) - running_variance[c]);
  }
  store_all(e, out);
  store_all(means, args.tensor(first + 1));
  store_all(rstds, args.tensor(first + 2));
  if (mean) store_all(running_mean, *mean);
  if (variance) store_all(running_variance, *variance);
  return {};
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

// Mean and 1 / deviation of a run.
template <typename C>
std::pair<double, double> moments(const C* x, int64_t size, double epsilon) {
  double sum = 0;
  double squares = 0;
  const auto count = static_cast<double>(size);
  if constexpr (std::is_same_v<C, float>) {
    const VectorFunctions& vector = vector_functions();
    sum = static_cast<double>(vector.sum(x, size));
    // The mean as a float, and what that leaves out put right.
    const auto middle = static_cast<float>(sum / count);
    const double off = sum / count - static_cast<double>(middle);
    squares = static_cast<double>(vector.sum_of_squares(x, middle, size)) - count * off * off;
  } else {
    for (int64_t i = 0; i < size; ++i) sum += static_cast<double>(x[i]);
    const double mean = sum / count;
    for (int64_t i = 0; i < size; ++i)
      squares += (static_cast<double>(x[i]) - mean) * (static_cast<double>(x[i]) - mean);
  }
  return {sum / count, 1 / std::sqrt(squares / count + epsilon)};
}

// Normalizes runs of `size` elements of x into y. factor and term are called with the element's
// index.
template <typename C, typename Factor, typename Term>
void normalize(Context& context, const C* x, C* y, int64_t rows, int64_t size, double epsilon,
               C* means, C* rstds, Factor&& factor, Term&& term) {
  const auto grain = static_cast<size_t>(8192 / std::max<int64_t>(size, 1) + 1);
  context.parallel(static_cast<size_t>(rows), grain, [&](size_t begin, size_t end) {
    for (auto r = static_cast<int64_t>(begin); r < static_cast<int64_t>(end); ++r) {
      const C* from = x + r * size;
      C* to = y + r * size;
      const auto [mean, rstd] = moments(from, size, epsilon);
      means[r] = static_cast<C>(mean);
      rstds[r] = static_cast<C>(rstd);
      const auto m = static_cast<C>(mean);
      const auto s = static_cast<C>(rstd);
      for (int64_t i = 0; i < size; ++i)
        to[i] = (from[i] - m) * s * factor(r * size + i) + term(r * size + i);
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
    size *= shape[i];
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
    std::vector<float> nothing(static_cast<size_t>(args.tensor(6).numel()));
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
    normalize(
        context, x, results.data(), rows, size, epsilon, means, rstds,
        [=](int64_t i) { return w ? w[i % size] : C(1); },
        [=](int64_t i) { return b ? b[i % size] : C(0); });
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
    normalize(
        context, x, results.data(), rows, size, epsilon, means, rstds,
        [=](int64_t i) { return w ? w[i / inner % channels] : C(1); },
        [=](int64_t i) { return b ? b[i / inner % channels] : C(0); });
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
