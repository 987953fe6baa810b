#include "npz.h"

#include <zlib.h>

#include <algorithm>
#include <new>
#include <ostream>
#include <span>

namespace tools {
namespace {

// A number of `size` bytes at `at`; the caller has made sure that they are there.
uint64_t number(std::string_view bytes, size_t at, size_t size) {
  uint64_t value = 0;
  for (size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// The bytes of an entry, unpacked from its beginning on as they are asked for.
class Unpacker {
 public:
  Unpacker(std::string_view packed, bool deflated)
      : packed_(packed.data(), packed.size()), deflated_(deflated) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed_.data()));
    if (deflated_ && inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~Unpacker() {
    if (deflated_) inflateEnd(&stream_);
  }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  // Exactly the next `size` bytes; false if there are fewer.
  bool read(char* out, size_t size) {
    const size_t got = deflated_ ? inflate_into(out, size) : copy_into(out, size);
    for (size_t at = 0; at < got; at += kChunk)
      crc_ = crc32(crc_, reinterpret_cast<const Bytef*>(out + at), chunk(got - at));
    return got == size;
  }

  // Whether nothing is left.
  bool at_end() {
    char more = 0;
    return deflated_ ? inflate_into(&more, 1) == 0 && ended_ : packed_.empty();
  }

  uLong crc() const { return crc_; }

 private:
  static constexpr size_t kChunk = size_t{1} << 30;
  static uInt chunk(size_t size) { return static_cast<uInt>(std::min(size, kChunk)); }

  size_t copy_into(char* out, size_t size) {
    size = std::min(size, packed_.size());
    std::copy_n(packed_.data(), size, out);
    packed_ = packed_.subspan(size);
    return size;
  }

  size_t inflate_into(char* out, size_t size) {
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    size_t left = size;
    while (left > 0 && !ended_) {
      stream_.avail_in = chunk(packed_.size());
      stream_.avail_out = chunk(left);
      const uInt in = stream_.avail_in;
      const uInt room = stream_.avail_out;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      packed_ = packed_.subspan(in - stream_.avail_in);
      left -= room - stream_.avail_out;
      ended_ = status == Z_STREAM_END;
      if (status != Z_OK && !ended_) break;
    }
    return size - left;
  }

  std::span<const char> packed_;
  bool deflated_;
  bool ended_ = false;
  z_stream stream_{};
  uLong crc_ = crc32(0, nullptr, 0);
};

void append(std::string& out, uint64_t value, size_t size) {
  for (size_t i = 0; i < size; ++i) out += static_cast<char>(value >> (8 * i));
}

void write_entries(std::ostream& file, const NamedArrays& arrays) {
  std::string directory;
  uint64_t offset = 0;
  for (const auto& [name, array] : arrays) {
    const std::string body = write_npy(array);
    const std::string file_name = name + ".npy";
    uLong crc = crc32(0, nullptr, 0);
    for (size_t at = 0; at < body.size(); at += 1u << 30) {
      const size_t chunk = body.size() - at < (1u << 30) ? body.size() - at : 1u << 30;
      crc = crc32(crc, reinterpret_cast<const Bytef*>(body.data() + at), static_cast<uInt>(chunk));
    }
    // Sizes always in zip64 fields: one form for small and large.
    std::string extra;
    append(extra, 1, 2);
    append(extra, 16, 2);
    append(extra, body.size(), 8);
    append(extra, body.size(), 8);
    std::string common;
    append(common, 45, 2);  // Version needed: zip64.
    append(common, 0, 2);
    append(common, 0, 2);  // Stored.
    append(common, 0, 2);
    append(common, 33, 2);  // 1980-01-01: the same arrays make the same file.
    append(common, crc, 4);
    append(common, 0xffffffffu, 4);
    append(common, 0xffffffffu, 4);
    append(common, file_name.size(), 2);
    const std::string local = "PK\x03\x04" + common;
    std::string head = local;
    append(head, extra.size(), 2);
    head += file_name + extra;
    file.write(head.data(), static_cast<std::streamsize>(head.size()));
    file.write(body.data(), static_cast<std::streamsize>(body.size()));
    std::string central_extra;
    append(central_extra, 1, 2);
    append(central_extra, 24, 2);
    append(central_extra, body.size(), 8);
    append(central_extra, body.size(), 8);
    append(central_extra, offset, 8);
    directory += "PK\x01\x02";
    append(directory, 45, 2);
    directory += common;
    append(directory, central_extra.size(), 2);
    append(directory, 0, 2);  // Comment.
    append(directory, 0, 2);
    append(directory, 0, 2);
    append(directory, 0, 4);
    append(directory, 0xffffffffu, 4);
    directory += file_name + central_extra;
    offset += head.size() + body.size();
  }
  std::string end;
  if (arrays.empty()) {  // Nothing needs zip64, and NumPy knows an empty archive by this alone.
    file << "PK\x05\x06" << std::string(18, '\0');
    return;
  }
  // The zip64 end record and its locator.
  end += "PK\x06\x06";
  append(end, 44, 8);
  append(end, 45, 2);
  append(end, 45, 2);
  append(end, 0, 4);
  append(end, 0, 4);
  append(end, arrays.size(), 8);
  append(end, arrays.size(), 8);
  append(end, directory.size(), 8);
  append(end, offset, 8);
  end += "PK\x06\x07";
  append(end, 0, 4);
  append(end, offset + directory.size(), 8);
  append(end, 1, 4);
  end += "PK\x05\x06";
  append(end, 0, 4);
  append(end, 0xffff, 2);
  append(end, 0xffff, 2);
  append(end, 0xffffffffu, 4);
  append(end, 0xffffffffu, 4);
  append(end, 0, 2);
  file << directory << end;
}

}  // namespace

NpzFile::NpzFile(std::string path) : path_(std::move(path)), zip_(read_file(path_)) {
  read_directory();
}

void NpzFile::damaged() const {
  throw UsageError(path_ + ": not a NumPy archive (.npz), or damaged");
}

void NpzFile::read_directory() {
  const std::string_view zip = zip_;
  // The directory's end record is followed by a comment of at most 64 KiB.
  constexpr size_t kEndSize = 22;
  if (zip.size() < kEndSize) damaged();
  const size_t first = zip.size() > kEndSize + 65535 ? zip.size() - kEndSize - 65535 : 0;
  const size_t end = zip.rfind("PK\x05\x06", zip.size() - kEndSize);
  if (end == std::string_view::npos || end < first) damaged();
  uint64_t count = number(zip, end + 10, 2);
  uint64_t at = number(zip, end + 16, 4);
  if ((count == 0xffff || at == 0xffffffffu) && end >= 20 &&
      zip.substr(end - 20, 4) == "PK\x06\x07") {
    const uint64_t record = number(zip, end - 20 + 8, 8);
    if (record > zip.size() || zip.size() - record < 56) damaged();
    count = number(zip, record + 32, 8);
    at = number(zip, record + 48, 8);
  }
  for (uint64_t i = 0; i < count; ++i) {
    if (at > zip.size() || zip.size() - at < 46 || zip.substr(at, 4) != "PK\x01\x02") damaged();
    Entry entry;
    entry.method = number(zip, at + 10, 2);
    entry.crc = number(zip, at + 16, 4);
    entry.packed = number(zip, at + 20, 4);
    entry.size = number(zip, at + 24, 4);
    entry.offset = number(zip, at + 42, 4);
    const size_t name = number(zip, at + 28, 2);
    const size_t extra = number(zip, at + 30, 2);
    const size_t comment = number(zip, at + 32, 2);
    if (46 + name + extra + comment > zip.size() - at) damaged();
    std::string key(zip.substr(at + 46, name));
    if (key.size() > 4 && key.compare(key.size() - 4, 4, ".npy") == 0) key.resize(key.size() - 4);
    read_zip64(zip.substr(at + 46 + name, extra), entry);
    at += 46 + name + extra + comment;
    entries_.push_back(entry);
    names_.push_back(std::move(key));
  }
}

// Sizes and offsets of 0xffffffff stand in a zip64 field instead, in this order.
void NpzFile::read_zip64(std::string_view extra, Entry& entry) const {
  while (extra.size() >= 4) {
    const uint64_t id = number(extra, 0, 2);
    const size_t length = number(extra, 2, 2);
    if (length > extra.size() - 4) damaged();
    std::string_view body = extra.substr(4, length);
    if (id == 1) {
      for (uint64_t* value : {&entry.size, &entry.packed, &entry.offset}) {
        if (*value != 0xffffffffu) continue;
        if (body.size() < 8) damaged();
        *value = number(body, 0, 8);
        body.remove_prefix(8);
      }
    }
    extra.remove_prefix(4 + length);
  }
}

std::string_view NpzFile::packed_bytes(const Entry& entry) const {
  const std::string_view zip = zip_;
  if (entry.offset > zip.size() || zip.size() - entry.offset < 30) damaged();
  if (zip.substr(entry.offset, 4) != "PK\x03\x04") damaged();
  const size_t skip = 30 + number(zip, entry.offset + 26, 2) + number(zip, entry.offset + 28, 2);
  if (skip > zip.size() - entry.offset || entry.packed > zip.size() - entry.offset - skip)
    damaged();
  return zip.substr(entry.offset + skip, entry.packed);
}

Array NpzFile::read(size_t index, const NpyCheck& check) const {
  const Entry& entry = entries_[index];
  const std::string name = path_ + ": " + names_[index];
  constexpr uint64_t kStored = 0;
  constexpr uint64_t kDeflated = 8;
  if (entry.method != kStored && entry.method != kDeflated)
    throw UsageError(name + " is packed in a way that NumPy does not write");
  const std::string_view packed = packed_bytes(entry);
  // Deflate makes at most 1032 bytes of one.
  if (entry.size / 1032 > entry.packed + 1) damaged();
  Unpacker unpacker(packed, entry.method == kDeflated);
  const auto read = [&](char* out, size_t size) {
    if (!unpacker.read(out, size)) damaged();
  };
  if (entry.size < kNpyStart) throw UsageError(name + ": not a NumPy array (.npy)");
  std::string head(kNpyStart, '\0');
  read(head.data(), head.size());
  const size_t start = npy_data_start(head, name);
  // NumPy itself reads no header of more than 10,000 bytes.
  constexpr size_t kLongestHead = size_t{1} << 20;
  if (start < kNpyStart || start > entry.size || start > kLongestHead)
    throw UsageError(name + ": cut short within its header");
  head.resize(start);
  read(head.data() + kNpyStart, start - kNpyStart);
  const NpyHeader header = read_npy_header(head, name);
  if (check) check(header);
  if (header.bytes != entry.size - start) {
    throw UsageError(name + ": its shape needs " +
                     (header.bytes > entry.size - start ? "more" : "fewer") + " bytes than it has");
  }
  std::vector<char> elements(header.bytes);
  read(elements.data(), elements.size());
  if (!unpacker.at_end()) damaged();
  if (unpacker.crc() != entry.crc) throw UsageError(name + " is damaged (its checksum is wrong)");
  return make_array(header, std::move(elements));
}

NamedArrays read_npz(const std::string& path) {
  const NpzFile file(path);
  NamedArrays arrays;
  for (size_t i = 0; i < file.names().size(); ++i)
    arrays.emplace_back(file.names()[i], file.read(i));
  return arrays;
}

void write_npz(const std::string& path, const NamedArrays& arrays) {
  write_file(path, [&](std::ostream& file) { write_entries(file, arrays); });
}

}  // namespace tools
