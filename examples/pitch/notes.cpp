// From CREPE's output to notes: smooth the pitch, drop what is silent or unsure, join what is one
// note.
#include "notes.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace {

constexpr double kConfident = 0.5;
constexpr double kShortestNote = 0.08;  // Seconds.
// A breath between two notes of one pitch is shorter than a frame, so loudness over a much shorter
// stretch tells silence: below this part of the loudest one in the recording.
constexpr ptrdiff_t kLoudnessSize = 256;
constexpr double kSilence = 0.05;
constexpr int kNoNote = -1;

double loudness(const std::vector<float>& samples, size_t index) {
  const auto centre = static_cast<ptrdiff_t>(index) * kHop;
  const ptrdiff_t begin = std::max<ptrdiff_t>(0, centre - kLoudnessSize / 2);
  const ptrdiff_t end =
      std::min(static_cast<ptrdiff_t>(samples.size()), centre + kLoudnessSize / 2);
  double sum = 0;
  for (ptrdiff_t i = begin; i < end; ++i) {
    sum += static_cast<double>(samples[static_cast<size_t>(i)]) * samples[static_cast<size_t>(i)];
  }
  return std::sqrt(sum / kLoudnessSize);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Each frequency becomes the median of the five around it.
void smooth(std::vector<Pitch>& pitches) {
  const std::vector<Pitch> before = pitches;
  for (size_t i = 2; i + 2 < before.size(); ++i) {
    std::vector<double> around;
    for (size_t k = i - 2; k <= i + 2; ++k) around.push_back(before[k].frequency);
    pitches[i].frequency = median(std::move(around));
  }
}

int midi_note(double frequency) {
  return static_cast<int>(std::lround(69 + 12 * std::log2(frequency / 440)));
}

std::string note_name(int midi) {
  static constexpr std::array kNames = {"C",  "C#", "D",  "D#", "E",  "F",
                                        "F#", "G",  "G#", "A",  "A#", "B"};
  return kNames[static_cast<size_t>(midi % 12)] + std::to_string(midi / 12 - 1);
}

}  // namespace

void cut_frame(const std::vector<float>& samples, size_t index, float* frame) {
  const ptrdiff_t begin = static_cast<ptrdiff_t>(index) * kHop - kFrameSize / 2;
  double sum = 0;
  for (ptrdiff_t i = 0; i < kFrameSize; ++i) {
    const ptrdiff_t at = begin + i;
    const bool inside = at >= 0 && at < static_cast<ptrdiff_t>(samples.size());
    frame[i] = inside ? samples[static_cast<size_t>(at)] : 0.0F;
    sum += frame[i];
  }
  const double mean = sum / kFrameSize;
  double squares = 0;
  for (ptrdiff_t i = 0; i < kFrameSize; ++i) squares += (frame[i] - mean) * (frame[i] - mean);
  const double deviation = std::max(std::sqrt(squares / kFrameSize), 1e-10);
  for (ptrdiff_t i = 0; i < kFrameSize; ++i) {
    frame[i] = static_cast<float>((frame[i] - mean) / deviation);
  }
}

Pitch decode_pitch(const float* bins) {
  // CREPE's scale: bin 0 is 1997.379... cents above 10 Hz (C1), each further bin 20 cents more.
  constexpr double kFirstCents = 1997.3794084376191;
  const ptrdiff_t best = std::max_element(bins, bins + kPitchBins) - bins;
  const ptrdiff_t begin = std::max<ptrdiff_t>(0, best - 4);
  const ptrdiff_t end = std::min<ptrdiff_t>(kPitchBins, best + 5);
  double weighted = 0;
  double weights = 0;
  for (ptrdiff_t i = begin; i < end; ++i) {
    weighted += bins[i] * (kFirstCents + 20.0 * static_cast<double>(i));
    weights += bins[i];
  }
  if (weights <= 0) return {};
  return {10 * std::exp2(weighted / weights / 1200), bins[best]};
}

std::vector<Note> find_notes(const std::vector<float>& samples, std::vector<Pitch> pitches) {
  smooth(pitches);
  std::vector<double> loud(pitches.size());
  for (size_t i = 0; i < loud.size(); ++i) loud[i] = loudness(samples, i);
  const double loudest = loud.empty() ? 0 : *std::max_element(loud.begin(), loud.end());

  std::vector<Note> notes;
  const double hop = static_cast<double>(kHop) / kRate;
  const auto note_at = [&](size_t i) {
    if (i >= pitches.size() || pitches[i].confidence < kConfident) return kNoNote;
    if (loud[i] < kSilence * loudest) return kNoNote;
    return midi_note(pitches[i].frequency);
  };
  for (size_t begin = 0; begin < pitches.size();) {
    const int midi = note_at(begin);
    size_t end = begin + 1;
    while (end < pitches.size() && note_at(end) == midi) ++end;
    const double length = static_cast<double>(end - begin) * hop;
    if (midi != kNoNote && length >= kShortestNote) {
      std::vector<double> frequencies;
      for (size_t i = begin; i < end; ++i) frequencies.push_back(pitches[i].frequency);
      const double start = static_cast<double>(begin) * hop;
      notes.push_back({start, start + length, note_name(midi), median(std::move(frequencies))});
    }
    begin = end;
  }
  return notes;
}
