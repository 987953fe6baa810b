// Reads a WAV file. Every size in it is checked against the bytes that are there.
#include "wav.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace {

constexpr double kPi = 3.14159265358979323846;

class WavReader {
 public:
  explicit WavReader(const std::filesystem::path& path) : name_(path.string()) {
    std::ifstream file(path, std::ios::binary);
    if (!file) fail("cannot be opened");
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    parse();
  }

  int rate() const { return rate_; }
  std::vector<float> mono() const {
    std::vector<float> samples(data_size_ / 2 / channels_);
    for (size_t i = 0; i < samples.size(); ++i) {
      int sum = 0;
      for (size_t c = 0; c < channels_; ++c) {
        sum += static_cast<int16_t>(number(data_ + (i * channels_ + c) * 2, 2));
      }
      samples[i] = static_cast<float>(sum) / (32768.0F * static_cast<float>(channels_));
    }
    return samples;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(name_ + " " + what);
  }

  // A little-endian number of `size` bytes.
  uint32_t number(size_t offset, size_t size) const {
    if (offset + size > bytes_.size()) fail("ends in the middle of a header");
    uint32_t value = 0;
    for (size_t i = 0; i < size; ++i) {
      value |= static_cast<uint32_t>(static_cast<unsigned char>(bytes_[offset + i])) << (8 * i);
    }
    return value;
  }

  void parse() {
    if (bytes_.size() < 12 || bytes_.compare(0, 4, "RIFF") != 0 ||
        bytes_.compare(8, 4, "WAVE") != 0) {
      fail("is no WAV file");
    }
    for (size_t chunk = 12; chunk + 8 <= bytes_.size();) {
      const size_t size = number(chunk + 4, 4);
      if (bytes_.compare(chunk, 4, "fmt ") == 0) {
        if (number(chunk + 8, 2) != 1 || number(chunk + 22, 2) != 16) fail("is not 16-bit PCM");
        channels_ = number(chunk + 10, 2);
        rate_ = static_cast<int>(number(chunk + 12, 4));
      } else if (bytes_.compare(chunk, 4, "data") == 0) {
        data_ = chunk + 8;
        data_size_ = std::min(size, bytes_.size() - data_);  // A recorder that was cut off.
      }
      chunk += 8 + size + size % 2;
    }
    if (channels_ == 0 || rate_ < 1000 || rate_ > 1000000) fail("has no usable format");
    if (data_size_ == 0) fail("has no samples");
  }

  std::string name_;
  std::string bytes_;
  size_t channels_ = 0;
  int rate_ = 0;
  size_t data_ = 0;
  size_t data_size_ = 0;
};

// Windowed-sinc interpolation, with the cutoff at the lower of the two rates' limits.
std::vector<float> resample(const std::vector<float>& in, int from, int to) {
  const double step = static_cast<double>(from) / to;
  const double cutoff = std::min(1.0, 1 / step);
  const double reach = 16 / cutoff;
  std::vector<float> out(static_cast<size_t>(static_cast<double>(in.size()) / step));
  for (size_t i = 0; i < out.size(); ++i) {
    const double centre = static_cast<double>(i) * step;
    const auto first = static_cast<ptrdiff_t>(std::max(0.0, std::ceil(centre - reach)));
    const auto last = std::min(static_cast<ptrdiff_t>(in.size()) - 1,
                               static_cast<ptrdiff_t>(std::floor(centre + reach)));
    double sum = 0;
    for (ptrdiff_t k = first; k <= last; ++k) {
      const double x = static_cast<double>(k) - centre;
      const double sinc = x == 0 ? cutoff : std::sin(kPi * cutoff * x) / (kPi * x);
      sum += in[static_cast<size_t>(k)] * sinc * (0.5 + 0.5 * std::cos(kPi * x / reach));
    }
    out[i] = static_cast<float>(sum);
  }
  return out;
}

}  // namespace

std::vector<float> read_wav(const std::filesystem::path& path, int rate) {
  const WavReader file(path);
  if (file.rate() == rate) return file.mono();
  return resample(file.mono(), file.rate(), rate);
}
