// Writes the programs that the tests of the command need into a folder.
#include <cstdio>
#include <fstream>
#include <string>

#include "api/programs.h"

namespace {

bool write(const std::string& folder, const char* name, const programs::File& file) {
  std::ofstream stream(folder + "/" + name + ".pte", std::ios::binary);
  stream.write(reinterpret_cast<const char*>(file.data()),
               static_cast<std::streamsize>(file.size()));
  return static_cast<bool>(stream.flush());
}

std::string blob(const std::string& operation) {
  return "FAKEBLOB\ninput f32 2,3 x\noutput f32 2,3 y\nop " + operation + "\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  const bool written =
      write(folder, "add", programs::add()) && write(folder, "dynamic", programs::add_dynamic()) &&
      write(folder, "state", programs::state()) && write(folder, "scalars", programs::scalars()) &&
      write(folder, "results", programs::results()) &&
      write(folder, "complex", programs::complex_numbers()) &&
      write(folder, "random", programs::random()) &&
      write(folder, "lacking", programs::lacking()) &&
      write(folder, "openvino", programs::openvino(blob("add_one"))) &&
      write(folder, "failing", programs::openvino(blob("fail a wire came off"))) &&
      write(folder, "damaged", programs::openvino("no blob"));
  if (!written) std::fprintf(stderr, "cannot write to %s\n", argv[1]);
  return written ? 0 : 1;
}
