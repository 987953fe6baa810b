#include "program/container.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/checked.h"

namespace pteron {
namespace {

template <typename T>
T read_number(Bytes bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

std::string_view text_at(Bytes bytes, size_t offset, size_t size) {
  if (offset + size > bytes.size()) return {};
  return {reinterpret_cast<const char*>(bytes.data()) + offset, size};
}

// What a file that is no program seems to be, for the message.
std::string looks_like(Bytes bytes) {
  if (bytes.empty()) return "it is empty";
  const auto starts = [&](std::string_view magic) {
    return text_at(bytes, 0, magic.size()) == magic;
  };
  const std::string_view identifier = text_at(bytes, 4, 4);
  if (identifier == "FT01") return "it is a .ptd weights file; give it with --weights";
  if (identifier == "ET12") return "it is a .pte program";
  if (identifier == "BP08") return "it is a bundled program (.bpte); export the plain .pte";
  if (identifier.substr(0, 2) == "ET" && identifier.size() == 4 && identifier[2] >= '0' &&
      identifier[2] <= '9' && identifier[3] >= '0' && identifier[3] <= '9') {
    return "it has ExecuTorch's format " + std::string(identifier) +
           ", and this library reads ET12";
  }
  if (starts("\x89PNG")) return "it is a PNG picture";
  if (starts("\x7f"
             "ELF"))
    return "it is an ELF program or library";
  if (starts("PK\x03\x04")) return "it is a zip archive, as PyTorch's .pt, .pt2 and .npz files are";
  if (starts("\x93NUMPY")) return "it is a NumPy array (.npy)";
  if (starts("MZ")) return "it is a Windows program or library";
  if (starts("\x80\x02") || starts("\x80\x04")) return "it is a Python pickle";
  if (starts("<?xml") || starts("<net")) return "it is XML, perhaps an OpenVINO model";
  if (identifier == "TFL3") return "it is a TensorFlow Lite model";
  if (bytes.size() < 64) return "it has only " + std::to_string(bytes.size()) + " bytes";
  const auto printable = [](std::byte b) {
    const auto c = static_cast<unsigned char>(b);
    return (c >= 32 && c < 127) || c == '\n' || c == '\r' || c == '\t';
  };
  if (std::all_of(bytes.begin(), bytes.begin() + 64, printable)) return "it is text";
  return "it does not start as one";
}

}  // namespace

Error malformed(const FileBytes& file, std::string message) {
  return {Code::Malformed, file.origin + ": " + std::move(message)};
}

Result<Container> read_program_container(const FileBytes& file) {
  const Bytes bytes = file.bytes;
  if (bytes.size() < 64 || text_at(bytes, 4, 4) != "ET12") {
    return malformed(file, "not an ExecuTorch program: " + looks_like(bytes));
  }
  if (text_at(bytes, 8, 4) != "eh00") return Container{bytes, 0};

  const auto length = read_number<uint32_t>(bytes, 12);
  const auto program_size = read_number<uint64_t>(bytes, 16);
  const auto segment_base = read_number<uint64_t>(bytes, 24);
  const auto segment_size = length >= 32 ? read_number<uint64_t>(bytes, 32) : 0;
  if (length < 24) {
    return malformed(file, "the extended header says it has " + std::to_string(length) +
                               " bytes; it has at least 24");
  }
  uint64_t end = 0;
  if (!checked_add(segment_base, segment_size, end)) {
    return malformed(file, "the extended header places the segments past any file's end");
  }
  end = std::max(end, program_size);
  if (program_size < 64 || end > bytes.size()) {
    return malformed(file, "the file has " + std::to_string(bytes.size()) +
                               " bytes, but its header speaks of " + std::to_string(end) +
                               "; is it cut short?");
  }
  return Container{bytes.first(program_size), segment_base};
}

Result<Container> read_weights_container(const FileBytes& file) {
  const Bytes bytes = file.bytes;
  if (bytes.size() < 48 || text_at(bytes, 4, 4) != "FT01") {
    return malformed(file, "not a .ptd weights file: " + looks_like(bytes));
  }
  if (text_at(bytes, 8, 4) != "FH01") {
    return malformed(file, "the weights file has no FH01 header after its identifier");
  }
  const auto length = read_number<uint32_t>(bytes, 12);
  const auto offset = read_number<uint64_t>(bytes, 16);
  const auto size = read_number<uint64_t>(bytes, 24);
  const auto segment_base = read_number<uint64_t>(bytes, 32);
  const auto segment_size = read_number<uint64_t>(bytes, 40);
  if (length < 40) {
    return malformed(file, "the FH01 header says it has " + std::to_string(length) +
                               " bytes; it has at least 40");
  }
  if (!fits(offset, size, bytes.size()) || !fits(segment_base, segment_size, bytes.size())) {
    return malformed(file, "the file has " + std::to_string(bytes.size()) +
                               " bytes, fewer than its header speaks of; is it cut short?");
  }
  return Container{bytes.first(offset + size), segment_base};
}

Result<Bytes> segment_bytes(const FileBytes& file, const Container& container, uint64_t offset,
                            uint64_t size, const std::string& what) {
  // A file with nothing to store in segments may still list an empty one, and give no base.
  if (size == 0) return Bytes();
  uint64_t start = 0;
  if (container.segment_base == 0 || !checked_add(container.segment_base, offset, start) ||
      !fits(start, size, file.bytes.size())) {
    return malformed(file, what + ": its " + std::to_string(size) + " bytes at offset " +
                               std::to_string(offset) + " of the segments lie outside the file");
  }
  return file.bytes.subspan(start, size);
}

}  // namespace pteron
