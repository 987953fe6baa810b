// Runs a fuzz target once on each file given, and on each file in the folders given: without
// libFuzzer, with any compiler. A folder that does not exist holds no file.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

void run(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::vector<char> read{std::istreambuf_iterator<char>(stream), {}};
  // A block of exactly this size: a sanitizer sees one byte too many.
  const auto exact = std::make_unique<uint8_t[]>(read.size());
  std::copy(read.begin(), read.end(), exact.get());
  LLVMFuzzerTestOneInput(exact.get(), read.size());
}

}  // namespace

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  size_t count = 0;
  for (int i = 1; i < argc; ++i) {
    const fs::path path = argv[i];
    if (fs::is_regular_file(path)) {
      run(path);
      ++count;
    } else if (fs::is_directory(path)) {
      for (const auto& entry : fs::recursive_directory_iterator(path)) {
        if (!entry.is_regular_file()) continue;
        run(entry.path());
        ++count;
      }
    }
  }
  std::printf("%zu files\n", count);
  return count > 0 ? 0 : 1;
}
