// Reads a WAV file as mono samples at the rate that the model wants.
#pragma once

#include <filesystem>
#include <vector>

// The samples of `path` in [-1, 1] at `rate` per second, channels averaged. Reads 16-bit PCM at any
// rate. Throws std::runtime_error, saying what is wrong with the file.
std::vector<float> read_wav(const std::filesystem::path& path, int rate);
