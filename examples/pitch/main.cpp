// Prints the notes in a recording: CREPE, an ExecuTorch program delegated to OpenVINO, finds the
// pitch of each 64 ms frame, and notes.cpp makes notes of the pitches.
//
// usage: pitch crepe_openvino.pte RECORDING.wav [--openvino PATH]
#include <pteron/pteron.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "notes.h"
#include "wav.h"

namespace {

constexpr size_t kBatch = 8;  // Frames that the program takes at once.

void check(pteron_status status, pteron_error* error) {
  if (status == PTERON_OK) return;
  const std::unique_ptr<pteron_error, decltype(&pteron_error_free)> owner(error, pteron_error_free);
  throw std::runtime_error(pteron_error_message(error));
}

class Crepe {
 public:
  Crepe(const char* model, const char* openvino) {
    pteron_error* error = nullptr;
    pteron_program* program = nullptr;
    pteron_program_options options = PTERON_INIT(pteron_program_options);
    options.openvino = openvino;
    check(pteron_program_open(model, &options, &program, &error), error);
    program_.reset(program);
    pteron_method* method = nullptr;
    check(pteron_method_load(program, "forward", nullptr, &method, &error), error);
    method_.reset(method);
    // Bound once: each run reads the frames where they lie.
    const int64_t shape[] = {kBatch, kFrameSize};
    const pteron_value input = pteron_tensor_value(frames_.data(), PTERON_FLOAT32, 2, shape);
    check(pteron_method_bind_input(method, 0, &input, &error), error);
  }

  std::vector<Pitch> pitches(const std::vector<float>& samples) {
    const size_t count = samples.size() / kHop + 1;
    std::vector<Pitch> found;
    for (size_t first = 0; first < count; first += kBatch) {
      // Frames past the recording's end are silence.
      for (size_t i = 0; i < kBatch; ++i) {
        cut_frame(samples, first + i, frames_.data() + i * kFrameSize);
      }
      const float* bins = run();
      for (size_t i = 0; i < std::min(kBatch, count - first); ++i) {
        found.push_back(decode_pitch(bins + i * kPitchBins));
      }
    }
    return found;
  }

 private:
  const float* run() {
    pteron_error* error = nullptr;
    pteron_value output;
    check(pteron_method_execute(method_.get(), &error), error);
    check(pteron_method_get_output(method_.get(), 0, &output, &error), error);
    return static_cast<const float*>(output.as.tensor.data);
  }

  std::vector<float> frames_ = std::vector<float>(kBatch * kFrameSize);
  std::unique_ptr<pteron_program, decltype(&pteron_program_free)> program_{nullptr,
                                                                           pteron_program_free};
  std::unique_ptr<pteron_method, decltype(&pteron_method_free)> method_{nullptr,
                                                                        pteron_method_free};
};

}  // namespace

int main(int argc, char** argv) {
  const bool has_openvino = argc == 5 && std::string(argv[3]) == "--openvino";
  if (argc != 3 && !has_openvino) {
    std::fprintf(stderr, "usage: pitch crepe_openvino.pte RECORDING.wav [--openvino PATH]\n");
    return 2;
  }
  try {
    const std::vector<float> samples = read_wav(argv[2], kRate);
    Crepe crepe(argv[1], has_openvino ? argv[4] : nullptr);
    for (const Note& note : find_notes(samples, crepe.pitches(samples))) {
      std::printf("%.2f s  %.2f s  %s  %.1f Hz\n", note.start, note.end, note.name.c_str(),
                  note.frequency);
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "pitch: %s\n", error.what());
    return 1;
  }
}
