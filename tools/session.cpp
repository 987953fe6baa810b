#include "session.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "platform.h"
#include "text.h"

namespace tools {
namespace {

int precision_number(const std::string& name) {
  if (name == "fast") return PTERON_PRECISION_FAST;
  if (name == "f32") return PTERON_PRECISION_F32;
  if (name == "f16") return PTERON_PRECISION_F16;
  if (name == "bf16") return PTERON_PRECISION_BF16;
  return PTERON_PRECISION_PROGRAM;
}

int accelerate_number(const std::string& name) {
  if (name == "on") return PTERON_ACCELERATE_ON;
  return name == "off" ? PTERON_ACCELERATE_OFF : PTERON_ACCELERATE_AUTO;
}

std::string asked_hint(const Options& options) {
  if (!options.hint.empty()) return options.hint;
  return options.parallel > 1 ? "throughput" : "latency";
}

bool try_to_write_output(const std::string& text) {
  errno = 0;
  const size_t written = std::fwrite(text.data(), 1, text.size(), stdout);
  return std::fflush(stdout) == 0 && written == text.size();
}

void write_output(const std::string& text) {
  if (try_to_write_output(text)) return;
  if (errno == EPIPE) std::_Exit(0);
  throw UsageError("cannot write to standard output: " + std::generic_category().message(errno));
}

// What the user typed need not be UTF-8. What moves a terminal's cursor and JSON would let pass is
// escaped in JSON's way.
std::string dump(const Json& json) {
  std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte == 0x7f) text.replace(i, 1, "\\u007f");
    if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {
      char code[8];
      std::snprintf(code, sizeof(code), "\\u00%02x", static_cast<unsigned>(next));
      text.replace(i, 2, code);
    }
  }
  return text;
}

}  // namespace

void check(pteron_status status, pteron_error* error) {
  if (status == PTERON_OK) return;
  const std::string message = error ? pteron_error_message(error) : "out of memory";
  pteron_error_free(error);
  throw LibraryError(status, message);
}

ProgramOptions::ProgramOptions(const Options& options, bool profile)
    : user_(options), options_(PTERON_INIT(pteron_program_options)) {
  const auto text = [](const std::string& value) {
    return value.empty() ? nullptr : value.c_str();
  };
  options_.device = text(user_.device);
  options_.openvino = text(user_.openvino);
  options_.cache_dir = text(user_.cache_dir);
  for (const std::string& pair : user_.config) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0)
      throw UsageError("--config " + pair + ": give it as KEY=VALUE");
    keys_.push_back(texts_.emplace_back(pair.substr(0, equals)).c_str());
    values_.push_back(texts_.emplace_back(pair.substr(equals + 1)).c_str());
  }
  options_.config_keys = keys_.data();
  options_.config_values = values_.data();
  options_.config_count = keys_.size();
  for (const std::string& path : user_.weights) weights_.push_back(path.c_str());
  options_.weights = weights_.data();
  options_.weights_count = weights_.size();
  options_.precision = precision_number(user_.precision);
  options_.accelerate = accelerate_number(user_.accelerate);
  options_.hint = asked_hint(user_) == "throughput" ? PTERON_HINT_THROUGHPUT : PTERON_HINT_LATENCY;
  options_.threads = user_.threads;
  options_.profile = profile;
}

void check_output(const Options& options) {
  if (options.output.empty()) return;
  const auto refuse = [&](const std::string& what, const std::string& path) {
    if (is_same_file(options.output, path))
      throw UsageError("-o " + options.output + " is " + what + " " + path +
                       ", which would be overwritten; give it another name");
  };
  refuse("the program", options.model);
  for (const std::string& path : options.weights) refuse("the weights file", path);
  for (const std::string& path : options.inputs) refuse("the input", path);
}

ProgramHandle open_program(const Options& options, bool profile) {
  const ProgramOptions program_options(options, profile);
  pteron_program* program = nullptr;
  call([&](pteron_error** error) {
    return pteron_program_open(options.model.c_str(), program_options.get(), &program, error);
  });
  return ProgramHandle(program);
}

MethodHandle load_method(const ProgramHandle& program, const Options& options) {
  pteron_method_options method_options = PTERON_INIT(pteron_method_options);
  method_options.seed = options.seed;
  pteron_method* method = nullptr;
  call([&](pteron_error** error) {
    return pteron_method_load(program.get(),
                              options.method.empty() ? nullptr : options.method.c_str(),
                              &method_options, &method, error);
  });
  return MethodHandle(method);
}

std::string describe_shape(const int64_t* shape, int32_t rank) {
  std::string text = "[";
  for (int32_t i = 0; i < rank; ++i) text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::string describe(const pteron_spec& spec) {
  switch (spec.kind) {
    case PTERON_KIND_TENSOR:
      break;
    case PTERON_KIND_INT:
      return "int";
    case PTERON_KIND_DOUBLE:
      return "double";
    case PTERON_KIND_BOOL:
      return "bool";
    case PTERON_KIND_STRING:
      return "string";
    case PTERON_KIND_NONE:
      return "none";
    default:
      return "list";
  }
  std::string text = std::string(pteron_dtype_name(static_cast<pteron_dtype>(spec.dtype))) + " [";
  for (int32_t i = 0; i < spec.rank; ++i) {
    text += std::string(i > 0 ? ", " : "") + (spec.dynamic && spec.shape[i] > 1 ? "<=" : "") +
            std::to_string(spec.shape[i]);
  }
  return text + "]";
}

std::string asked_device(const Options& options) {
  std::string device;
  for (const char c : options.device) {
    if (c != ' ') device += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return device;
}

Json notes_without_openvino(const Options& options, const std::string& whose) {
  const std::string device = asked_device(options);
  std::string asked;
  const auto add = [&](const std::string& option) {
    asked += (asked.empty() ? "" : ", ") + option;
  };
  if (!device.empty() && device != "CPU" && device != "NONE") add("--device " + options.device);
  if (options.precision != "program") add("--precision " + options.precision);
  if (!options.hint.empty()) add("--hint " + options.hint);
  for (const std::string& pair : options.config) add("--config " + pair);
  if (!options.cache_dir.empty()) add("--cache " + options.cache_dir);
  if (asked.empty()) return Json::array();
  return Json::array({asked + ": without effect, since " + whose +
                      " has no part for OpenVINO; kernels run on the CPU in the program's own "
                      "precision"});
}

void say_notes(const Options& options, const Json& notes) {
  for (const Json& text : notes) note(options, "note: " + text.get<std::string>());
}

Json execution(pteron_method* method, const Options& options) {
  const Json whole = call_json([&](char** json, pteron_error** error) {
    return pteron_method_execution(method, json, error);
  });
  const Json& parts = whole["execution"];
  Json out{{"method", whole["method"]}};
  out["requested"] = {{"device", options.device.empty() ? "program" : options.device},
                      {"precision", options.precision},
                      {"threads", options.threads},
                      {"hint", asked_hint(options)},
                      {"accelerate", options.accelerate},
                      {"cache", options.cache_dir},
                      {"config", options.config}};
  out["execution"] = parts;
  out["accelerated"] = whole["accelerated"];
  bool openvino = false;
  Json notes = Json::array();
  for (const Json& part : parts) {
    if (part["ran_by"].get<std::string>().rfind("OpenVINO ", 0) == 0) {
      out["openvino"] = {{"version", part["ran_by"].get<std::string>().substr(9)},
                         {"file", part.value("library", "")}};
      openvino = true;
      if (!options.cache_dir.empty() && part["properties"].value("CACHE_DIR", "").empty())
        notes.push_back("--cache " + options.cache_dir +
                        (whole["accelerated"]["regions"].empty()
                             ? ": without effect, since the program's blob is imported as it is, "
                               "and nothing is compiled that could be kept"
                             : ": without effect on the program's own operators: what is compiled "
                               "of them is not kept"));
    }
  }
  const std::string whose = "method \"" + whole["method"].get<std::string>() + "\"";
  out["notes"] = openvino ? notes : notes_without_openvino(options, whose);
  return out;
}

double now_ms() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void print(const std::string& text) { write_output(escaped(text, true)); }

void print_json(const Json& json) { write_output(dump(json)); }

void print_failure(int status, const std::string& message) {
  const Json json{{"format", 1}, {"error", {{"status", status}, {"message", message}}}};
  try_to_write_output(dump(json));
}

void say(const std::string& text) {
  // In one write: MinGW's fprintf gives Windows' console single bytes, which are no letters.
  const std::string line = escaped(text) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);  // Windows' library keeps what is meant for a pipe.
}

void note(const Options& options, const std::string& text) {
  if (!options.quiet) say(text);
}

}  // namespace tools
