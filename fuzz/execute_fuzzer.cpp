// Any bytes as a program, loaded and run with every kernel and with the fake OpenVINO; or, if they
// are a .ptd file's, as the weights of a program that is right. An error or a result, within limits
// of memory and time.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "api/any_program.h"
#include "api/fake_library.h"
#include "api/weights_file.h"

namespace {

using namespace pteron::test;
using ByteVector = std::vector<std::byte>;

ByteVector read(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
  const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
  return {data, data + bytes.size()};
}

struct Target {
  Target()
      : fake(PTERON_FAKE_OPENVINO),
        take_weights{read(PTERON_FUZZ_SEEDS "/linear_ptd.pte"),
                     read(PTERON_FUZZ_SEEDS "/add_mul_ptd.pte")} {
    options.openvino = PTERON_FAKE_OPENVINO;
    options.weights = {PTERON_FUZZ_SEEDS "/linear.ptd", PTERON_FUZZ_SEEDS "/add_mul.ptd"};
    options.memory_limit = 256 << 10;
    options.instruction_limit = 500;
  }

  void run(std::span<const std::byte> program, const AnyProgramOptions& with) {
    Outcome outcome = run_any_program(program, with);
    runs += outcome.results;
    errors += outcome.errors;
    if (std::getenv("PTERON_FUZZ_ERRORS") != nullptr) std::puts(outcome.first_error.c_str());
    if (outcome.problem.empty()) outcome.problem = fake.problem();
    if (!outcome.problem.empty()) {
      std::fprintf(stderr, "%s\n", outcome.problem.c_str());
      std::abort();
    }
  }

  ~Target() { std::printf("%zu runs, %zu errors\n", runs, errors); }

  FakeLibrary fake;
  ByteVector take_weights[2];  // Programs whose weights are in .ptd files.
  AnyProgramOptions options;
  WeightsFile weights;
  size_t runs = 0;
  size_t errors = 0;
};

Target& target() {
  static Target target;
  return target;
}

bool is_weights(std::span<const std::byte> bytes) {
  return bytes.size() >= 8 && std::memcmp(bytes.data() + 4, "FT01", 4) == 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  Target& t = target();
  if (is_weights(bytes)) {
    AnyProgramOptions options = t.options;
    options.weights = {t.weights.write(bytes)};
    for (const ByteVector& program : t.take_weights) t.run(program, options);
  } else {
    t.run(bytes, t.options);
  }
  return 0;
}

#ifdef PTERON_LIBFUZZER
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

// A FlatBuffer survives few changes of its length. Every other time a number is overwritten where
// it stands: by a telling one, or by one from elsewhere in the file.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  std::minstd_rand random(seed);
  if (size < 64 || random() % 2 == 0) return LLVMFuzzerMutate(data, size, max_size);
  static constexpr int64_t kTelling[] = {0,
                                         1,
                                         2,
                                         3,
                                         4,
                                         5,
                                         7,
                                         8,
                                         16,
                                         -1,
                                         -2,
                                         64,
                                         127,
                                         128,
                                         255,
                                         256,
                                         1024,
                                         32767,
                                         65535,
                                         65536,
                                         1000000,
                                         0x7fffffff,
                                         -0x7fffffffLL - 1,
                                         INT64_MAX,
                                         INT64_MIN};
  for (size_t changes = 1 + random() % 3; changes > 0; --changes) {
    const size_t width = size_t{1} << (random() % 4);
    const size_t at = random() % (size / width) * width;
    if (at + width > size) continue;
    auto number = static_cast<uint64_t>(kTelling[random() % std::size(kTelling)]);
    const unsigned kind = random() % 4;
    if (kind == 0) {  // As small as indices, ranks and type tags are.
      number = random() % 40;
    } else if (kind == 1) {
      std::memcpy(&number, data + random() % (size / width) * width, width);
    } else if (kind == 2) {
      std::memcpy(&number, data + at, width);
      number += random() % 9 - 4;  // Wraps.
    }
    std::memcpy(data + at, &number, width);
  }
  return size;
}
#endif
