// Discrete Fourier transforms along any dimensions of real and complex tensors.
//
// Lengths that are powers of two are halved again and again; others take Bluestein's way, which
// makes a convolution of them whose length is a power of two.
#include <cmath>
#include <complex>
#include <vector>

#include "kernels/element.h"
#include "kernels/tables.h"

namespace pteron {
namespace {

using Context = KernelContext;
using Complex = std::complex<double>;

// exp(sign * 2 pi i k / n), from the angle within one turn.
Complex root(int64_t k, int64_t n, int sign) {
  const double angle = 6.283185307179586 * static_cast<double>(k % n) / static_cast<double>(n);
  return {std::cos(angle), sign * std::sin(angle)};
}

// Products written out: std::complex's own look for NaN in each.
Complex product(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

class Transform {
 public:
  Transform(int64_t size, int sign) : sign_(sign), padded_(1) {
    const bool is_power = (size & (size - 1)) == 0;
    while (padded_ < (is_power ? size : 2 * size - 1)) padded_ *= 2;
    roots_.reserve(static_cast<size_t>(padded_ / 2));
    for (int64_t k = 0; k < padded_ / 2; ++k) roots_.push_back(root(k, padded_, 1));
    if (is_power) return;
    chirp_.reserve(static_cast<size_t>(size));
    // k squared modulo 2 n, stepwise, as it does not fit for long lines.
    int64_t square = 0;
    for (int64_t k = 0; k < size; ++k) {
      chirp_.push_back(root(square, 2 * size, sign));
      square = (square + 2 * k + 1) % (2 * size);
    }
    filter_.assign(static_cast<size_t>(padded_), 0);
    for (int64_t k = 0; k < size; ++k) {
      const Complex value = std::conj(chirp_[static_cast<size_t>(k)]);
      filter_[static_cast<size_t>(k)] = value;
      filter_[static_cast<size_t>((padded_ - k) % padded_)] = value;
    }
    halve(filter_, 1);
  }

  // Transforms `line`, of this size, in place.
  void run(std::vector<Complex>& line) {
    if (chirp_.empty()) {
      halve(line, sign_);
      return;
    }
    work_.assign(static_cast<size_t>(padded_), 0);
    for (size_t k = 0; k < chirp_.size(); ++k) work_[k] = product(line[k], chirp_[k]);
    halve(work_, 1);
    for (size_t k = 0; k < work_.size(); ++k) work_[k] = product(work_[k], filter_[k]);
    halve(work_, -1);
    const double scale = 1 / static_cast<double>(padded_);
    for (size_t k = 0; k < chirp_.size(); ++k) line[k] = product(work_[k], chirp_[k]) * scale;
  }

 private:
  // Cooley and Tukey's transform of a power of two.
  void halve(std::vector<Complex>& line, int sign) const {
    const size_t n = line.size();
    for (size_t i = 1, j = 0; i < n; ++i) {
      size_t bit = n / 2;
      for (; j & bit; bit /= 2) j ^= bit;
      j ^= bit;
      if (i < j) std::swap(line[i], line[j]);
    }
    for (size_t length = 2; length <= n; length *= 2) {
      const size_t step = n / length;
      for (size_t i = 0; i < n; i += length) {
        for (size_t k = 0; k < length / 2; ++k) {
          const Complex w = sign > 0 ? roots_[k * step] : std::conj(roots_[k * step]);
          const Complex odd = product(line[i + k + length / 2], w);
          line[i + k + length / 2] = line[i + k] - odd;
          line[i + k] += odd;
        }
      }
    }
  }

  int sign_;
  int64_t padded_;  // A power of two.
  std::vector<Complex> roots_;
  std::vector<Complex> chirp_;  // Empty where the size is a power of two.
  std::vector<Complex> filter_;
  std::vector<Complex> work_;
};

// A dense row-major array.
struct Field {
  std::vector<int64_t> sizes;
  std::vector<Complex> values;
};

void transform_dim(Field& field, size_t dim, int sign) {
  const int64_t size = field.sizes[dim];
  int64_t inner = 1;
  for (size_t d = dim + 1; d < field.sizes.size(); ++d) inner *= field.sizes[d];
  Transform transform(size, sign);
  std::vector<Complex> line(static_cast<size_t>(size));
  const int64_t lines = static_cast<int64_t>(field.values.size()) / size;
  for (int64_t i = 0; i < lines; ++i) {
    Complex* first = field.values.data() + i / inner * size * inner + i % inner;
    for (int64_t k = 0; k < size; ++k) line[static_cast<size_t>(k)] = first[k * inner];
    transform.run(line);
    for (int64_t k = 0; k < size; ++k) first[k * inner] = line[static_cast<size_t>(k)];
  }
}

bool is_complex(DType dtype) { return dtype == DType::Complex64 || dtype == DType::Complex128; }

Result<Field> read_field(const Tensor& in) {
  Field field;
  field.sizes.assign(in.sizes().begin(), in.sizes().end());
  field.values.reserve(static_cast<size_t>(in.numel()));
  walk_in_order(in, [&](int64_t, int64_t offset, int64_t stride, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = offset + i * stride;
      if (in.dtype() == DType::Complex64) {
        const float* pair = in.data<float>() + 2 * at;
        field.values.emplace_back(pair[0], pair[1]);
      } else if (in.dtype() == DType::Complex128) {
        const double* pair = in.data<double>() + 2 * at;
        field.values.emplace_back(pair[0], pair[1]);
      } else {
        double value = 0;
        load(in.dtype(), in.raw(), at, 1, 1, &value);
        field.values.emplace_back(value);
      }
    }
  });
  return field;
}

void write_field(const Field& field, Tensor& out) {
  walk_in_order(out, [&](int64_t position, int64_t offset, int64_t stride, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      const Complex value = field.values[static_cast<size_t>(position + i)];
      const int64_t at = offset + i * stride;
      if (out.dtype() == DType::Complex64) {
        out.data<float>()[2 * at] = static_cast<float>(value.real());
        out.data<float>()[2 * at + 1] = static_cast<float>(value.imag());
      } else if (out.dtype() == DType::Complex128) {
        out.data<double>()[2 * at] = value.real();
        out.data<double>()[2 * at + 1] = value.imag();
      } else {
        const double part = value.real();
        store(out.dtype(), out.raw(), at, 1, 1, &part);
      }
    }
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
  for (Complex& value : field.values) value *= scale;
  return {};
}

// Keeps the first `size` along a dimension, or fills up to it with what the symmetry of a real
// signal's transform says: the element at the mirrored place of all `dims`, conjugated.
Field resized(const Field& field, const std::vector<size_t>& dims, size_t dim, int64_t size) {
  Field out;
  out.sizes = field.sizes;
  out.sizes[dim] = size;
  std::vector<int64_t> index(field.sizes.size());
  int64_t count = 1;
  for (const int64_t n : out.sizes) count *= n;
  out.values.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const bool is_mirrored = index[dim] >= field.sizes[dim];
    int64_t at = 0;
    for (size_t d = 0; d < index.size(); ++d) {
      int64_t k = index[d];
      if (is_mirrored && std::find(dims.begin(), dims.end(), d) != dims.end())
        k = (out.sizes[d] - k) % out.sizes[d];
      at = at * field.sizes[d] + k;
    }
    const Complex value = field.values[static_cast<size_t>(at)];
    out.values.push_back(is_mirrored ? std::conj(value) : value);
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < out.sizes[d]) break;
      index[d] = 0;
    }
  }
  return out;
}

Result<void> real_to_complex(Context&, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(4);
  if (!is_float(in.dtype()) || !is_complex(out.dtype()))
    return kernel_error("_fft_r2c of " + args.describe(0) + " into " + args.describe(4));
  PTERON_ASSIGN(const std::vector<size_t> dims, read_dims(args));
  PTERON_ASSIGN(Field field, read_field(in));
  for (const size_t dim : dims) transform_dim(field, dim, -1);
  PTERON_TRY(normalize(field, dims, in.sizes(), args.integer(2)));
  if (args.boolean(3)) field = resized(field, dims, dims.back(), field.sizes[dims.back()] / 2 + 1);
  PTERON_TRY(out.resize(field.sizes));
  write_field(field, out);
  return {};
}

Result<void> complex_to_real(Context&, const Args& args, const Kernel&) {
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
  PTERON_ASSIGN(Field field, read_field(in));
  for (size_t i = 0; i + 1 < dims.size(); ++i) transform_dim(field, dims[i], 1);
  // After the other dimensions the symmetry is along the last alone.
  field = resized(field, {last}, last, size);
  // What a real signal's transform cannot have is left out, as the imaginary part of its mean.
  transform_dim(field, last, 1);
  PTERON_TRY(normalize(field, dims, field.sizes, args.integer(2)));
  PTERON_TRY(out.resize(field.sizes));
  write_field(field, out);
  return {};
}

Result<void> complex_to_complex(Context&, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(4);
  if (!is_complex(in.dtype()) || !is_complex(out.dtype()))
    return kernel_error("_fft_c2c of " + args.describe(0) + " into " + args.describe(4));
  PTERON_ASSIGN(const std::vector<size_t> dims, read_dims(args));
  PTERON_ASSIGN(Field field, read_field(in));
  for (const size_t dim : dims) transform_dim(field, dim, args.boolean(3) ? -1 : 1);
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
