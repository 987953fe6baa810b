// Discrete Fourier transforms along any dimensions of real and complex tensors.
//
// Lengths that are powers of two are quartered again and again (Stockham's way, without
// reordering); others take Bluestein's way, which makes a convolution of them whose length is a
// power of two. Some lines are transformed at a time, side by side, so that all of it is vectors.
#include <array>
#include <cmath>
#include <complex>
#include <vector>

#include "kernels/element.h"
#include "kernels/scratch.h"
#include "kernels/tables.h"
#include "kernels/vector/functions.h"

namespace pteron {
namespace {

using Context = KernelContext;
using Complex = std::complex<double>;

// exp(sign * 2 pi i k / n), from the angle within one turn.
Complex root(int64_t k, int64_t n, int sign) {
  const double angle = 6.283185307179586 * static_cast<double>(k % n) / static_cast<double>(n);
  return {std::cos(angle), sign * std::sin(angle)};
}

constexpr int64_t kLanes = 8;  // Lines side by side.

// Numbers [size, kLanes], real and imaginary parts apart.
struct Lines {
  double* real;
  double* imaginary;
};

// A transform of a power of two.
class Powers {
 public:
  Powers(Context& context, int64_t size, int sign) : size_(size), sign_(sign) {
    for (int64_t n = size; n >= 4; n /= 4) {
      auto factors = scratch_vector<double>(context);
      factors.reserve(static_cast<size_t>(n / 4 * 6));
      for (int64_t p = 0; p < n / 4; ++p) {
        if (!stages_.empty()) {
          // Those of the stage before, every fourth.
          const double* before = stages_.back().data() + 4 * p * 6;
          factors.insert(factors.end(), before, before + 6);
          continue;
        }
        for (int64_t power = 1; power <= 3; ++power) {
          const Complex w = root(power * p, n, sign);
          factors.push_back(w.real());
          factors.push_back(w.imag());
        }
      }
      stages_.push_back(std::move(factors));
    }
  }

  // Transforms `lines` by way of `other`, and says in which of the two the result is.
  Lines run(Lines lines, Lines other) const {
    const VectorFunctions& vector = vector_functions();
    int64_t n = size_;
    int64_t s = kLanes;
    for (const ScratchVector<double>& factors : stages_) {
      vector.fourier4(lines.real, lines.imaginary, other.real, other.imaginary, n / 4, s,
                      factors.data(), sign_);
      std::swap(lines, other);
      n /= 4;
      s *= 4;
    }
    if (n == 2) {
      for (auto [from, to] :
           {std::pair(lines.real, other.real), std::pair(lines.imaginary, other.imaginary)}) {
        for (int64_t q = 0; q < s; ++q) {
          to[q] = from[q] + from[q + s];
          to[q + s] = from[q] - from[q + s];
        }
      }
      std::swap(lines, other);
    }
    return lines;
  }

 private:
  int64_t size_;
  int sign_;
  std::vector<ScratchVector<double>> stages_;
};

class Transform {
 public:
  Transform(Context& context, int64_t size, int sign)
      : Transform(context, size, sign, padded_size(size)) {}

  // How long the lines' memory must be: Bluestein's way needs more than their size.
  int64_t padded() const { return padded_; }

  // Transforms lines of this size; see Powers::run.
  Lines run(Lines lines, Lines other) const {
    if (chirp_.empty()) return forward_.run(lines, other);
    const auto size = static_cast<int64_t>(chirp_.size());
    multiply(lines, chirp_, 1);
    std::fill(lines.real + size * kLanes, lines.real + padded_ * kLanes, 0.0);
    std::fill(lines.imaginary + size * kLanes, lines.imaginary + padded_ * kLanes, 0.0);
    Lines there = forward_.run(lines, other);
    multiply(there, filter_, 1);
    Lines back = back_.run(there, there.real == lines.real ? other : lines);
    multiply(back, chirp_, 1 / static_cast<double>(padded_));
    return back;
  }

 private:
  Transform(Context& context, int64_t size, int sign, int64_t padded)
      : padded_(padded),
        forward_(context, padded, padded == size ? sign : 1),
        back_(context, padded == size ? 1 : padded, -1),
        chirp_(scratch_vector<Complex>(context)),
        filter_(scratch_vector<Complex>(context)) {
    if (padded == size) return;
    chirp_.reserve(static_cast<size_t>(size));
    // k squared modulo 2 n, stepwise, as it does not fit for long lines.
    int64_t square = 0;
    for (int64_t k = 0; k < size; ++k) {
      chirp_.push_back(root(square, 2 * size, sign));
      square = (square + 2 * k + 1) % (2 * size);
    }
    auto parts = scratch_vector<double>(context, static_cast<size_t>(4 * padded * kLanes));
    double* data = parts.data();
    const Lines lines{data, data + padded * kLanes};
    for (int64_t k = 0; k < size; ++k) {
      const Complex value = std::conj(chirp_[static_cast<size_t>(k)]);
      for (const int64_t at : {k, (padded - k) % padded}) {
        lines.real[at * kLanes] = value.real();
        lines.imaginary[at * kLanes] = value.imag();
      }
    }
    const Lines done =
        forward_.run(lines, {data + 2 * padded * kLanes, data + 3 * padded * kLanes});
    filter_.reserve(static_cast<size_t>(padded));
    for (int64_t k = 0; k < padded; ++k)
      filter_.emplace_back(done.real[k * kLanes], done.imaginary[k * kLanes]);
  }

  static int64_t padded_size(int64_t size) {
    if ((size & (size - 1)) == 0) return size;
    int64_t padded = 1;
    while (padded < 2 * size - 1) padded *= 2;
    return padded;
  }

  static void multiply(Lines lines, const ScratchVector<Complex>& by, double scale) {
    for (size_t k = 0; k < by.size(); ++k) {
      const double real = by[k].real() * scale;
      const double imaginary = by[k].imag() * scale;
      double* r = lines.real + k * kLanes;
      double* i = lines.imaginary + k * kLanes;
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        const double part = r[lane];
        r[lane] = part * real - i[lane] * imaginary;
        i[lane] = part * imaginary + i[lane] * real;
      }
    }
  }

  int64_t padded_;
  Powers forward_;
  Powers back_;
  ScratchVector<Complex> chirp_;  // Empty where the size is a power of two.
  ScratchVector<Complex> filter_;
};

// A dense row-major array.
struct Field {
  std::vector<int64_t> sizes;
  ScratchVector<double> real, imaginary;

  explicit Field(Context& context) : real(scratch_vector<double>(context)), imaginary(real) {}

  int64_t count() const { return static_cast<int64_t>(real.size()); }
  void resize(std::span<const int64_t> shape) {
    sizes.assign(shape.begin(), shape.end());
    int64_t total = 1;
    for (const int64_t size : shape) total *= size;
    real.assign(static_cast<size_t>(total), 0);
    imaginary.assign(static_cast<size_t>(total), 0);
  }
  int64_t inner(size_t dim) const {
    int64_t product = 1;
    for (size_t d = dim + 1; d < sizes.size(); ++d) product *= sizes[d];
    return product;
  }
};

// Where lines along a dimension begin.
struct Starts {
  int64_t size;
  int64_t inner;
  int64_t operator()(int64_t line) const { return line / inner * size * inner + line % inner; }
};

// Calls fill(first, lanes, lines) for groups of up to kLanes lines, which it sets in as many lanes,
// transforms them, and calls take(first, lanes, lines). Groups are shared among threads.
template <typename Fill, typename Take>
void transform_lines(Context& context, int64_t count, int64_t size, int sign, Fill&& fill,
                     Take&& take) {
  if (count == 0) return;
  const Transform transform(context, size, sign);
  const int64_t groups = (count + kLanes - 1) / kLanes;
  const int64_t slices = std::min<int64_t>(groups, 8);
  const int64_t part = transform.padded() * kLanes;
  double* memory = context.scratch_array<double>(static_cast<size_t>(slices * 4 * part));
  context.parallel(static_cast<size_t>(slices), 1, [&](size_t begin, size_t end) {
    for (auto slice = static_cast<int64_t>(begin); slice < static_cast<int64_t>(end); ++slice) {
      double* own = memory + slice * 4 * part;
      const Lines lines{own, own + part};
      for (int64_t g = groups * slice / slices; g < groups * (slice + 1) / slices; ++g) {
        const int64_t lanes = std::min(kLanes, count - g * kLanes);
        if (lanes < kLanes) std::fill_n(own, 2 * part, 0.0);
        fill(g * kLanes, lanes, lines);
        take(g * kLanes, lanes, transform.run(lines, {own + 2 * part, own + 3 * part}));
      }
    }
  });
}

// The starts of up to kLanes lines, or of every second one from `first`; those that are not there
// start where the first one does.
std::array<int64_t, kLanes> starts_of(const Starts& starts, int64_t first, int64_t step,
                                      int64_t lanes, int64_t count) {
  std::array<int64_t, kLanes> result{};
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    const int64_t line = first + lane * step;
    result[static_cast<size_t>(lane)] = starts(lane < lanes && line < count ? line : 0);
  }
  return result;
}

void transform_dim(Context& context, Field& field, size_t dim, int sign) {
  const int64_t size = field.sizes[dim];
  const int64_t inner = field.inner(dim);
  const int64_t count = field.count() / size;
  const Starts starts{size, inner};
  double* real = field.real.data();
  double* imaginary = field.imaginary.data();
  transform_lines(
      context, count, size, sign,
      [&](int64_t first, int64_t lanes, Lines to) {
        const auto at = starts_of(starts, first, 1, lanes, count);
        for (int64_t k = 0; k < size; ++k) {
          for (size_t lane = 0; lane < kLanes; ++lane) {
            to.real[k * kLanes + static_cast<int64_t>(lane)] = real[at[lane] + k * inner];
            to.imaginary[k * kLanes + static_cast<int64_t>(lane)] = imaginary[at[lane] + k * inner];
          }
        }
      },
      [&](int64_t first, int64_t lanes, Lines from) {
        const auto at = starts_of(starts, first, 1, lanes, count);
        for (int64_t k = 0; k < size; ++k) {
          for (int64_t lane = 0; lane < lanes; ++lane) {
            real[at[static_cast<size_t>(lane)] + k * inner] = from.real[k * kLanes + lane];
            imaginary[at[static_cast<size_t>(lane)] + k * inner] =
                from.imaginary[k * kLanes + lane];
          }
        }
      });
}

// The same where all imaginary parts are 0: two lines are transformed as the parts of one, and told
// apart by their symmetry.
void transform_real_dim(Context& context, Field& field, size_t dim, int sign) {
  const int64_t size = field.sizes[dim];
  const int64_t inner = field.inner(dim);
  const int64_t count = field.count() / size;
  const Starts starts{size, inner};
  double* real = field.real.data();
  double* imaginary = field.imaginary.data();
  transform_lines(
      context, (count + 1) / 2, size, sign,
      [&](int64_t first, int64_t lanes, Lines to) {
        const auto left = starts_of(starts, 2 * first, 2, lanes, count);
        const auto right = starts_of(starts, 2 * first + 1, 2, lanes, count);
        for (int64_t k = 0; k < size; ++k) {
          for (size_t lane = 0; lane < kLanes; ++lane) {
            to.real[k * kLanes + static_cast<int64_t>(lane)] = real[left[lane] + k * inner];
            to.imaginary[k * kLanes + static_cast<int64_t>(lane)] = real[right[lane] + k * inner];
          }
        }
      },
      [&](int64_t first, int64_t lanes, Lines from) {
        const auto left = starts_of(starts, 2 * first, 2, lanes, count);
        const auto right = starts_of(starts, 2 * first + 1, 2, lanes, count);
        for (int64_t k = 0; k < size; ++k) {
          const int64_t mirrored = k == 0 ? 0 : size - k;
          for (int64_t lane = 0; lane < lanes; ++lane) {
            const double r = from.real[k * kLanes + lane];
            const double i = from.imaginary[k * kLanes + lane];
            const double mr = from.real[mirrored * kLanes + lane];
            const double mi = from.imaginary[mirrored * kLanes + lane];
            const int64_t to = left[static_cast<size_t>(lane)] + k * inner;
            real[to] = (r + mr) / 2;
            imaginary[to] = (i - mi) / 2;
            if (2 * (first + lane) + 1 >= count) continue;
            const int64_t next = right[static_cast<size_t>(lane)] + k * inner;
            real[next] = (i + mi) / 2;
            imaginary[next] = (mr - r) / 2;
          }
        }
      });
}

// From the first half of a real signal's transform to the signal, along the last of the transformed
// dimensions: two lines as the parts of one. What a real signal's transform cannot have, as the
// imaginary part of its mean, is left out.
Field real_signal(Context& context, const Field& half, size_t dim, int64_t size, int sign) {
  Field out(context);
  std::vector<int64_t> shape = half.sizes;
  shape[dim] = size;
  out.resize(shape);
  const int64_t inner = half.inner(dim);
  const int64_t given = half.sizes[dim];
  const int64_t count = out.count() / size;
  const Starts from_starts{given, inner};
  const Starts to_starts{size, inner};
  const double* real = half.real.data();
  const double* imaginary = half.imaginary.data();
  transform_lines(
      context, (count + 1) / 2, size, sign,
      [&](int64_t first, int64_t lanes, Lines to) {
        const auto left = starts_of(from_starts, 2 * first, 2, lanes, count);
        const auto right = starts_of(from_starts, 2 * first + 1, 2, lanes, count);
        for (int64_t k = 0; k < size; ++k) {
          const bool is_mirrored = k >= given;
          const int64_t at = (is_mirrored ? size - k : k) * inner;
          const double turn = k == 0 || 2 * k == size ? 0.0 : is_mirrored ? -1.0 : 1.0;
          for (size_t lane = 0; lane < kLanes; ++lane) {
            const int64_t a = left[lane] + at;
            const int64_t b = right[lane] + at;
            to.real[k * kLanes + static_cast<int64_t>(lane)] =
                real[a] - (turn == 0 ? 0.0 : turn * imaginary[b]);
            to.imaginary[k * kLanes + static_cast<int64_t>(lane)] =
                real[b] + (turn == 0 ? 0.0 : turn * imaginary[a]);
          }
        }
      },
      [&](int64_t first, int64_t lanes, Lines from) {
        const auto left = starts_of(to_starts, 2 * first, 2, lanes, count);
        const auto right = starts_of(to_starts, 2 * first + 1, 2, lanes, count);
        for (int64_t k = 0; k < size; ++k) {
          for (int64_t lane = 0; lane < lanes; ++lane) {
            out.real[static_cast<size_t>(left[static_cast<size_t>(lane)] + k * inner)] =
                from.real[k * kLanes + lane];
            if (2 * (first + lane) + 1 >= count) continue;
            out.real[static_cast<size_t>(right[static_cast<size_t>(lane)] + k * inner)] =
                from.imaginary[k * kLanes + lane];
          }
        }
      });
  return out;
}

bool is_complex(DType dtype) { return dtype == DType::Complex64 || dtype == DType::Complex128; }

Field read_field(Context& context, const Tensor& in) {
  Field field(context);
  field.resize(in.sizes());
  double* real = field.real.data();
  double* imaginary = field.imaginary.data();
  walk_in_order(in, [&](int64_t position, int64_t offset, int64_t stride, int64_t n) {
    if (!is_complex(in.dtype()))
      return load(in.dtype(), in.raw(), offset, stride, n, real + position);
    const auto split = [&](const auto* pairs) {
      for (int64_t i = 0; i < n; ++i) {
        real[position + i] = static_cast<double>(pairs[2 * (offset + i * stride)]);
        imaginary[position + i] = static_cast<double>(pairs[2 * (offset + i * stride) + 1]);
      }
    };
    in.dtype() == DType::Complex64 ? split(in.data<const float>()) : split(in.data<const double>());
  });
  return field;
}

void write_field(const Field& field, Tensor& out) {
  walk_in_order(out, [&](int64_t position, int64_t offset, int64_t stride, int64_t n) {
    const double* real = field.real.data() + position;
    const double* imaginary = field.imaginary.data() + position;
    if (!is_complex(out.dtype())) return store(out.dtype(), out.raw(), offset, stride, n, real);
    const auto join = [&](auto* pairs) {
      using T = std::remove_reference_t<decltype(*pairs)>;
      for (int64_t i = 0; i < n; ++i) {
        pairs[2 * (offset + i * stride)] = static_cast<T>(real[i]);
        pairs[2 * (offset + i * stride) + 1] = static_cast<T>(imaginary[i]);
      }
    };
    out.dtype() == DType::Complex64 ? join(out.data<float>()) : join(out.data<double>());
  });
}

Result<std::vector<size_t>> read_dims(const Args& args) {
  const Tensor& in = args.tensor(0);
  std::vector<size_t> read;
  uint32_t seen = 0;
  for (const int64_t dim : args.ints(1)) {
    if (in.rank() == 0) return kernel_error("a Fourier transform of " + args.describe(0));
    PTERON_ASSIGN(const int wrapped, wrap_dim(dim, in.rank()));
    if (seen & (uint32_t{1} << wrapped) || in.size(wrapped) == 0)
      return kernel_error("a Fourier transform of " + args.describe(0) + " along " +
                          args.describe(1));
    seen |= uint32_t{1} << wrapped;
    read.push_back(static_cast<size_t>(wrapped));
  }
  if (read.empty())
    return kernel_error("a Fourier transform along no dimension: " + args.describe(1));
  return read;
}

// 0: as it is; 1: divided by the root of the number of elements; 2: by the number.
Result<void> normalize(Field& field, const std::vector<size_t>& dims, std::span<const int64_t> of,
                       int64_t mode) {
  if (mode < 0 || mode > 2)
    return kernel_error("normalization " + std::to_string(mode) + " in argument 2" +
                        "; 0, 1 or 2 is wanted");
  double count = 1;
  for (const size_t dim : dims) count *= static_cast<double>(of[dim]);
  const double scale = mode == 0 ? 1 : mode == 1 ? 1 / std::sqrt(count) : 1 / count;
  if (scale == 1) return {};
  for (double& value : field.real) value *= scale;
  for (double& value : field.imaginary) value *= scale;
  return {};
}

// The first `size` along a dimension.
Field cut(Context& context, const Field& field, size_t dim, int64_t size) {
  Field out(context);
  std::vector<int64_t> shape = field.sizes;
  shape[dim] = size;
  out.resize(shape);
  const int64_t inner = field.inner(dim);
  const int64_t from = field.sizes[dim] * inner;
  const int64_t to = size * inner;
  for (int64_t i = 0; i < out.count() / std::max<int64_t>(to, 1); ++i) {
    std::copy_n(field.real.data() + i * from, to, out.real.data() + i * to);
    std::copy_n(field.imaginary.data() + i * from, to, out.imaginary.data() + i * to);
  }
  return out;
}

Result<void> real_to_complex(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(4);
  if (!is_float(in.dtype()) || !is_complex(out.dtype()))
    return kernel_error("_fft_r2c of " + args.describe(0) + " into " + args.describe(4));
  PTERON_ASSIGN(const std::vector<size_t> dims, read_dims(args));
  Field field = read_field(context, in);
  if (field.count() > 0) transform_real_dim(context, field, dims.front(), -1);
  for (size_t i = 1; i < dims.size() && field.count() > 0; ++i)
    transform_dim(context, field, dims[i], -1);
  PTERON_TRY(normalize(field, dims, in.sizes(), args.integer(2)));
  if (args.boolean(3)) field = cut(context, field, dims.back(), field.sizes[dims.back()] / 2 + 1);
  PTERON_TRY(out.resize(field.sizes));
  write_field(field, out);
  return {};
}

Result<void> complex_to_real(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const int64_t size = args.integer(3);
  Tensor& out = args.tensor(4);
  if (!is_complex(in.dtype()) || !is_float(out.dtype()))
    return kernel_error("_fft_c2r of " + args.describe(0) + " into " + args.describe(4));
  PTERON_ASSIGN(const std::vector<size_t> dims, read_dims(args));
  const size_t last = dims.back();
  // The half that is there must be that of a signal of this size.
  if (size < 1 || in.sizes()[last] != size / 2 + 1)
    return kernel_error("_fft_c2r of " + args.describe(0) + " to a last dimension of " +
                        args.describe(3));
  Field field = read_field(context, in);
  for (size_t i = 0; i + 1 < dims.size() && field.count() > 0; ++i)
    transform_dim(context, field, dims[i], 1);
  // After the other dimensions the symmetry is along the last alone.
  field = real_signal(context, field, last, size, 1);
  PTERON_TRY(normalize(field, dims, field.sizes, args.integer(2)));
  PTERON_TRY(out.resize(field.sizes));
  write_field(field, out);
  return {};
}

Result<void> complex_to_complex(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(4);
  if (!is_complex(in.dtype()) || !is_complex(out.dtype()))
    return kernel_error("_fft_c2c of " + args.describe(0) + " into " + args.describe(4));
  PTERON_ASSIGN(const std::vector<size_t> dims, read_dims(args));
  Field field = read_field(context, in);
  for (const size_t dim : dims) {
    if (field.count() > 0) transform_dim(context, field, dim, args.boolean(3) ? -1 : 1);
  }
  PTERON_TRY(normalize(field, dims, in.sizes(), args.integer(2)));
  PTERON_TRY(out.resize(field.sizes));
  write_field(field, out);
  return {};
}

constexpr Kernel kTable[] = {
    {"aten::_fft_c2c.out", "TLIB>T", complex_to_complex},
    {"aten::_fft_c2r.out", "TLII>T", complex_to_real},
    {"aten::_fft_r2c.out", "TLIB>T", real_to_complex},
};

}  // namespace

std::span<const Kernel> fft_kernels() { return kTable; }

}  // namespace pteron
