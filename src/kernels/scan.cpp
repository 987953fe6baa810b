// Running sums.
#include <type_traits>

#include "kernels/fold.h"
#include "kernels/tables.h"

namespace pteron {
namespace {

using Context = KernelContext;

Result<void> cumsum_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(3);
  PTERON_TRY(check_numbers(in, out));
  PTERON_ASSIGN(const int dim, read_dim(args, 1, in.rank()));
  PTERON_TRY(out.resize(in.sizes()));
  if (in.numel() == 0) return {};
  return with_compute_type(sum_type(in, out), [&](auto type) -> Result<void> {
    using C = decltype(type);
    const C* x = elements<C>(context, in);
    Results<C> results(context, out);
    C* y = results.data();
    int64_t inner = 1;
    for (int d = dim + 1; d < in.rank(); ++d) inner *= in.size(d);
    const int64_t size = in.rank() > 0 ? in.size(dim) : 1;
    const auto runs = static_cast<size_t>(in.numel() / (size * inner));
    const auto grain = static_cast<size_t>(16384 / (size * inner) + 1);
    // PyTorch's running sums of float32 are of doubles.
    using Total = std::conditional_t<std::is_same_v<C, float>, double, C>;
    constexpr int64_t kAbreast = 64;  // Sums that run side by side.
    context.parallel(runs, grain, [=](size_t begin, size_t end) {
      for (auto r = static_cast<int64_t>(begin); r < static_cast<int64_t>(end); ++r) {
        const C* from = x + r * size * inner;
        C* to = y + r * size * inner;
        if (inner == 1) {
          Total total = 0;
          for (int64_t i = 0; i < size; ++i)
            to[i] = static_cast<C>(total = wrapping_add(total, static_cast<Total>(from[i])));
          continue;
        }
        for (int64_t first = 0; first < inner; first += kAbreast) {
          const int64_t width = std::min(inner - first, kAbreast);
          Total totals[kAbreast]{};
          for (int64_t i = first; i < size * inner; i += inner) {
            for (int64_t c = 0; c < width; ++c)
              to[i + c] = static_cast<C>(
                  totals[c] = wrapping_add(totals[c], static_cast<Total>(from[i + c])));
          }
        }
      }
    });
    results.store();
    return {};
  });
}

constexpr Kernel kTable[] = {
    {"aten::cumsum.out", "TIi>T", cumsum_},
};

}  // namespace

std::span<const Kernel> scan_kernels() { return kTable; }

}  // namespace pteron
