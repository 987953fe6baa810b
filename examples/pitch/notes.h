// From CREPE's output, frame by frame, to notes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

constexpr int kRate = 16000;      // Samples per second that CREPE was trained on.
constexpr int kFrameSize = 1024;  // Samples in a frame.
constexpr int kHop = 160;         // Samples from one frame to the next: 10 ms.
constexpr int kPitchBins = 360;   // Outputs per frame, 20 cents apart.

// Frame `index` is centred on sample index * kHop, and normalised as CREPE wants: no mean, unit
// deviation.
void cut_frame(const std::vector<float>& samples, size_t index, float* frame);

struct Pitch {
  double frequency = 0;   // Hz.
  double confidence = 0;  // In [0, 1].
};

// The pitch in one frame's kPitchBins outputs.
Pitch decode_pitch(const float* bins);

struct Note {
  double start = 0;  // Seconds.
  double end = 0;
  std::string name;      // "E4"
  double frequency = 0;  // The median over the note, in Hz.
};

// The notes in a recording, of which `pitches` has one entry per frame.
std::vector<Note> find_notes(const std::vector<float>& samples, std::vector<Pitch> pitches);
