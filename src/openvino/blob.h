// What can be known of a compiled model's blob before OpenVINO reads it.
//
// The CPU's blob is a small header with offsets and sizes, then settings, weights and an obscured
// IR. From 2026 a stamp comes first, with the version and instruction set that it needs; before, no
// part of a blob tells a version, not even the IR. Other devices' blobs are their drivers' affair.
#pragma once

#include <string>

#include "base/result.h"
#include "program/program.h"

namespace pteron {

enum class BlobKind { Unknown, Cpu, CpuStamped };

struct BlobInfo {
  BlobKind kind = BlobKind::Unknown;
  std::string version;  // "2026.4.1" where there is a stamp, else empty.
  std::string isa;      // The stamp's, in oneDNN's words: "Intel AVX-512 with Intel DL Boost".

  // "OpenVINO 2026.4.1", "an OpenVINO before 2026 (the blob carries no version)"
  std::string maker() const;
};

// Fails with Malformed if the blob is empty, or is the CPU's and its own offsets and sizes do not
// fit it.
Result<BlobInfo> inspect_blob(Bytes blob);

}  // namespace pteron
