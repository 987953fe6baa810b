// Discrete Fourier transforms along any dimensions of real and complex tensors.
//
// A dimension at a time, of dense row-major arrays: some lines are set side by side, transformed,
// and set back. Two lines of real numbers are transformed as the parts of one of complex numbers,
// and told apart by their symmetry.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "kernels/element.h"
#include "kernels/fourier.h"
#include "kernels/scratch.h"
#include "kernels/tables.h"

namespace pteron {
namespace {

using Context = KernelContext;

bool is_complex(DType dtype) { return dtype == DType::Complex64 || dtype == DType::Complex128; }
bool is_double(DType dtype) { return dtype == DType::Float64 || dtype == DType::Complex128; }

// The lines of a dense array [outer, size, inner] of numbers of `parts` parts.
struct Layout {
  int64_t size;
  int64_t inner;
  int64_t parts;

  int64_t start(int64_t line) const { return (line / inner * size * inner + line % inner) * parts; }
  int64_t step() const { return inner * parts; }                      // To a line's next number.
  int64_t next() const { return inner == 1 ? size * parts : parts; }  // To the next line.
};

// Sets `count` lines of pairs side by side: number k of line i at [k * width + i].
template <typename T>
void gather(const Layout& layout, const T* from, int64_t count, int64_t size, Lines<T> to,
            int64_t width) {
  if (layout.inner == 1) {
    vector_functions().fourier<T>().from_lines(from, layout.next(), count, 2 * size, to.real,
                                               to.imaginary, width);
    return;
  }
  for (int64_t k = 0; k < size; ++k) {
    const T* row = from + k * layout.step();
    T* __restrict real = to.real + k * width;
    T* __restrict imaginary = to.imaginary + k * width;
    for (int64_t i = 0; i < count; ++i) {
      real[i] = row[2 * i];
      imaginary[i] = row[2 * i + 1];
    }
  }
}
// The same of plain numbers.
template <typename T>
void gather_real(const Layout& layout, const T* from, int64_t count, int64_t size, T* to,
                 int64_t width) {
  if (layout.inner == 1) {
    vector_functions().fourier<T>().from_lines(from, layout.next(), count, size, to, to + width,
                                               2 * width);
    return;
  }
  for (int64_t k = 0; k < size; ++k) std::copy_n(from + k * layout.step(), count, to + k * width);
}

// The same back.
template <typename T>
void scatter(const Layout& layout, Lines<T> from, int64_t count, int64_t size, T* to,
             int64_t width) {
  if (layout.inner == 1) {
    vector_functions().fourier<T>().to_lines(from.real, from.imaginary, width, count, 2 * size, to,
                                             layout.next());
    return;
  }
  for (int64_t k = 0; k < size; ++k) {
    T* __restrict row = to + k * layout.step();
    const T* real = from.real + k * width;
    const T* imaginary = from.imaginary + k * width;
    for (int64_t i = 0; i < count; ++i) {
      row[2 * i] = real[i];
      row[2 * i + 1] = imaginary[i];
    }
  }
}
template <typename T>
void scatter_real(const Layout& layout, const T* from, int64_t count, int64_t size, T* to,
                  int64_t width) {
  if (layout.inner == 1) {
    vector_functions().fourier<T>().to_lines(from, from + width, 2 * width, count, size, to,
                                             layout.next());
    return;
  }
  for (int64_t k = 0; k < size; ++k) std::copy_n(from + k * width, count, to + k * layout.step());
}

// Lines that are transformed at a time, `left` of them as real parts and `right` as imaginary ones
// where they are pairs of real ones (else none).
struct Group {
  int64_t first;
  int64_t left;
  int64_t right;
  int64_t width;  // Of the rows: `left`, or more.
};

// As many rows of a group stay in the nearest cache.
constexpr int64_t kRows = 16;

// What is transformed along one dimension.
struct Pass {
  int64_t lines;
  int64_t size;  // Of the transform.
  int64_t inner;
  bool is_forward;
  bool in_pairs;
  double scale;  // Of the results.
};

// Calls fill(group, lines, spare), which sets lines side by side, transforms them, and calls
// take(group, lines, spare). `lines` and `spare` have as many rows as the size, at least 2 * kRows.
// Groups are shared among threads.
template <typename T, typename Fill, typename Take>
void transform_lines(Context& context, const Pass& pass, Fill&& fill, Take&& take) {
  if (pass.lines == 0) return;
  const Transform<T> transform(context, pass.size);
  const int64_t rows = std::max(transform.padded(), 2 * kRows);
  // A cache line of them; of long ones few, as their memory is.
  constexpr int64_t kLong = 1 << 14;
  const int64_t lanes = pass.size > kLong ? 1 : static_cast<int64_t>(64 / sizeof(T));
  // Lines whose starts are equally far apart.
  const int64_t run = pass.inner == 1 ? pass.lines : pass.inner;
  const int64_t most = std::min(run, pass.in_pairs ? 2 * lanes : lanes);
  const int64_t groups_a_run = (run - 1) / most + 1;
  const int64_t groups = pass.lines / run * groups_a_run;
  const int64_t slices = std::min<int64_t>(groups, 8);
  // A few lines are not worth whole vectors.
  const auto width_of = [lanes](int64_t left) { return 4 * left > lanes ? lanes : left; };
  const int64_t part = rows * width_of(pass.in_pairs ? (most + 1) / 2 : most);
  T* memory = context.scratch_array<T>(static_cast<size_t>(slices * 4 * part));
  const auto transform_group = [&](int64_t g, T* own) {
    const int64_t in_run = g % groups_a_run * most;
    const int64_t lines_here = std::min(most, run - in_run);
    Group group{g / groups_a_run * run + in_run, lines_here, 0, 0};
    if (pass.in_pairs) {
      group.left = (lines_here + 1) / 2;
      group.right = lines_here - group.left;
    }
    group.width = width_of(group.left);
    Lines<T> lines{own, own + part};
    Lines<T> spare{own + 2 * part, own + 3 * part};
    if (group.left < group.width || (pass.in_pairs && group.right < group.left))
      std::fill_n(own, 4 * part, T(0));
    fill(group, lines, spare);
    if (!pass.is_forward) {
      lines = lines.swapped();
      spare = spare.swapped();
    }
    transform.run(lines, spare, group.width);
    if (!pass.is_forward) {
      lines = lines.swapped();
      spare = spare.swapped();
    }
    if (pass.scale != 1) {
      const auto scale = static_cast<T>(pass.scale);
      for (int64_t i = 0; i < pass.size * group.width; ++i) {
        lines.real[i] *= scale;
        lines.imaginary[i] *= scale;
      }
    }
    take(group, lines, spare);
  };
  context.parallel(static_cast<size_t>(slices), 1, [&](size_t begin, size_t end) {
    const auto first = static_cast<int64_t>(begin);
    const auto past = static_cast<int64_t>(end);
    for (int64_t g = groups * first / slices; g < groups * past / slices; ++g)
      transform_group(g, memory + first * 4 * part);
  });
}

// From pairs to pairs; they may be the same.
template <typename T>
void transform_complex(Context& context, const Pass& pass, const T* from, T* to) {
  const Layout layout{pass.size, pass.inner, 2};
  transform_lines<T>(
      context, pass,
      [&](const Group& group, Lines<T> lines, Lines<T>) {
        gather(layout, from + layout.start(group.first), group.left, pass.size, lines, group.width);
      },
      [&](const Group& group, Lines<T> lines, Lines<T>) {
        scatter(layout, lines, group.left, pass.size, to + layout.start(group.first), group.width);
      });
}

// kRows of the transforms of real signals, in the memory of lines.
template <typename T>
struct Signals {
  Lines<T> left;
  Lines<T> right;

  Signals(Lines<T> memory, int64_t width)
      : left{memory.real, memory.real + kRows * width},
        right{memory.imaginary, memory.imaginary + kRows * width} {}
};

// From real numbers to pairs, half of them or all.
template <typename T>
void transform_real(Context& context, const Pass& pass, const T* from, T* to, bool is_half) {
  const int64_t size = pass.size;
  const int64_t half = size / 2 + 1;
  const Layout signal{size, pass.inner, 1};
  const Layout result{is_half ? half : size, pass.inner, 2};
  transform_lines<T>(
      context, pass,
      [&](const Group& group, Lines<T> lines, Lines<T>) {
        gather_real(signal, from + signal.start(group.first), group.left, size, lines.real,
                    group.width);
        gather_real(signal, from + signal.start(group.first + group.left), group.right, size,
                    lines.imaginary, group.width);
      },
      [&](const Group& group, Lines<T> lines, Lines<T> spare) {
        const Signals<T> rows(spare, group.width);
        T* left = to + result.start(group.first);
        T* right = to + result.start(group.first + group.left);
        for (int64_t first = 0; first < half; first += kRows) {
          const int64_t end = std::min(half, first + kRows);
          const int64_t at = first * result.step();
          for (int64_t k = first; k < end; ++k) {
            const int64_t row = (k - first) * group.width;
            vector_functions().fourier<T>().untangle(
                lines + k * group.width, lines + (size - k) % size * group.width, group.width,
                rows.left + row, rows.right + row);
          }
          scatter(result, rows.left, group.left, end - first, left + at, group.width);
          scatter(result, rows.right, group.right, end - first, right + at, group.width);
        }
        for (int64_t i = 0; i < group.left + group.right && !is_half; ++i) {
          T* line = left + i * result.next();
          for (int64_t k = half; k < size; ++k) {
            line[k * result.step()] = line[(size - k) * result.step()];
            line[k * result.step() + 1] = -line[(size - k) * result.step() + 1];
          }
        }
      });
}

// From the first halves, in pairs, of real signals' transforms to the signals.
template <typename T>
void transform_back(Context& context, const Pass& pass, const T* from, T* to) {
  const int64_t size = pass.size;
  const int64_t half = size / 2 + 1;
  const Layout given{half, pass.inner, 2};
  const Layout signal{size, pass.inner, 1};
  transform_lines<T>(
      context, pass,
      [&](const Group& group, Lines<T> lines, Lines<T> spare) {
        const Signals<T> rows(spare, group.width);
        const T* left = from + given.start(group.first);
        const T* right = from + given.start(group.first + group.left);
        for (int64_t first = 0; first < half; first += kRows) {
          const int64_t end = std::min(half, first + kRows);
          const int64_t at = first * given.step();
          gather(given, left + at, group.left, end - first, rows.left, group.width);
          gather(given, right + at, group.right, end - first, rows.right, group.width);
          for (int64_t k = first; k < end; ++k) {
            const int64_t row = (k - first) * group.width;
            const int64_t mirrored = (size - k) % size;
            // What a real signal's transform cannot have, as the imaginary part of its mean, is
            // left out.
            if (mirrored == k) {
              std::fill_n(rows.left.imaginary + row, group.width, T(0));
              std::fill_n(rows.right.imaginary + row, group.width, T(0));
            }
            vector_functions().fourier<T>().tangle(rows.left + row, rows.right + row, group.width,
                                                   lines + k * group.width,
                                                   lines + mirrored * group.width);
          }
        }
      },
      [&](const Group& group, Lines<T> lines, Lines<T>) {
        scatter_real(signal, lines.real, group.left, size, to + signal.start(group.first),
                     group.width);
        scatter_real(signal, lines.imaginary, group.right, size,
                     to + signal.start(group.first + group.left), group.width);
      });
}

// A dense row-major array of pairs: the tensor's own, or a copy in scratch memory.
template <typename T>
constexpr DType kComplex = std::is_same_v<T, double> ? DType::Complex128 : DType::Complex64;
template <typename T>
const T* complex_elements(Context& context, const Tensor& in) {
  if (in.dtype() == kComplex<T> && in.is_row_major()) return static_cast<const T*>(in.raw());
  T* copy = context.scratch_array<T>(static_cast<size_t>(2 * in.numel()));
  walk_in_order(in, [&](int64_t position, int64_t offset, int64_t stride, int64_t n) {
    const auto read = [&](const auto* pairs) {
      for (int64_t i = 0; i < n; ++i) {
        copy[2 * (position + i)] = static_cast<T>(pairs[2 * (offset + i * stride)]);
        copy[2 * (position + i) + 1] = static_cast<T>(pairs[2 * (offset + i * stride) + 1]);
      }
    };
    in.dtype() == DType::Complex64 ? read(in.data<const float>()) : read(in.data<const double>());
  });
  return copy;
}

// The same for an output, which is written when all of it is there: store() at the end.
template <typename T>
class ComplexResults {
 public:
  ComplexResults(Context& context, Tensor& tensor)
      : tensor_(tensor), own_(tensor.dtype() == kComplex<T> && tensor.is_row_major()) {
    data_ = own_ ? static_cast<T*>(tensor.raw())
                 : context.scratch_array<T>(static_cast<size_t>(2 * tensor.numel()));
  }
  T* data() const { return data_; }
  void store() {
    if (own_) return;
    walk_in_order(tensor_, [&](int64_t position, int64_t offset, int64_t stride, int64_t n) {
      const auto write = [&](auto* pairs) {
        using To = std::remove_reference_t<decltype(*pairs)>;
        for (int64_t i = 0; i < n; ++i) {
          pairs[2 * (offset + i * stride)] = static_cast<To>(data_[2 * (position + i)]);
          pairs[2 * (offset + i * stride) + 1] = static_cast<To>(data_[2 * (position + i) + 1]);
        }
      };
      tensor_.dtype() == DType::Complex64 ? write(tensor_.data<float>())
                                          : write(tensor_.data<double>());
    });
  }

 private:
  Tensor& tensor_;
  bool own_;
  T* data_;
};

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

// What a transform's results are multiplied by. Mode 0: nothing; 1: the root of the number of
// elements divides them; 2: the number does.
Result<double> read_scale(const Args& args, const std::vector<size_t>& dims,
                          std::span<const int64_t> sizes) {
  const int64_t mode = args.integer(2);
  if (mode < 0 || mode > 2)
    return kernel_error("normalization " + std::to_string(mode) + " in argument 2" +
                        "; 0, 1 or 2 is wanted");
  double count = 1;
  for (const size_t dim : dims) count *= static_cast<double>(sizes[dim]);
  return mode == 0 ? 1 : mode == 1 ? 1 / std::sqrt(count) : 1 / count;
}

// A pass along dimension `dim` of an array of these sizes.
Pass pass_along(std::span<const int64_t> sizes, size_t dim, bool is_forward) {
  Pass pass{1, sizes[dim], 1, is_forward, false, 1};
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (d != dim) pass.lines *= sizes[d];
    if (d > dim) pass.inner *= sizes[d];
  }
  return pass;
}

// Calls use(T()) with the type to compute in: float, but for doubles and for lengths that cost
// digits.
template <typename Use>
void with_precision(const Args& args, const std::vector<size_t>& dims,
                    std::span<const int64_t> sizes, Use&& use) {
  bool needs_double = is_double(args.tensor(0).dtype()) || is_double(args.tensor(4).dtype());
  for (const size_t dim : dims) needs_double = needs_double || rough_part(sizes[dim]) != 1;
  needs_double ? use(double()) : use(float());
}

Result<void> real_to_complex(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const bool is_half = args.boolean(3);
  Tensor& out = args.tensor(4);
  if (!is_float(in.dtype()) || !is_complex(out.dtype()))
    return kernel_error("_fft_r2c of " + args.describe(0) + " into " + args.describe(4));
  PTERON_ASSIGN(const std::vector<size_t> dims, read_dims(args));
  PTERON_ASSIGN(const double scale, read_scale(args, dims, in.sizes()));
  std::vector<int64_t> sizes(in.sizes().begin(), in.sizes().end());
  if (is_half) sizes[dims.back()] = sizes[dims.back()] / 2 + 1;
  PTERON_TRY(out.resize(sizes));
  if (out.numel() == 0) return {};
  with_precision(args, dims, in.sizes(), [&](auto type) {
    using T = decltype(type);
    ComplexResults<T> results(context, out);
    Pass pass = pass_along(in.sizes(), dims.back(), true);
    pass.in_pairs = true;
    pass.scale = scale;
    transform_real(context, pass, elements<T>(context, in), results.data(), is_half);
    for (size_t i = 0; i + 1 < dims.size(); ++i)
      transform_complex<T>(context, pass_along(sizes, dims[i], true), results.data(),
                           results.data());
    results.store();
  });
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
  std::vector<int64_t> sizes(in.sizes().begin(), in.sizes().end());
  sizes[last] = size;
  PTERON_ASSIGN(const double scale, read_scale(args, dims, sizes));
  PTERON_TRY(out.resize(sizes));
  if (out.numel() == 0) return {};
  with_precision(args, dims, sizes, [&](auto type) {
    using T = decltype(type);
    const T* from = complex_elements<T>(context, in);
    // After the other dimensions the symmetry is along the last alone.
    if (dims.size() > 1) {
      T* between = context.scratch_array<T>(static_cast<size_t>(2 * in.numel()));
      for (size_t i = 0; i + 1 < dims.size(); ++i) {
        transform_complex<T>(context, pass_along(in.sizes(), dims[i], false), from, between);
        from = between;
      }
    }
    Results<T> results(context, out);
    Pass pass = pass_along(sizes, last, false);
    pass.in_pairs = true;
    pass.scale = scale;
    transform_back(context, pass, from, results.data());
    results.store();
  });
  return {};
}

Result<void> complex_to_complex(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const bool is_forward = args.boolean(3);
  Tensor& out = args.tensor(4);
  if (!is_complex(in.dtype()) || !is_complex(out.dtype()))
    return kernel_error("_fft_c2c of " + args.describe(0) + " into " + args.describe(4));
  PTERON_ASSIGN(const std::vector<size_t> dims, read_dims(args));
  PTERON_ASSIGN(const double scale, read_scale(args, dims, in.sizes()));
  PTERON_TRY(out.resize(in.sizes()));
  if (out.numel() == 0) return {};
  with_precision(args, dims, in.sizes(), [&](auto type) {
    using T = decltype(type);
    const T* from = complex_elements<T>(context, in);
    ComplexResults<T> results(context, out);
    for (const size_t dim : dims) {
      Pass pass = pass_along(in.sizes(), dim, is_forward);
      if (dim == dims.back()) pass.scale = scale;
      transform_complex<T>(context, pass, from, results.data());
      from = results.data();
    }
    results.store();
  });
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
