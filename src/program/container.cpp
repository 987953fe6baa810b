#include "program/container.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/checked.h"
#include "base/text.h"

namespace pteron {
namespace {

template <typename T>
T read_number(Bytes bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

// The fewest bytes of a program, which ExecuTorch reads at once, and of a weights file.
constexpr size_t kHeadSize = 64;
constexpr size_t kWeightsHeadSize = 48;

std::string_view text_at(Bytes bytes, size_t offset, size_t size) {
  if (offset + size > bytes.size()) return {};
  return {reinterpret_cast<const char*>(bytes.data()) + offset, size};
}

struct Magic {
  size_t offset;
  std::string_view bytes;
  const char* what;
};

constexpr Magic kMagics[] = {
    {4, "FT01", "a .ptd weights file; give it as the weights of a program"},
    {4, "ET12", "an ExecuTorch program (.pte)"},
    {4, "ED00", "a profile of ExecuTorch's (.etdp)"},
    {4, "TFL3", "a TensorFlow Lite model"},
    {0, "\x89PNG", "a PNG picture"},
    {0, "\xff\xd8\xff", "a JPEG picture"},
    {0, "\x7f\x45LF", "an ELF program or library"},
    {0, "MZ", "a Windows program or library"},
    {0, "PK\x03\x04", "a zip archive, as PyTorch's .pt, .pt2 and .npz files are"},
    {0, "\x1f\x8b", "gzip data; unpack it first"},
    {0, "\x93NUMPY", "a NumPy array (.npy)"},
    {0, "\x80\x02", "a Python pickle"},
    {0, "\x80\x04", "a Python pickle"},
    {0, "\x80\x05", "a Python pickle"},
    {0, "GGUF", "a GGUF model"},
    {8, "{\"", "a safetensors file"},
    {0, "<?xml", "XML, perhaps an OpenVINO model"},
    {0, "<net", "XML, perhaps an OpenVINO model"},
    {0, "version https://git-lfs", "Git LFS's stand-in for the file; fetch it with: git lfs pull"},
};

Error cut_short(const FileBytes& file) {
  return malformed(
      file, "the file has only " + counted(file.bytes.size(), "byte") + "; is it cut short?");
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// What a file seems to be that does not have the identifier of a `wanted`.
Error not_a(const FileBytes& file, const char* wanted) {
  const Bytes bytes = file.bytes;
  const auto refusal = [&](Code code, const std::string& reason) {
    return Error{code, file.origin + ": not " + wanted + ": " + reason};
  };
  if (bytes.empty()) return refusal(Code::Malformed, "it is empty");
  const std::string_view identifier = text_at(bytes, 4, 4);
  if (identifier == "BP08") {
    return refusal(Code::Unsupported,
                   "it is a bundled program (.bpte), which has tests around it; export the plain "
                   ".pte");
  }
  if (identifier.starts_with("ET") && identifier != "ET12" && is_digit(identifier[2]) &&
      is_digit(identifier[3])) {
    return refusal(Code::Unsupported, "it has ExecuTorch's format " + std::string(identifier) +
                                          ", and this library reads ET12");
  }
  for (const Magic& magic : kMagics) {
    if (text_at(bytes, magic.offset, magic.bytes.size()) == magic.bytes) {
      return refusal(Code::Malformed, std::string("it is ") + magic.what);
    }
  }
  if (bytes.size() < kHeadSize) {
    return refusal(Code::Malformed, "it has only " + counted(bytes.size(), "byte"));
  }
  const std::string_view head = text_at(bytes, 0, kHeadSize);
  const auto is_text = [](char c) {
    return (c >= 32 && c < 127) || c == '\n' || c == '\r' || c == '\t';
  };
  if (std::all_of(head.begin(), head.end(), is_text)) return refusal(Code::Malformed, "it is text");
  if (std::all_of(head.begin(), head.end(), [](char c) { return c == 0; })) {
    return refusal(Code::Malformed, "it starts with zeros; was it fetched completely?");
  }
  return refusal(Code::Malformed, "it does not start as one");
}

}  // namespace

Error malformed(const FileBytes& file, std::string message) {
  return {Code::Malformed, file.origin + ": " + std::move(message)};
}

Result<Container> read_program_container(const FileBytes& file) {
  const Bytes bytes = file.bytes;
  if (text_at(bytes, 4, 4) != "ET12") return not_a(file, "an ExecuTorch program");
  if (bytes.size() < kHeadSize) return cut_short(file);
  if (text_at(bytes, 8, 4) != "eh00") return Container{bytes, 0};

  const auto length = read_number<uint32_t>(bytes, 12);
  const auto program_size = read_number<uint64_t>(bytes, 16);
  const auto segment_base = read_number<uint64_t>(bytes, 24);
  const auto segment_size = length >= 32 ? read_number<uint64_t>(bytes, 32) : 0;
  if (length < 24) {
    return malformed(file, "the extended header says it has " + counted(length, "byte") +
                               "; it has at least 24");
  }
  uint64_t end = 0;
  if (!checked_add(segment_base, segment_size, end)) {
    return malformed(file, "the extended header places the segments past any file's end");
  }
  end = std::max(end, program_size);
  if (end > bytes.size()) {
    return malformed(file, "the file has " + counted(bytes.size(), "byte") +
                               ", but its header speaks of " + std::to_string(end) +
                               "; is it cut short?");
  }
  return Container{bytes.first(program_size), segment_base};
}

Result<Container> read_weights_container(const FileBytes& file) {
  const Bytes bytes = file.bytes;
  if (text_at(bytes, 4, 4) != "FT01") return not_a(file, "a .ptd weights file");
  if (bytes.size() < kWeightsHeadSize) return cut_short(file);
  if (text_at(bytes, 8, 4) != "FH01") {
    return malformed(file, "the weights file has no FH01 header after its identifier");
  }
  const auto length = read_number<uint32_t>(bytes, 12);
  const auto offset = read_number<uint64_t>(bytes, 16);
  const auto size = read_number<uint64_t>(bytes, 24);
  const auto segment_base = read_number<uint64_t>(bytes, 32);
  const auto segment_size = read_number<uint64_t>(bytes, 40);
  if (length < 40) {
    return malformed(
        file, "the FH01 header says it has " + counted(length, "byte") + "; it has at least 40");
  }
  if (!fits(offset, size, bytes.size()) || !fits(segment_base, segment_size, bytes.size())) {
    return malformed(file, "the file has " + counted(bytes.size(), "byte") +
                               ", fewer than its header speaks of; is it cut short?");
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
    return malformed(file, what + ": its " + counted(size, "byte") + " at offset " +
                               std::to_string(offset) + " of the segments lie outside the file");
  }
  return file.bytes.subspan(start, size);
}

}  // namespace pteron
