// Runs a program's method on zeros and prints what comes out.
//
// usage: hello_cpp MODEL.pte [METHOD] [--openvino PATH]
#include <cstdio>
#include <exception>
#include <pteron/pteron.hpp>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  std::vector<std::string> names;
  pteron::Options options;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--openvino" && i + 1 < argc) {
      options.openvino(argv[++i]);
    } else {
      names.emplace_back(argv[i]);
    }
  }
  if (names.empty()) {
    std::fprintf(stderr, "usage: hello_cpp MODEL.pte [METHOD] [--openvino PATH]\n");
    return 2;
  }
  try {
    const pteron::Program program(names[0], options);
    pteron::Method method = program.load(names.size() > 1 ? names[1] : "");

    // One array of zeros an input, each of its largest shape.
    std::vector<std::vector<char>> memory;
    std::vector<pteron::Value> inputs;
    for (const pteron::Spec& spec : method.inputs()) {
      if (spec.kind != pteron::Kind::Tensor) {
        std::fprintf(stderr, "hello_cpp: input \"%s\" is no tensor\n", spec.name.c_str());
        return 2;
      }
      const pteron::Shape shape(spec.shape);
      memory.emplace_back(shape.count() * pteron::dtype_size(spec.dtype));
      inputs.emplace_back(memory.back().data(), spec.dtype, shape);
    }

    const pteron::Outputs outputs = method.run(inputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const pteron::Tensor output = outputs[i].tensor();
      std::printf("output %zu: %s %s", i, pteron::dtype_name(output.dtype()),
                  pteron::Shape(output.shape()).text().c_str());
      if (output.dtype() == pteron::DType::Float32 && output.size() > 0) {
        std::printf(" %g ...", static_cast<double>(output.to_vector<float>()[0]));
      }
      std::printf("\n");
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hello_cpp: %s\n", error.what());
    return 1;
  }
}
