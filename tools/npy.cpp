#include "npy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

namespace tools {
namespace {

struct Descr {
  const char* text;  // NumPy's, little-endian
  pteron_dtype dtype;
};
constexpr Descr kDescrs[] = {
    {"|u1", PTERON_UINT8},     {"|i1", PTERON_INT8},        {"<i2", PTERON_INT16},
    {"<i4", PTERON_INT32},     {"<i8", PTERON_INT64},       {"<f2", PTERON_FLOAT16},
    {"<f4", PTERON_FLOAT32},   {"<f8", PTERON_FLOAT64},     {"|b1", PTERON_BOOL},
    {"<u2", PTERON_UINT16},    {"<u4", PTERON_UINT32},      {"<u8", PTERON_UINT64},
    {"<c8", PTERON_COMPLEX64}, {"<c16", PTERON_COMPLEX128},
};

const Descr* find_descr(pteron_dtype dtype) {
  const auto* found = std::find_if(std::begin(kDescrs), std::end(kDescrs),
                                   [&](const Descr& descr) { return descr.dtype == dtype; });
  return found == std::end(kDescrs) ? nullptr : found;
}

double half_to_double(uint16_t half) {
  const int exponent = (half >> 10) & 0x1f;
  const int mantissa = half & 0x3ff;
  double value = std::ldexp(exponent == 0 ? mantissa : mantissa + 1024, std::max(exponent, 1) - 25);
  if (exponent == 0x1f) value = mantissa ? NAN : INFINITY;
  return half & 0x8000 ? -value : value;
}

// The text after `'key':` in the header's dict.
std::string_view field(std::string_view header, std::string_view key, const std::string& name) {
  const std::string quoted = std::string("'").append(key).append("'");
  size_t at = header.find(quoted);
  if (at == std::string_view::npos) throw UsageError(name + ": its .npy header has no " + quoted);
  at = header.find(':', at);
  if (at == std::string_view::npos) throw UsageError(name + ": its .npy header is damaged");
  header.remove_prefix(at + 1);
  while (!header.empty() && header.front() == ' ') header.remove_prefix(1);
  return header;
}

std::vector<int64_t> parse_shape(std::string_view text, const std::string& name) {
  const size_t end = text.find(')');
  if (text.empty() || text.front() != '(' || end == std::string_view::npos) {
    throw UsageError(name + ": its .npy header has no shape");
  }
  text = text.substr(1, end - 1);
  std::vector<int64_t> shape;
  while (true) {
    while (!text.empty() && (text.front() == ' ' || text.front() == ',')) text.remove_prefix(1);
    if (text.empty()) return shape;
    int64_t size = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() || size < 0)
      throw UsageError(name + ": its .npy header has a damaged shape");
    shape.push_back(size);
    text.remove_prefix(static_cast<size_t>(stop - text.data()));
    if (shape.size() > PTERON_MAX_RANK)
      throw UsageError(name + ": its array has more than 16 dimensions");
  }
}

std::vector<char> to_row_major(const std::vector<char>& data, const std::vector<int64_t>& shape,
                               size_t element) {
  std::vector<char> out(data.size());
  std::vector<int64_t> index(shape.size(), 0);
  const size_t count = data.size() / element;
  for (size_t i = 0; i < count; ++i) {
    size_t from = 0;
    for (size_t d = shape.size(); d-- > 0;)
      from = from * static_cast<size_t>(shape[d]) + static_cast<size_t>(index[d]);
    std::memcpy(out.data() + i * element, &data[from * element], element);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
  return out;
}

}  // namespace

size_t npy_data_start(std::string_view start, const std::string& name) {
  if (start.size() < 10 || start.substr(0, 6) != "\x93NUMPY")
    throw UsageError(name + ": not a NumPy array (.npy)");
  const auto byte = [&](size_t i) {
    return static_cast<size_t>(static_cast<unsigned char>(start[i]));
  };
  if (byte(6) < 1 || byte(6) > 3)
    throw UsageError(name + ": .npy version " + std::to_string(byte(6)) + ", but there are 1 to 3");
  const bool wide = byte(6) >= 2;
  if (wide && start.size() < 12) throw UsageError(name + ": cut short within its header");
  const size_t length = byte(8) | (byte(9) << 8) | (wide ? (byte(10) << 16) | (byte(11) << 24) : 0);
  return (wide ? 12 : 10) + length;
}

NpyHeader read_npy_header(std::string_view head, const std::string& name) {
  NpyHeader header;
  const std::string_view descr = field(head, "descr", name);
  bool known = false;
  for (const Descr& candidate : kDescrs) {
    const std::string quoted = std::string("'") + candidate.text + "'";
    if (descr.substr(0, quoted.size()) == quoted) {
      header.dtype = candidate.dtype;
      known = true;
    }
  }
  if (!known && descr.substr(0, 1) == "[") {
    throw UsageError(name +
                     ": its dtype is structured (it has fields), and a program takes plain arrays; "
                     "save one field, such as x[\"name\"]");
  }
  if (!known) {
    throw UsageError(
        name + ": dtype " + std::string(descr.substr(0, descr.find(','))) +
        " is not one that a program takes (little-endian numbers and bool)" +
        (descr.substr(0, 2) == "'>" ? "; save it with .astype(x.dtype.newbyteorder(\"<\"))" : ""));
  }
  header.shape = parse_shape(field(head, "shape", name), name);
  const std::string_view order = field(head, "fortran_order", name);
  header.fortran_order = order.substr(0, 4) == "True";
  if (!header.fortran_order && order.substr(0, 5) != "False")
    throw UsageError(name + ": its .npy header has a damaged fortran_order");
  if (std::count(header.shape.begin(), header.shape.end(), 0) > 0) return header;
  size_t bytes = pteron_dtype_size(header.dtype);
  for (const int64_t size : header.shape) {
    if (bytes > static_cast<size_t>(PTRDIFF_MAX) / static_cast<size_t>(size))
      throw UsageError(name + ": its shape needs more bytes than there can be");
    bytes *= static_cast<size_t>(size);
  }
  header.bytes = bytes;
  return header;
}

Array make_array(const NpyHeader& header, std::vector<char> elements) {
  Array array;
  array.dtype = header.dtype;
  array.shape = header.shape;
  array.data = std::move(elements);
  if (header.fortran_order && header.shape.size() > 1 && header.bytes > 0)
    array.data = to_row_major(array.data, header.shape, pteron_dtype_size(header.dtype));
  return array;
}

Array read_npy(std::string_view bytes, const std::string& name, const NpyCheck& check) {
  const size_t start = npy_data_start(bytes.substr(0, kNpyStart), name);
  if (start > bytes.size()) throw UsageError(name + ": cut short within its header");
  const NpyHeader header = read_npy_header(bytes.substr(0, start), name);
  if (check) check(header);
  const std::string_view data = bytes.substr(start);
  if (header.bytes > data.size())
    throw UsageError(name + ": its shape needs more bytes than the file has");
  return make_array(header,
                    {data.begin(), data.begin() + static_cast<std::ptrdiff_t>(header.bytes)});
}

pteron_dtype stored_dtype(pteron_dtype dtype) {
  if (find_descr(dtype)) return dtype;
  if (dtype == PTERON_QINT8) return PTERON_INT8;
  if (dtype == PTERON_QINT32) return PTERON_INT32;
  return pteron_dtype_size(dtype) == 2 ? PTERON_UINT16 : PTERON_UINT8;
}

std::string write_npy(const Array& array) {
  std::string header = std::string("{'descr': '") + find_descr(stored_dtype(array.dtype))->text +
                       "', 'fortran_order': False, 'shape': (";
  for (const int64_t size : array.shape) header += std::to_string(size) + ",";
  header += "), }";
  // The data begin at a multiple of 64, as NumPy has it.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  return out + header + std::string(array.data.begin(), array.data.end());
}

double element_value(pteron_dtype dtype, const char* data) {
  const auto load = [&](auto value) {
    std::memcpy(&value, data, sizeof(value));
    return value;
  };
  if (dtype == PTERON_FLOAT16) return half_to_double(load(uint16_t()));
  if (dtype == PTERON_BFLOAT16)
    return std::bit_cast<float>(static_cast<uint32_t>(load(uint16_t())) << 16);
  switch (stored_dtype(dtype)) {
    case PTERON_INT8:
      return load(int8_t());
    case PTERON_INT16:
      return load(int16_t());
    case PTERON_UINT16:
      return load(uint16_t());
    case PTERON_INT32:
      return load(int32_t());
    case PTERON_UINT32:
      return load(uint32_t());
    case PTERON_INT64:
      return static_cast<double>(load(int64_t()));
    case PTERON_UINT64:
      return static_cast<double>(load(uint64_t()));
    case PTERON_COMPLEX64: {
      const auto parts = load(std::array<float, 2>());
      return std::hypot(static_cast<double>(parts[0]), static_cast<double>(parts[1]));
    }
    case PTERON_COMPLEX128: {
      const auto parts = load(std::array<double, 2>());
      return std::hypot(parts[0], parts[1]);
    }
    case PTERON_FLOAT32:
      return load(float());
    case PTERON_FLOAT64:
      return load(double());
    default:
      return load(uint8_t());
  }
}

}  // namespace tools
