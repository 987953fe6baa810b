// A program and its methods, opened as the options say.
#pragma once

#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "options.h"

namespace tools {

using Json = nlohmann::ordered_json;

// Throws the library's error if `status` is one.
void check(pteron_status status, pteron_error* error);

// Calls function(error) and throws its failure.
template <typename Function>
void call(Function&& function) {
  pteron_error* error = nullptr;
  const pteron_status status = function(&error);
  check(status, error);
}

// Calls function(&text, error), which gives a JSON text.
template <typename Function>
Json call_json(Function&& function) {
  char* text = nullptr;
  call([&](pteron_error** error) { return function(&text, error); });
  const std::unique_ptr<char, void (*)(char*)> owner(text, pteron_string_free);
  return Json::parse(text);
}

struct FreeProgram {
  void operator()(pteron_program* program) const { pteron_program_free(program); }
};
struct FreeMethod {
  void operator()(pteron_method* method) const { pteron_method_free(method); }
};
using ProgramHandle = std::unique_ptr<pteron_program, FreeProgram>;
using MethodHandle = std::unique_ptr<pteron_method, FreeMethod>;

// The library's options from the user's; keeps the strings that they point at.
class ProgramOptions {
 public:
  explicit ProgramOptions(const Options& options, bool profile = false);
  const pteron_program_options* get() const { return &options_; }

 private:
  const Options user_;
  std::deque<std::string> texts_;
  std::vector<const char*> keys_;
  std::vector<const char*> values_;
  std::vector<const char*> weights_;
  pteron_program_options options_;
};

// Throws UsageError if the file that -o names is one that the command reads, by this name or by
// another (a link). To be called before anything is written.
void check_output(const Options& options);

ProgramHandle open_program(const Options& options, bool profile = false);
MethodHandle load_method(const ProgramHandle& program, const Options& options);

// "float32 [1, 3, 224, 224]", with "<=" before the bounds of a dynamic one.
std::string describe(const pteron_spec& spec);
std::string describe_shape(const int64_t* shape, int32_t rank);

// --device as the library compares devices: "CPU", "GPU.1", "NONE"; empty if it was not given.
std::string asked_device(const Options& options);

// What the user asked for of OpenVINO, such as "--device GPU", though `whose` has no part that it
// would run: a line for people, and for the field `notes`; empty if there is nothing to say. The
// CPU is no such thing: kernels run there.
Json notes_without_openvino(const Options& options, const std::string& whose);
void say_notes(const Options& options, const Json& notes);

// How the parts of a method ran, with what the user asked for beside it, and `notes`.
Json execution(pteron_method* method, const Options& options);

double now_ms();

// Writes to stdout; a reader who has gone away is not an error: the command ends with 0.
void print(const std::string& text);
void print_json(const Json& json);
// The failure as JSON, if stdout takes it; the failure stays the one to report in any case.
void print_failure(int status, const std::string& message);
// One line for people, on stderr.
void say(const std::string& text);
// The same, unless --quiet.
void note(const Options& options, const std::string& text);

}  // namespace tools
