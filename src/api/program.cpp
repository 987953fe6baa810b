// Opening programs.
#include "api/handles.h"
#include "api/options.h"
#include "base/mapped_file.h"
#include "program/decode.h"

using namespace pteron;

namespace {

Result<void> open(FileBytes file, OpenedOptions options, pteron_program** program) {
  DecodeLimits limits;
  if (options.memory_limit > 0) limits.planned_memory = options.memory_limit;
  auto opened = std::make_unique<pteron_program>();
  opened->origin = file.origin;
  opened->device = options.device;
  if (file.is_mapping) {
    options.runtime.give_file_back = [contents = FileContents{file.bytes, file.storage, true}] {
      release_pages(contents, contents.bytes);
    };
  }
  PTERON_ASSIGN(Program decoded, decode_program(std::move(file), limits));
  for (const std::string& path : options.weights) {
    PTERON_ASSIGN(FileBytes weights_file, open_file(path, options.copy_file));
    PTERON_ASSIGN(Weights weights, decode_weights(std::move(weights_file)));
    options.runtime.weights.push_back(std::move(weights));
  }
  PTERON_ASSIGN(opened->loaded,
                LoadedProgram::make(std::move(decoded), std::move(options.runtime)));
  *program = opened.release();
  return {};
}

}  // namespace

pteron_status pteron_program_open(const char* path, const pteron_program_options* options,
                                  pteron_program** program, pteron_error** error) {
  return guarded(error, [&]() -> Result<void> {
    if (path == nullptr) return null_argument("path");
    if (program == nullptr) return null_argument("program");
    PTERON_ASSIGN(OpenedOptions opened, read_options(options));
    PTERON_ASSIGN(FileBytes file, open_file(path, opened.copy_file));
    return open(std::move(file), std::move(opened), program);
  });
}

pteron_status pteron_program_open_memory(const void* data, size_t size,
                                         const pteron_program_options* options,
                                         pteron_program** program, pteron_error** error) {
  return guarded(error, [&]() -> Result<void> {
    if (data == nullptr && size > 0) return null_argument("data");
    if (program == nullptr) return null_argument("program");
    PTERON_ASSIGN(OpenedOptions opened, read_options(options));
    FileBytes file = wrap_bytes({static_cast<const std::byte*>(data), size}, opened.copy_file);
    return open(std::move(file), std::move(opened), program);
  });
}

void pteron_program_free(pteron_program* program) { delete program; }

size_t pteron_program_method_count(const pteron_program* program) {
  return program ? program->loaded->program().plans.size() : 0;
}

const char* pteron_program_method_name(const pteron_program* program, size_t index) {
  if (program == nullptr || index >= program->loaded->program().plans.size()) return nullptr;
  return program->loaded->program().plans[index].name.c_str();
}
