#include "fake_model.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <sstream>
#include <type_traits>
#include <utility>

namespace fake {
namespace {

constexpr size_t kMaxBytes = size_t{64} << 20;
constexpr size_t kMaxRank = 32;

struct NamedType {
  const char* name;
  ov_element_type_e type;
  size_t size;
};
constexpr NamedType kTypes[] = {
    {"bool", ov_element_type_e::Boolean, 1}, {"bf16", ov_element_type_e::BF16, 2},
    {"f16", ov_element_type_e::F16, 2},      {"f32", ov_element_type_e::F32, 4},
    {"f64", ov_element_type_e::F64, 8},      {"i8", ov_element_type_e::I8, 1},
    {"i16", ov_element_type_e::I16, 2},      {"i32", ov_element_type_e::I32, 4},
    {"i64", ov_element_type_e::I64, 8},      {"u8", ov_element_type_e::U8, 1},
    {"u16", ov_element_type_e::U16, 2},      {"u32", ov_element_type_e::U32, 4},
    {"u64", ov_element_type_e::U64, 8},
};

bool parse_int(std::string_view text, int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 0;
}

bool parse_dimension(std::string_view text, Dimension& dim) {
  if (text == "?") {
    dim = {0, -1};
    return true;
  }
  const size_t dots = text.find("..");
  if (dots == std::string_view::npos) {
    if (!parse_int(text, dim.min)) return false;
    dim.max = dim.min;
    return true;
  }
  return parse_int(text.substr(0, dots), dim.min) && parse_int(text.substr(dots + 2), dim.max) &&
         dim.min <= dim.max;
}

bool parse_dims(const std::string& text, std::vector<Dimension>& dims) {
  if (text == "scalar") return true;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    Dimension dim;
    if (!parse_dimension(part, dim) || dims.size() == kMaxRank) return false;
    dims.push_back(dim);
  }
  return !dims.empty();
}

bool parse_port(std::istringstream& words, Port& port) {
  std::string type;
  std::string dims;
  if (!(words >> type >> dims)) return false;
  words >> port.name;
  const auto* const known = std::find_if(std::begin(kTypes), std::end(kTypes),
                                         [&type](const NamedType& t) { return type == t.name; });
  if (known == std::end(kTypes)) return false;
  port.type = known->type;
  port.any_rank = dims == "...";
  return port.any_rank || parse_dims(dims, port.dims);
}

bool parse_op(std::istringstream& words, Model& model) {
  if (!(words >> model.op)) return false;
  if (model.op == "fail") {
    std::getline(words >> std::ws, model.argument);
    return true;
  }
  if (model.op == "fill") {
    std::string dims_text;
    std::vector<Dimension> dims;
    if (!(words >> dims_text >> model.fill_value) || !parse_dims(dims_text, dims)) return false;
    for (const Dimension& dim : dims) {
      if (dim.min != dim.max) return false;
      model.fill_shape.push_back(dim.min);
    }
    return model.outputs.size() == 1 &&
           byte_size_of(model.outputs[0].type, model.fill_shape).has_value();
  }
  if (model.op == "count") return model.outputs.size() == 1;
  if (model.op == "add") return model.inputs.size() == 2 && model.outputs.size() == 1;
  return (model.op == "copy" || model.op == "pass" || model.op == "add_one") &&
         model.inputs.size() >= model.outputs.size();
}

template <typename T>
void add_to(std::byte* out, const std::byte* a, const std::byte* b, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    T x;
    T y = static_cast<T>(1);
    std::memcpy(&x, a + i * sizeof(T), sizeof(T));
    if (b != nullptr) std::memcpy(&y, b + i * sizeof(T), sizeof(T));
    x = static_cast<T>(x + y);
    std::memcpy(out + i * sizeof(T), &x, sizeof(T));
  }
}

// out = a + b, or a + 1 without b. Whole numbers wrap.
void add(ov_element_type_e type, std::byte* out, const std::byte* a, const std::byte* b,
         size_t count) {
  switch (type) {
    case ov_element_type_e::F32:
      return add_to<float>(out, a, b, count);
    case ov_element_type_e::F64:
      return add_to<double>(out, a, b, count);
    default:
      break;
  }
  switch (element_size(type)) {
    case 1:
      return add_to<uint8_t>(out, a, b, count);
    case 2:
      return add_to<uint16_t>(out, a, b, count);
    case 4:
      return add_to<uint32_t>(out, a, b, count);
    default:
      return add_to<uint64_t>(out, a, b, count);
  }
}

template <typename T>
void fill_as(Buffer& buffer, double value) {
  T element{};
  if constexpr (std::is_floating_point_v<T>) {
    element = static_cast<T>(value);
  } else {
    element = static_cast<T>(static_cast<int64_t>(std::clamp(value, -9e18, 9e18)));
  }
  for (size_t i = 0; i < buffer.byte_size() / sizeof(T); ++i) {
    std::memcpy(buffer.data() + i * sizeof(T), &element, sizeof(T));
  }
}

void fill(Buffer& buffer, double value) {
  switch (buffer.type) {
    case ov_element_type_e::F32:
      return fill_as<float>(buffer, value);
    case ov_element_type_e::F64:
      return fill_as<double>(buffer, value);
    default:
      break;
  }
  switch (element_size(buffer.type)) {
    case 1:
      return fill_as<int8_t>(buffer, value);
    case 2:
      return fill_as<int16_t>(buffer, value);
    case 4:
      return fill_as<int32_t>(buffer, value);
    default:
      return fill_as<int64_t>(buffer, value);
  }
}

}  // namespace

bool Port::accepts(const std::vector<int64_t>& shape) const {
  if (any_rank) return true;
  if (shape.size() != dims.size()) return false;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (shape[i] < dims[i].min || (dims[i].max >= 0 && shape[i] > dims[i].max)) return false;
  }
  return true;
}

bool Port::is_fixed() const {
  return !any_rank && std::all_of(dims.begin(), dims.end(),
                                  [](const Dimension& dim) { return dim.min == dim.max; });
}

std::vector<int64_t> Port::fixed_shape() const {
  std::vector<int64_t> shape;
  for (const Dimension& dim : dims) shape.push_back(dim.min);
  return shape;
}

std::optional<Model> parse_model(std::string_view text) {
  if (text.size() > kMaxBytes) return std::nullopt;
  std::istringstream lines{std::string(text)};
  std::string line;
  if (!std::getline(lines, line) || line != "FAKEBLOB") return std::nullopt;
  Model model;
  size_t bytes = 0;  // Of all tensors of fixed shape.
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string command;
    if (!(words >> command)) continue;
    if (command == "input" || command == "output") {
      Port port;
      if (!model.op.empty() || !parse_port(words, port)) return std::nullopt;
      if (port.is_fixed()) {
        const auto size = byte_size_of(port.type, port.fixed_shape());
        if (!size || *size > kMaxBytes - bytes) return std::nullopt;
        bytes += *size;
      }
      (command == "input" ? model.inputs : model.outputs).push_back(std::move(port));
    } else if (command != "op" || !model.op.empty() || !parse_op(words, model)) {
      return std::nullopt;
    }
  }
  return model.op.empty() ? std::nullopt : std::optional(std::move(model));
}

size_t element_size(ov_element_type_e type) {
  for (const NamedType& known : kTypes) {
    if (known.type == type) return known.size;
  }
  return 0;
}

std::optional<size_t> byte_size_of(ov_element_type_e type, const std::vector<int64_t>& shape) {
  size_t bytes = element_size(type);
  if (bytes == 0) return std::nullopt;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  for (const int64_t dim : shape) {
    if (dim < 0 || static_cast<uint64_t>(dim) > kMaxBytes / bytes) return std::nullopt;
    bytes *= static_cast<size_t>(dim);
  }
  return bytes;
}

size_t Buffer::byte_size() const { return byte_size_of(type, shape).value_or(0); }

bool Buffer::reshape(const std::vector<int64_t>& new_shape) {
  const std::optional<size_t> bytes = byte_size_of(type, new_shape);
  if (!bytes) return false;
  if (borrowed != nullptr) {
    if (*bytes > capacity) return false;
  } else {
    own.resize(std::max<size_t>(*bytes, 1));
  }
  shape = new_shape;
  return true;
}

std::string compute(const Model& model, const std::vector<std::shared_ptr<Buffer>>& inputs,
                    const std::vector<std::shared_ptr<Buffer>>& outputs, int64_t run_number) {
  constexpr const char* kTooSmall = "an output tensor is too small for what was computed";
  if (model.op == "fail") return model.argument.empty() ? "inference failed" : model.argument;
  if (model.op == "fill") {
    if (!outputs[0]->reshape(model.fill_shape)) return kTooSmall;
    fill(*outputs[0], model.fill_value);
    return "";
  }
  if (model.op == "count") {
    if (!outputs[0]->reshape({})) return kTooSmall;
    if (outputs[0]->byte_size() != sizeof(run_number)) return "count wants an i64 output";
    std::memcpy(outputs[0]->data(), &run_number, sizeof(run_number));
    return "";
  }
  if (model.op == "pass") return "";
  for (size_t i = 0; i < outputs.size(); ++i) {
    Buffer& in = *inputs[i];
    Buffer& out = *outputs[i];
    if (in.type != out.type) return "input and output differ in element type";
    if (!out.reshape(in.shape)) return kTooSmall;
    const size_t count = in.byte_size() / element_size(in.type);
    if (model.op == "add_one") {
      add(in.type, out.data(), in.data(), nullptr, count);
    } else if (model.op == "add") {
      if (inputs[1]->shape != in.shape || inputs[1]->type != in.type) return "add: inputs differ";
      add(in.type, out.data(), in.data(), inputs[1]->data(), count);
    } else if (in.byte_size() > 0) {
      std::memmove(out.data(), in.data(), in.byte_size());
    }
  }
  return "";
}

}  // namespace fake
