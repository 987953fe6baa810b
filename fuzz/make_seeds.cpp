// Makes the seeds in fuzz/seeds/execute from golden programs: what the golden set does not have in
// a form that is small and that the fake OpenVINO runs. usage: make_seeds GOLDEN_FOLDER
// SEEDS_FOLDER
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <string>

#include "program/decode.h"
#include "program/encode.h"
#include "program/file_maker.h"

namespace {

using namespace pteron;
using test::ByteVector;

template <typename T>
T take(Result<T> result) {
  if (result.ok()) return *std::move(result);
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  std::exit(1);
}

std::string fake_type(DType dtype) {
  switch (dtype) {
    case DType::Float32:
      return "f32";
    case DType::Float64:
      return "f64";
    case DType::Int64:
      return "i64";
    case DType::Int32:
      return "i32";
    case DType::Bool:
      return "bool";
    default:
      return "u8";
  }
}

std::string fake_port(const TensorDef& tensor) {
  std::string text = fake_type(tensor.dtype) + " ";
  for (size_t i = 0; i < tensor.sizes.size(); ++i) {
    if (i > 0) text += ",";
    if (tensor.dynamism == Dynamism::Bounded) text += "0..";
    text += std::to_string(tensor.sizes[i]);
  }
  return text + (tensor.sizes.empty() ? "scalar" : "") + " p\n";
}

// A program whose OpenVINO blobs are the fake's: output i is input i. `keep` holds the blobs.
Program with_fake_blobs(Program program, std::deque<std::string>& keep) {
  for (Plan& plan : program.plans) {
    for (const Chain& chain : plan.chains) {
      for (const Instruction& instruction : chain.instructions) {
        const auto* call = std::get_if<DelegateCall>(&instruction);
        if (call == nullptr) continue;
        std::string blob = "FAKEBLOB\n";
        for (const ValueIndex arg : call->args) {
          const bool is_output = std::ranges::count(plan.outputs, arg) > 0;
          blob += is_output ? "output " : "input ";
          blob += fake_port(std::get<TensorDef>(plan.values[arg]));
        }
        keep.push_back(blob + "op copy\n");
        plan.delegates[call->delegate].payload = std::as_bytes(std::span(keep.back()));
      }
    }
  }
  return program;
}

// The same as ExecuTorch wrote it before it had segments: constants and payloads lie in the
// FlatBuffer.
ByteVector without_segments(const Program& program) {
  const ByteVector file = take(encode_program(program));
  std::unique_ptr<test::pte::ProgramT> tables = test::pte::UnPackProgram(file.data());
  test::PteFile old;
  old.header_length = 0;
  uint64_t base = 0;
  std::memcpy(&base, file.data() + 24, sizeof(base));
  const auto segment = [&](size_t index, size_t offset, size_t size) {
    const auto* data = reinterpret_cast<const uint8_t*>(file.data()) + base;
    data += tables->segments.at(index)->offset + offset;
    return std::vector<uint8_t>(data, data + size);
  };
  const auto& offsets = tables->constant_segment->offsets;
  for (size_t i = 0; i < offsets.size(); ++i) {
    const size_t index = tables->constant_segment->segment_index;
    const size_t end = i + 1 < offsets.size() ? offsets[i + 1] : tables->segments.at(index)->size;
    auto buffer = std::make_unique<test::pte::BufferT>();
    buffer->storage = segment(index, offsets[i], end - offsets[i]);
    tables->constant_buffer.push_back(std::move(buffer));
  }
  for (auto& plan : tables->execution_plan) {
    for (auto& delegate : plan->delegates) {
      const size_t index = delegate->processed->index;
      delegate->processed->location = test::pte::DataLocation::INLINE;
      delegate->processed->index = static_cast<uint32_t>(tables->backend_delegate_data.size());
      auto data = std::make_unique<test::pte::BackendDelegateInlineDataT>();
      data->data = segment(index, 0, tables->segments.at(index)->size);
      tables->backend_delegate_data.push_back(std::move(data));
    }
  }
  tables->constant_segment.reset();
  tables->segments.clear();
  old.program = std::move(*tables);
  return old.bytes();
}

}  // namespace

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  if (argc != 3) return 2;
  const fs::path golden = argv[1];
  const fs::path seeds = argv[2];
  std::deque<std::string> blobs;
  const auto decoded = [&](const char* name) {
    auto file = take(open_file((golden / name / "model.pte").string(), true));
    return with_fake_blobs(take(decode_program(std::move(file))), blobs);
  };
  const auto write = [&](const char* name, const ByteVector& bytes) {
    std::ofstream stream(seeds / name, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(bytes.data()),
                 static_cast<std::streamsize>(bytes.size()));
  };
  const Program delegated = decoded("openvino/abs__abs_shapes");
  write("delegated.pte", take(encode_program(delegated)));
  write("delegated_inline.pte", without_segments(delegated));
  write("delegated_dynamic.pte", take(encode_program(decoded("openvino/extra__cat_dyn"))));
  write("constants_inline.pte", without_segments(decoded("portable/models__ModuleLinear")));
  const auto copy = [&](const char* from, const char* to) {
    fs::copy_file(golden / "portable" / from, seeds / to, fs::copy_options::overwrite_existing);
  };
  copy("models__ModuleLinear_ptd/model.pte", "linear_ptd.pte");
  copy("models__ModuleLinear_ptd/_default_external_constant.ptd", "linear.ptd");
  copy("models__ModuleAddMul_ptd/model.pte", "add_mul_ptd.pte");
  copy("models__ModuleAddMul_ptd/_default_external_constant.ptd", "add_mul.ptd");
  return 0;
}
