// Prints the notes in a recording: CREPE, an ExecuTorch program delegated to OpenVINO, finds the
// pitch of each 64 ms frame, and notes.cpp makes notes of the pitches.
//
// usage: pitch crepe_openvino.pte RECORDING.wav [--openvino PATH]
#include <algorithm>
#include <cstdio>
#include <exception>
#include <pteron/pteron.hpp>
#include <string>
#include <vector>

#include "notes.h"
#include "wav.h"

namespace {

constexpr size_t kBatch = 8;  // Frames that the program takes at once.

class Crepe {
 public:
  Crepe(const char* model, const pteron::Options& options)
      : method_(pteron::Program(model, options).load("forward")) {
    // Bound once: each run reads the frames where they lie.
    method_.bind_input(0, pteron::tensor(frames_, {kBatch, kFrameSize}));
  }

  std::vector<Pitch> pitches(const std::vector<float>& samples) {
    const size_t count = samples.size() / kHop + 1;
    std::vector<Pitch> found;
    for (size_t first = 0; first < count; first += kBatch) {
      // Frames past the recording's end are silence.
      for (size_t i = 0; i < kBatch; ++i) {
        cut_frame(samples, first + i, frames_.data() + i * kFrameSize);
      }
      const pteron::Outputs outputs = method_.execute();
      const float* bins = outputs[0].data<float>();
      for (size_t i = 0; i < std::min(kBatch, count - first); ++i) {
        found.push_back(decode_pitch(bins + i * kPitchBins));
      }
    }
    return found;
  }

 private:
  std::vector<float> frames_ = std::vector<float>(kBatch * kFrameSize);
  pteron::Method method_;
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
    pteron::Options options;
    if (has_openvino) options.openvino(argv[4]);
    Crepe crepe(argv[1], options);
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
