// Runs a program with an operator of its own, my_ops::scale, which this file implements: y = x *
// factor. export_scale.py made the program.
//
// usage: custom_operator scale.pte
#include <cstdio>
#include <exception>
#include <pteron/pteron.hpp>
#include <vector>

namespace {

// The operator's arguments are those of its ".out" form, in PyTorch's order: x, factor, out. The
// library has checked their kinds; dtypes and shapes are the operator's affair.
void scale(pteron::Call& call) {
  const pteron::Tensor x = call[0].tensor();
  const double factor = call[1].real();
  const pteron::Tensor out = call.resize(2, x.shape());
  const float* from = x.data<float>();  // Throws if the dtype is another: the run fails with that.
  float* to = out.data<float>();
  call.parallel_for(x.size(), 4096, [=](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) to[i] = static_cast<float>(from[i] * factor);
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: custom_operator scale.pte\n");
    return 2;
  }
  try {
    // Tensor, double, and after '>' the output, a tensor.
    const pteron::Program program(
        argv[1], pteron::Options().add_operator("my_ops::scale.out", "TD>T", scale));
    pteron::Method method = program.load();
    const std::vector<float> x = {1, 2, 3, 4, 5, 6};
    const pteron::Outputs y = method({pteron::tensor(x, {2, 3})});  // The model is 2.5 x + 1.
    for (const float value : y[0].to_vector<float>()) std::printf("%g\n", value);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "custom_operator: %s\n", error.what());
    return 1;
  }
}
