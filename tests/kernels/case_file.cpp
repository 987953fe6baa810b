#include "case_file.h"

#include <zlib.h>

#include <cstring>
#include <stdexcept>

namespace pteron {
namespace {

std::string read_gzip(const std::string& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (!file) throw std::runtime_error("cannot open " + path);
  std::string data;
  char block[1 << 16];
  int count = 0;
  while ((count = gzread(file, block, sizeof(block))) > 0)
    data.append(block, static_cast<size_t>(count));
  gzclose(file);
  if (count < 0) throw std::runtime_error("cannot unpack " + path);
  return data;
}

class Reader {
 public:
  explicit Reader(const std::string& data) : data_(data) {}

  template <typename T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)), sizeof(T));
    return value;
  }
  std::string bytes(size_t count) { return {take(count), count}; }

 private:
  const char* take(size_t count) {
    if (count > data_.size() - at_) throw std::runtime_error("the cases end in the middle");
    at_ += count;
    return data_.data() + at_ - count;
  }
  const std::string& data_;
  size_t at_ = 0;
};

CaseTensor read_tensor(Reader& in) {
  CaseTensor tensor;
  const auto dtype = dtype_from_number(in.number<uint8_t>());
  if (!dtype) throw std::runtime_error("a case has an unknown dtype");
  tensor.dtype = *dtype;
  const size_t rank = in.number<uint8_t>();
  size_t bytes = dtype_size(tensor.dtype);
  for (size_t d = 0; d < rank; ++d) {
    tensor.sizes.push_back(in.number<int32_t>());
    bytes *= static_cast<size_t>(tensor.sizes.back());
  }
  for (size_t d = 0; d < rank; ++d) tensor.order.push_back(in.number<uint8_t>());
  tensor.data = in.bytes(bytes);
  return tensor;
}

CaseValue read_value(Reader& in) {
  CaseValue value;
  value.kind = in.number<char>();
  switch (value.kind) {
    case 'n':
      break;
    case 'i':
      value.integer = in.number<int64_t>();
      break;
    case 'd':
      value.real = in.number<double>();
      break;
    case 'b':
      value.integer = in.number<uint8_t>();
      break;
    case 'g':
      value.text = in.bytes(in.number<uint8_t>());
      break;
    case 'T':
      value.tensor = read_tensor(in);
      break;
    case 'x': {
      const auto dtype = dtype_from_number(in.number<uint8_t>());
      if (!dtype) throw std::runtime_error("a case has an unknown dtype");
      value.tensor.dtype = *dtype;
      const uint8_t rank = in.number<uint8_t>();
      for (uint8_t d = 0; d < rank; ++d) {
        value.tensor.sizes.push_back(8);
        value.tensor.order.push_back(d);
      }
      break;
    }
    case 'M':
      value.tensor = read_tensor(in);
      value.changed = in.bytes(value.tensor.data.size());
      break;
    default: {
      const size_t count = in.number<uint8_t>();
      for (size_t i = 0; i < count; ++i) {
        if (value.kind == 'L')
          value.ints.push_back(in.number<int64_t>());
        else if (value.kind == 'Q')
          value.ints.push_back(in.number<uint8_t>());
        else if (value.kind == 'F')
          value.reals.push_back(in.number<double>());
        else if (value.kind == 'V' || value.kind == 'v')
          value.items.push_back(read_value(in));
        else
          throw std::runtime_error("a case has a value of an unknown kind");
      }
    }
  }
  return value;
}

}  // namespace

std::vector<Case> read_cases(const std::string& path) {
  const std::string data = read_gzip(path);
  Reader in(data);
  const std::string magic = in.bytes(8);
  if (std::memcmp(magic.data(), "PTOPS1\0\0", 8) != 0)
    throw std::runtime_error(path + ": not cases");
  std::vector<Case> cases(in.number<uint32_t>());
  for (Case& one : cases) {
    in.number<uint32_t>();  // Its length, for readers that skip.
    one.name = in.bytes(in.number<uint8_t>());
    one.arguments.resize(in.number<uint8_t>());
    one.outputs.resize(in.number<uint8_t>());
    for (CaseValue& value : one.arguments) value = read_value(in);
    for (CaseValue& value : one.outputs) value = read_value(in);
  }
  return cases;
}

}  // namespace pteron
