#include <algorithm>
#include <cmath>
#include <cstring>

#include "commands.h"
#include "inputs.h"
#include "npz.h"
#include "table.h"

namespace tools {
namespace {

// A dense row-major copy of an output.
Array copy_output(const pteron_tensor& tensor) {
  Array array;
  array.dtype = static_cast<pteron_dtype>(tensor.dtype);
  array.shape.assign(tensor.shape, tensor.shape + tensor.rank);
  const size_t element_size = pteron_dtype_size(array.dtype);
  size_t count = 1;
  for (const int64_t size : array.shape) count *= static_cast<size_t>(size);
  array.data.resize(count * element_size);
  if (!tensor.strides) {
    if (count > 0) std::memcpy(array.data.data(), tensor.data, array.data.size());
    return array;
  }
  std::vector<int64_t> index(array.shape.size());
  for (size_t i = 0; i < count; ++i) {
    int64_t at = 0;
    for (size_t d = 0; d < index.size(); ++d) at += index[d] * tensor.strides[d];
    std::memcpy(array.data.data() + i * element_size, static_cast<const char*>(tensor.data) + at,
                element_size);
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < array.shape[d]) break;
      index[d] = 0;
    }
  }
  return array;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return text;
}

// Of an array: least, greatest and mean of the finite values, how many are not, and the first few.
Json summarize(const Array& array) {
  const size_t size = pteron_dtype_size(array.dtype);
  const size_t count = array.data.size() / size;
  double least = INFINITY;
  double greatest = -INFINITY;
  double sum = 0;
  size_t finite = 0;
  Json first = Json::array();
  for (size_t i = 0; i < count; ++i) {
    const double value = element_value(array.dtype, array.data.data() + i * size);
    if (i < 8) first.push_back(std::isfinite(value) ? Json(value) : Json(number(value)));
    if (!std::isfinite(value)) continue;
    least = std::min(least, value);
    greatest = std::max(greatest, value);
    sum += value;
    ++finite;
  }
  Json json;
  if (finite > 0) {
    json["min"] = least;
    json["max"] = greatest;
    json["mean"] = sum / static_cast<double>(finite);
  }
  json["not_finite"] = count - finite;
  json["first"] = std::move(first);
  return json;
}

Json scalar_json(const pteron_value& value) {
  switch (value.kind) {
    case PTERON_KIND_INT:
      return {{"kind", "int"}, {"value", value.as.integer}};
    case PTERON_KIND_DOUBLE:
      return {{"kind", "double"}, {"value", value.as.real}};
    case PTERON_KIND_BOOL:
      return {{"kind", "bool"}, {"value", value.as.boolean != 0}};
    case PTERON_KIND_STRING:
      return {{"kind", "string"}, {"value", value.as.string}};
    default:
      return {{"kind", "none"}};
  }
}

// The scalar as an array without dimensions; false if NumPy has none for it.
bool scalar_array(const pteron_value& value, Array& array) {
  const auto keep = [&](pteron_dtype dtype, const void* data) {
    array.dtype = dtype;
    const char* bytes = static_cast<const char*>(data);
    array.data.assign(bytes, bytes + pteron_dtype_size(dtype));
    return true;
  };
  if (value.kind == PTERON_KIND_INT) return keep(PTERON_INT64, &value.as.integer);
  if (value.kind == PTERON_KIND_DOUBLE) return keep(PTERON_FLOAT64, &value.as.real);
  if (value.kind == PTERON_KIND_BOOL) return keep(PTERON_BOOL, &value.as.boolean);
  return false;
}

std::string first_values(const Json& first) {
  std::string text;
  for (const Json& value : first) {
    if (!text.empty()) text += " ";
    text += value.is_string() ? value.get<std::string>() : number(value);
  }
  return text;
}

}  // namespace

void run_command(const Options& options) {
  check_output(options);
  const double start = now_ms();
  const ProgramHandle program = open_program(options);
  const MethodHandle method = load_method(program, options);
  const double loaded = now_ms();
  const Inputs inputs = make_inputs(program.get(), method.get(), options);
  for (size_t i = 0; i < inputs.values.size(); ++i) {
    call([&](pteron_error** error) {
      return pteron_method_bind_input(method.get(), i, &inputs.values[i], error);
    });
  }
  const double before = now_ms();
  for (int i = 0; i < options.repeat; ++i) {
    call([&](pteron_error** error) { return pteron_method_execute(method.get(), error); });
  }
  const double run_ms = (now_ms() - before) / options.repeat;

  Json json{{"format", 1}, {"method", nullptr}};
  json["load_ms"] = loaded - start;
  json["run_ms"] = run_ms;
  json["inputs_made_up"] = inputs.made_up;
  json["outputs"] = Json::array();
  NamedArrays saved;
  std::vector<std::vector<std::string>> rows = {
      {"output", "dtype", "shape", "min", "max", "mean", "first values"}};
  for (size_t i = 0; i < pteron_method_output_count(method.get()); ++i) {
    pteron_value value{};
    call([&](pteron_error** error) {
      return pteron_method_get_output(method.get(), i, &value, error);
    });
    const std::string name = "out" + std::to_string(i);
    if (value.kind != PTERON_KIND_TENSOR) {
      Json scalar = scalar_json(value);
      rows.push_back({name, scalar["kind"], "", "", "", "",
                      scalar.contains("value") ? scalar["value"].dump() : ""});
      json["outputs"].push_back(std::move(scalar));
      Array array;
      if (scalar_array(value, array))
        saved.emplace_back(name, std::move(array));
      else if (!options.output.empty())
        note(options, name + " is not saved: NumPy has no array for it");
      continue;
    }
    Array array = copy_output(value.as.tensor);
    Json output{
        {"kind", "tensor"}, {"dtype", pteron_dtype_name(array.dtype)}, {"shape", array.shape}};
    const Json summary = summarize(array);
    output.update(summary);
    const pteron_dtype stored = stored_dtype(array.dtype);
    if (stored != array.dtype) output["saved_as"] = pteron_dtype_name(stored);
    const auto cell = [&](const char* key) {
      return summary.contains(key) ? number(summary[key]) : std::string("-");
    };
    rows.push_back({name, pteron_dtype_name(array.dtype),
                    describe_shape(array.shape.data(), static_cast<int32_t>(array.shape.size())),
                    cell("min"), cell("max"), cell("mean"), first_values(summary["first"])});
    if (summary["not_finite"] > 0)
      rows.back().back() += " (" + summary["not_finite"].dump() + " not finite)";
    json["outputs"].push_back(std::move(output));
    saved.emplace_back(name, std::move(array));
  }
  if (!options.output.empty()) write_npz(options.output, saved);
  json.update(execution(method.get(), options));
  say_notes(options, json["notes"]);
  if (options.json) return print_json(json);
  std::string ran;
  for (const Json& part : json["execution"]) {
    ran += (ran.empty() ? "" : ", ") + part["ran_by"].get<std::string>() + " on " +
           part["device"].get<std::string>() + " in " + part["precision"].get<std::string>();
  }
  print(format_table(rows));
  note(options,
       "loaded in " + format_ms(json["load_ms"]) + ", ran in " + format_ms(run_ms) +
           (options.repeat > 1 ? " (mean of " + std::to_string(options.repeat) + ")" : "") +
           (ran.empty() ? "" : ": " + ran) +
           (options.output.empty() ? "" : "; saved " + options.output));
}

}  // namespace tools
