#include "inputs.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>

#include "npz.h"
#include "text.h"

namespace tools {
namespace {

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::vector<pteron_spec> input_specs(pteron_method* method) {
  std::vector<pteron_spec> specs;
  for (size_t i = 0; i < pteron_method_input_count(method); ++i) {
    specs.push_back(PTERON_INIT(pteron_spec));
    call([&](pteron_error** error) {
      return pteron_method_input_spec(method, i, &specs.back(), error);
    });
  }
  return specs;
}

pteron_value array_value(const Array& array, const pteron_spec* spec, const Options& options,
                         size_t index) {
  pteron_dtype dtype = array.dtype;
  if (spec && spec->kind == PTERON_KIND_TENSOR && spec->dtype == PTERON_BFLOAT16 &&
      dtype == PTERON_UINT16) {
    note(options, "input " + std::to_string(index) + ": uint16 is taken as the bits of bfloat16");
    dtype = PTERON_BFLOAT16;
  }
  return pteron_tensor_value(const_cast<char*>(array.data.data()), dtype,
                             static_cast<int32_t>(array.shape.size()), array.shape.data());
}

// A number, true or false; or nothing.
bool scalar_value(const std::string& text, const pteron_spec& spec, pteron_value& value) {
  value = {};
  if (text == "true" || text == "false") {
    value.kind = PTERON_KIND_BOOL;
    value.as.boolean = text == "true";
    return true;
  }
  if (text == "none") return true;
  int64_t integer = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), integer);
  const bool wants_double = spec.kind == PTERON_KIND_DOUBLE;
  if (!wants_double && parsed.ec == std::errc() && parsed.ptr == text.data() + text.size()) {
    value.kind = PTERON_KIND_INT;
    value.as.integer = integer;
    return true;
  }
  double real = 0;
  const auto real_parsed = std::from_chars(text.data(), text.data() + text.size(), real);
  if (real_parsed.ec != std::errc() || real_parsed.ptr != text.data() + text.size()) return false;
  value.kind = PTERON_KIND_DOUBLE;
  value.as.real = real;
  return true;
}

std::vector<int64_t> parse_shape(const std::string& text, const std::string& option) {
  std::vector<int64_t> shape;
  size_t at = 0;
  while (at <= text.size()) {
    const size_t end = std::min(text.find('x', at), text.size());
    int64_t size = 0;
    const auto parsed = std::from_chars(text.data() + at, text.data() + end, size);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + end || size < 0) {
      throw UsageError("--shape " + option + ": give it as INPUT=1x3x96x128");
    }
    shape.push_back(size);
    if (shape.size() > PTERON_MAX_RANK)
      throw UsageError("--shape " + option + ": more than 16 dimensions");
    at = end + 1;
  }
  return shape;
}

std::string list_inputs(const std::vector<pteron_spec>& specs) {
  std::string text;
  for (const pteron_spec& spec : specs)
    text += (text.empty() ? "" : ", ") + std::string(spec.name) + " " + describe(spec);
  return text.empty() ? "none" : text;
}

// The shapes for inputs that are made up: those that the user chose by number or name, else the
// largest.
std::vector<std::vector<int64_t>> chosen_shapes(const Options& options,
                                                const std::vector<pteron_spec>& specs) {
  std::vector<std::vector<int64_t>> shapes;
  shapes.reserve(specs.size());
  for (const pteron_spec& spec : specs) shapes.emplace_back(spec.shape, spec.shape + spec.rank);
  for (const std::string& option : options.shapes) {
    const size_t equals = option.find('=');
    if (equals == std::string::npos)
      throw UsageError("--shape " + option + ": give it as INPUT=1x3x96x128");
    const std::string which = option.substr(0, equals);
    size_t index = 0;
    while (index < specs.size() && which != std::to_string(index) && which != specs[index].name)
      ++index;
    if (index == specs.size() || specs[index].kind != PTERON_KIND_TENSOR) {
      throw UsageError("--shape " + option + ": there is no tensor input " + which +
                       "; the method takes: " + list_inputs(specs));
    }
    shapes[index] = parse_shape(option.substr(equals + 1), option);
  }
  return shapes;
}

// The same numbers at each call: small, of both signs, and no two neighbours alike.
Array made_up_array(const pteron_spec& spec, std::vector<int64_t> shape) {
  Array array;
  array.dtype = static_cast<pteron_dtype>(spec.dtype);
  array.shape = std::move(shape);
  size_t count = 1;
  for (const int64_t size : array.shape) {
    if (size != 0 && count > SIZE_MAX / 16 / static_cast<size_t>(size))
      throw UsageError("--shape: too large");
    count *= static_cast<size_t>(size);
  }
  const size_t element = pteron_dtype_size(array.dtype);
  array.data.resize(count * element);
  uint64_t state = 0x9e3779b97f4a7c15u;
  for (size_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double value = static_cast<double>(state >> 40) / static_cast<double>(1 << 23) - 1;
    char* at = array.data.data() + i * element;
    const auto store = [&](auto number) { std::memcpy(at, &number, sizeof(number)); };
    switch (array.dtype) {
      case PTERON_FLOAT32:
        store(static_cast<float>(value));
        break;
      case PTERON_FLOAT64:
        store(value);
        break;
      // 0.5 to 1 in half precision, by its bits; bfloat16 likewise.
      case PTERON_FLOAT16:
        store(static_cast<uint16_t>(0x3800 | (state >> 54)));
        break;
      case PTERON_BFLOAT16:
        store(static_cast<uint16_t>(0x3f00 | (state >> 57)));
        break;
      case PTERON_BOOL:
        store(static_cast<uint8_t>(state >> 63));
        break;
      // Zero is an index that every table has.
      default:
        break;
    }
  }
  return array;
}

// An input that the user gave: an array of an archive, or a text that is a file or a scalar.
struct Given {
  std::string text;
  std::shared_ptr<const NpzFile> archive;
  size_t entry = 0;
};

std::vector<Given> list_given(const std::vector<std::string>& inputs) {
  std::vector<Given> given;
  for (const std::string& input : inputs) {
    if (!ends_with(input, ".npz")) {
      given.push_back({input, nullptr});
      continue;
    }
    const auto archive = std::make_shared<const NpzFile>(input);
    const std::vector<std::string>& names = archive->names();
    // in0, in1, ... where the file has them; else all, in its order.
    std::vector<size_t> entries;
    while (true) {
      const std::string number = std::to_string(entries.size());
      const auto found = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
        return name == "in" + number || name == "in_" + number;
      });
      if (found == names.end()) break;
      entries.push_back(static_cast<size_t>(found - names.begin()));
    }
    if (entries.empty()) {
      entries.resize(names.size());
      std::iota(entries.begin(), entries.end(), size_t{0});
    }
    for (const size_t entry : entries) given.push_back({input, archive, entry});
  }
  return given;
}

// Refuses an array that is larger than any that the input takes, before it is read.
void check_fits(const NpyHeader& header, const pteron_spec& spec, size_t index,
                const std::string& file) {
  size_t most = 16;  // Bytes of the largest element: whether a scalar will do is for the library.
  if (spec.kind == PTERON_KIND_TENSOR) {
    most = pteron_dtype_size(static_cast<pteron_dtype>(spec.dtype));
    for (int32_t i = 0; i < spec.rank; ++i) most *= static_cast<size_t>(spec.shape[i]);
  }
  if (header.bytes <= most) return;
  std::string message =
      "input " + std::to_string(index) + ": " + file + " has " + pteron_dtype_name(header.dtype) +
      " " + describe_shape(header.shape.data(), static_cast<int32_t>(header.shape.size())) +
      ", but the method takes " + describe(spec);
  if (spec.kind == PTERON_KIND_TENSOR && header.dtype != static_cast<pteron_dtype>(spec.dtype)) {
    message += std::string("; convert it with .astype(\"") +
               pteron_dtype_name(static_cast<pteron_dtype>(spec.dtype)) + "\")";
  }
  throw UsageError(message);
}

}  // namespace

Inputs make_inputs(pteron_method* method, const Options& options) {
  const std::vector<pteron_spec> specs = input_specs(method);
  Inputs inputs;
  if (!options.inputs.empty()) {
    const std::vector<Given> given = list_given(options.inputs);
    if (!options.shapes.empty())
      throw UsageError("--shape is for inputs that are made up, and -i gives them");
    if (given.size() != specs.size()) {
      throw UsageError("the method takes " + counted(specs.size(), "input") + ", got " +
                       std::to_string(given.size()) + "; it takes: " + list_inputs(specs));
    }
    for (size_t i = 0; i < given.size(); ++i) {
      pteron_value scalar{};
      if (given[i].archive == nullptr && scalar_value(given[i].text, specs[i], scalar)) {
        inputs.values.push_back(scalar);
        continue;
      }
      const NpyCheck check = [&](const NpyHeader& header) {
        check_fits(header, specs[i], i, given[i].text);
      };
      inputs.arrays.push_back(given[i].archive
                                  ? given[i].archive->read(given[i].entry, check)
                                  : read_npy(read_file(given[i].text), given[i].text, check));
      inputs.values.push_back(array_value(inputs.arrays.back(), &specs[i], options, i));
    }
    return inputs;
  }
  const std::vector<std::vector<int64_t>> shapes = chosen_shapes(options, specs);
  inputs.made_up = !specs.empty();
  for (size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].kind != PTERON_KIND_TENSOR) {
      if (specs[i].kind == PTERON_KIND_NONE) {
        inputs.values.push_back({});
        continue;
      }
      throw UsageError("input " + std::to_string(i) + " is " + describe(specs[i]) +
                       ", for which nothing can be made up; give all inputs with -i");
    }
    inputs.arrays.push_back(made_up_array(specs[i], shapes[i]));
    inputs.values.push_back(array_value(inputs.arrays.back(), nullptr, options, i));
  }
  if (inputs.made_up) note(options, "no -i given: inputs are made up (" + list_inputs(specs) + ")");
  return inputs;
}

}  // namespace tools
