#include "inputs.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
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

// As the library says it: input 0 "x"
std::string position(size_t index, const pteron_spec& spec) {
  return "input " + std::to_string(index) + " \"" + std::string(spec.name).substr(0, 80) + "\"";
}

std::string how_to_convert(const pteron_spec& spec) {
  if (spec.dtype == PTERON_BFLOAT16) {
    return "; NumPy has no bfloat16: give its bits as uint16, "
           "(x.astype(\"float32\").view(\"uint32\") >> 16).astype(\"uint16\")";
  }
  return std::string("; convert it with .astype(\"") +
         pteron_dtype_name(static_cast<pteron_dtype>(spec.dtype)) + "\")";
}

// An array without dimensions as the number that the method takes, as `run -o` saves numbers; or
// nothing.
bool number_of_array(const Array& array, const pteron_spec& spec, pteron_value& value) {
  if (!array.shape.empty()) return false;
  value = {};
  value.kind = spec.kind;
  if (spec.kind == PTERON_KIND_INT && array.dtype == PTERON_INT64)
    std::memcpy(&value.as.integer, array.data.data(), sizeof(int64_t));
  else if (spec.kind == PTERON_KIND_DOUBLE && array.dtype == PTERON_FLOAT64)
    std::memcpy(&value.as.real, array.data.data(), sizeof(double));
  else if (spec.kind == PTERON_KIND_BOOL && array.dtype == PTERON_BOOL)
    value.as.boolean = array.data[0] != 0;
  else
    return false;
  return true;
}

pteron_value array_value(const Array& array, const pteron_spec* spec, const Options& options,
                         size_t index) {
  pteron_dtype dtype = array.dtype;
  if (pteron_value number; spec && number_of_array(array, *spec, number)) return number;
  if (spec && spec->kind == PTERON_KIND_TENSOR && spec->dtype == PTERON_BFLOAT16 &&
      dtype != PTERON_UINT16 && dtype != PTERON_BFLOAT16) {
    throw UsageError(position(index, *spec) + ": " + pteron_dtype_name(dtype) +
                     ", but the method takes " + describe(*spec) + how_to_convert(*spec));
  }
  if (spec && spec->kind == PTERON_KIND_TENSOR && spec->dtype == PTERON_BFLOAT16 &&
      dtype == PTERON_UINT16) {
    note(options, position(index, *spec) + ": uint16 is taken as the bits of bfloat16");
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

// The number that the program was traced with as input `index`, which is the only one that it
// takes.
pteron_value traced_value(pteron_program* program, pteron_method* method, size_t index,
                          const pteron_spec& spec) {
  pteron_value value{};
  value.kind = spec.kind;
  if (spec.kind == PTERON_KIND_NONE) return value;
  const Json own = call_json([&](char** json, pteron_error** error) {
    return pteron_method_execution(method, json, error);
  });
  const Json info = call_json(
      [&](char** json, pteron_error** error) { return pteron_program_info(program, json, error); });
  for (const Json& candidate : info["methods"]) {
    if (candidate["name"] != own["method"]) continue;
    const Json& input = candidate["inputs"].at(index);
    if (!input.contains("value")) break;
    if (spec.kind == PTERON_KIND_INT) value.as.integer = input["value"];
    if (spec.kind == PTERON_KIND_DOUBLE) value.as.real = input["value"];
    if (spec.kind == PTERON_KIND_BOOL) value.as.boolean = input["value"].get<bool>();
    return value;
  }
  throw UsageError(position(index, spec) + " is " + describe(spec) +
                   ", for which nothing can be made up; give all inputs with -i");
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

// in0, in1, ... of an archive, or in_0, in_1, ...; empty if it has none of them.
std::vector<size_t> numbered_entries(const std::string& file,
                                     const std::vector<std::string>& names) {
  std::map<size_t, size_t> numbered;
  for (size_t entry = 0; entry < names.size(); ++entry) {
    std::string_view name = names[entry];
    if (name.substr(0, 2) != "in") continue;
    name.remove_prefix(name.substr(0, 3) == "in_" ? 3 : 2);
    size_t number = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
    if (parsed.ec == std::errc() && parsed.ptr == name.data() + name.size())
      numbered.emplace(number, entry);
  }
  std::vector<size_t> entries;
  for (const auto& [number, entry] : numbered) {
    if (number != entries.size())
      throw UsageError(file + ": it has an array " + names[entry] + ", but none in" +
                       std::to_string(entries.size()));
    entries.push_back(entry);
  }
  return entries;
}

// An archive's entries by the names of the method's inputs; empty unless it has all of them.
std::vector<size_t> named_entries(const std::vector<std::string>& names,
                                  const std::vector<pteron_spec>& specs) {
  std::vector<size_t> entries;
  for (const pteron_spec& spec : specs) {
    const auto found = std::find(names.begin(), names.end(), spec.name);
    if (found == names.end()) return {};
    entries.push_back(static_cast<size_t>(found - names.begin()));
  }
  return entries;
}

std::vector<Given> list_given(const Options& options, const std::vector<pteron_spec>& specs) {
  const std::vector<std::string>& inputs = options.inputs;
  std::vector<Given> given;
  for (const std::string& input : inputs) {
    if (!ends_with(input, ".npz")) {
      given.push_back({input, nullptr});
      continue;
    }
    const auto archive = std::make_shared<const NpzFile>(input);
    const std::vector<std::string>& names = archive->names();
    std::vector<size_t> entries = numbered_entries(input, names);
    if (entries.empty() && inputs.size() == 1) entries = named_entries(names, specs);
    if (entries.empty()) {
      entries.resize(names.size());
      std::iota(entries.begin(), entries.end(), size_t{0});
      if (names.size() > 1)
        note(options, input +
                          ": its arrays are taken in their order, since they are named neither "
                          "in0, in1, ... nor as the method's inputs");
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
      position(index, spec) + ": " + file + " has " + pteron_dtype_name(header.dtype) + " " +
      describe_shape(header.shape.data(), static_cast<int32_t>(header.shape.size())) +
      ", but the method takes " + describe(spec);
  if (spec.kind == PTERON_KIND_TENSOR && header.dtype != static_cast<pteron_dtype>(spec.dtype))
    message += how_to_convert(spec);
  throw UsageError(message);
}

}  // namespace

Inputs make_inputs(pteron_program* program, pteron_method* method, const Options& options) {
  const std::vector<pteron_spec> specs = input_specs(method);
  Inputs inputs;
  if (!options.inputs.empty()) {
    const std::vector<Given> given = list_given(options, specs);
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
  std::string made;
  for (size_t i = 0; i < specs.size(); ++i) {
    made += (made.empty() ? "" : ", ") + std::string(specs[i].name) + " ";
    if (specs[i].kind != PTERON_KIND_TENSOR) {
      inputs.values.push_back(traced_value(program, method, i, specs[i]));
      made += describe(specs[i]);
      continue;
    }
    inputs.arrays.push_back(made_up_array(specs[i], shapes[i]));
    const Array& array = inputs.arrays.back();
    inputs.values.push_back(array_value(array, nullptr, options, i));
    made += std::string(pteron_dtype_name(array.dtype)) + " " +
            describe_shape(array.shape.data(), static_cast<int32_t>(array.shape.size()));
  }
  if (inputs.made_up) note(options, "no -i given: inputs are made up (" + made + ")");
  return inputs;
}

}  // namespace tools
