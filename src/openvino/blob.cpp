#include "openvino/blob.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "base/checked.h"
#include "base/text.h"
#include "openvino/status.h"

namespace pteron {
namespace {

// Offset and size of the settings, the weights and the model, counted from the header's own start.
using CpuHeader = std::array<uint64_t, 6>;

constexpr std::string_view kStampMagic = "RR_UPCVO";
constexpr size_t kStampHead = 8 + 4 + 8;  // Magic, format version, length of the text.

Error damaged(const std::string& why) {
  return {Code::Malformed, "the OpenVINO blob is damaged: " + why + "; export the model again"};
}

// Whether the bytes begin with the header of a CPU blob: its first offset is its own size.
bool is_cpu_header(Bytes bytes) {
  uint64_t first = 0;
  if (bytes.size() < sizeof(first)) return false;
  std::memcpy(&first, bytes.data(), sizeof(first));
  return first == sizeof(CpuHeader);
}

// A field of the stamp, such as "ov=2026.4.1;": empty if it is not there.
std::string_view stamp_field(std::string_view stamp, std::string_view key) {
  while (!stamp.empty()) {
    const size_t end = std::min(stamp.find(';'), stamp.size());
    const std::string_view field = stamp.substr(0, end);
    if (field.substr(0, key.size()) == key) return field.substr(key.size());
    stamp.remove_prefix(std::min(end + 1, stamp.size()));
  }
  return {};
}

Result<void> check_cpu_header(Bytes bytes) {
  CpuHeader header;
  if (bytes.size() < sizeof(header)) return damaged("it ends within its header");
  std::memcpy(header.data(), bytes.data(), sizeof(header));
  uint64_t end = sizeof(header);
  constexpr std::array<const char*, 3> kParts = {"settings", "weights", "model"};
  for (size_t part = 0; part < kParts.size(); ++part) {
    const uint64_t offset = header[2 * part];
    const uint64_t size = header[2 * part + 1];
    if (offset < end || !fits(offset, size, bytes.size())) {
      return damaged("its " + std::string(kParts[part]) + " should be " + counted(size, "byte") +
                     " at " + std::to_string(offset) + ", and it has " +
                     counted(bytes.size(), "byte"));
    }
    end = offset + size;
  }
  if (header[5] == 0) return damaged("it has no model");
  // OpenVINO reads the model to the end of the memory it is given.
  if (end != bytes.size()) {
    return damaged(counted(bytes.size() - end, "byte") + " too many after its model");
  }
  return {};
}

}  // namespace

std::string BlobInfo::maker() const {
  switch (kind) {
    case BlobKind::CpuStamped:
      return "OpenVINO " + version + " (for the CPU)";
    case BlobKind::Cpu:
      return "an OpenVINO before 2026 (for the CPU; the blob carries no version)";
    case BlobKind::Unknown:
      break;
  }
  return "an unknown OpenVINO (the blob is not the CPU's)";
}

Result<BlobInfo> inspect_blob(Bytes blob) {
  if (blob.empty()) return damaged("it is empty");
  const std::string_view text(reinterpret_cast<const char*>(blob.data()), blob.size());
  if (text.substr(0, kStampMagic.size()) == kStampMagic) {
    if (blob.size() < kStampHead) return damaged("it ends within its stamp");
    uint64_t length = 0;
    std::memcpy(&length, blob.data() + 12, sizeof(length));
    if (!fits(kStampHead, length, blob.size())) return damaged("its stamp is longer than it is");
    const std::string_view stamp = text.substr(kStampHead, length);
    BlobInfo info{BlobKind::CpuStamped, "of unknown version", {}};
    const std::string_view version = stamp_field(stamp, "ov=");
    const size_t digits = std::min(version.find_first_not_of("0123456789."), version.size());
    if (digits > 0 && digits <= 32) info.version = version.substr(0, digits);
    info.isa = printable(std::string(stamp_field(stamp, "isa=").substr(0, 200)));
    PTERON_TRY(check_cpu_header(blob.subspan(kStampHead + length)));
    return info;
  }
  if (is_cpu_header(blob)) {
    PTERON_TRY(check_cpu_header(blob));
    return BlobInfo{BlobKind::Cpu, {}, {}};
  }
  if (text.substr(0, 5) == "<?xml" || text.substr(0, 4) == "<net") {
    return damaged("it is an OpenVINO IR (.xml), not a compiled model");
  }
  return BlobInfo{};
}

}  // namespace pteron
