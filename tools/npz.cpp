#include "npz.h"

#include <zlib.h>

#include <cstring>
#include <ostream>

namespace tools {
namespace {

// A number of `size` bytes at `at`; the caller has made sure that they are there.
uint64_t number(std::string_view bytes, size_t at, size_t size) {
  uint64_t value = 0;
  for (size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

[[noreturn]] void damaged(const std::string& path) {
  throw UsageError(path + ": not a NumPy archive (.npz), or damaged");
}

// Where the central directory's end record starts: it is followed by a comment of at most 64 KiB.
size_t find_end_record(std::string_view zip, const std::string& path) {
  constexpr size_t kSize = 22;
  if (zip.size() < kSize) damaged(path);
  const size_t first = zip.size() > kSize + 65535 ? zip.size() - kSize - 65535 : 0;
  for (size_t at = zip.size() - kSize + 1; at-- > first;) {
    if (zip.substr(at, 4) == "PK\x05\x06") return at;
  }
  damaged(path);
}

struct Entry {
  std::string name;
  uint64_t method = 0;
  uint64_t crc = 0;
  uint64_t packed = 0;
  uint64_t size = 0;
  uint64_t offset = 0;
};

// Sizes and offsets of 0xffffffff stand in a zip64 field instead, in this order.
void read_zip64(std::string_view extra, Entry& entry, const std::string& path) {
  while (extra.size() >= 4) {
    const uint64_t id = number(extra, 0, 2);
    const size_t length = number(extra, 2, 2);
    if (length > extra.size() - 4) damaged(path);
    std::string_view body = extra.substr(4, length);
    if (id == 1) {
      for (uint64_t* value : {&entry.size, &entry.packed, &entry.offset}) {
        if (*value != 0xffffffffu) continue;
        if (body.size() < 8) damaged(path);
        *value = number(body, 0, 8);
        body.remove_prefix(8);
      }
    }
    extra.remove_prefix(4 + length);
  }
}

std::string unpack(std::string_view zip, const Entry& entry, const std::string& path) {
  if (entry.offset > zip.size() || zip.size() - entry.offset < 30) damaged(path);
  if (zip.substr(entry.offset, 4) != "PK\x03\x04") damaged(path);
  const size_t skip = 30 + number(zip, entry.offset + 26, 2) + number(zip, entry.offset + 28, 2);
  if (skip > zip.size() - entry.offset || entry.packed > zip.size() - entry.offset - skip)
    damaged(path);
  const std::string_view packed = zip.substr(entry.offset + skip, entry.packed);
  std::string out;
  if (entry.method == 0) {
    out = packed;
  } else if (entry.method == 8) {
    // Deflate makes at most 1032 bytes of one.
    if (entry.size / 1032 > entry.packed + 1) damaged(path);
    out.resize(entry.size);
    z_stream stream{};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) damaged(path);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    size_t in_left = packed.size();
    size_t out_left = out.size();
    int status = Z_OK;
    constexpr size_t kChunk = 1u << 30;
    while (status == Z_OK) {
      stream.avail_in = static_cast<uInt>(in_left < kChunk ? in_left : kChunk);
      stream.avail_out = static_cast<uInt>(out_left < kChunk ? out_left : kChunk);
      in_left -= stream.avail_in;
      out_left -= stream.avail_out;
      status = inflate(&stream, Z_NO_FLUSH);
      in_left += stream.avail_in;
      out_left += stream.avail_out;
    }
    inflateEnd(&stream);
    if (status != Z_STREAM_END || out_left != 0) damaged(path);
  } else {
    throw UsageError(path + ": entry " + entry.name +
                     " is packed in a way that NumPy does not write");
  }
  uLong crc = crc32(0, nullptr, 0);
  for (size_t at = 0; at < out.size();) {
    const size_t chunk = out.size() - at < (1u << 30) ? out.size() - at : 1u << 30;
    crc = crc32(crc, reinterpret_cast<const Bytef*>(out.data() + at), static_cast<uInt>(chunk));
    at += chunk;
  }
  if (crc != entry.crc)
    throw UsageError(path + ": entry " + entry.name + " is damaged (its checksum is wrong)");
  return out;
}

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

NamedArrays read_npz(const std::string& path) {
  const std::string zip = read_file(path);
  const size_t end = find_end_record(zip, path);
  uint64_t count = number(zip, end + 10, 2);
  uint64_t at = number(zip, end + 16, 4);
  if ((count == 0xffff || at == 0xffffffffu) && end >= 20 &&
      std::string_view(zip).substr(end - 20, 4) == "PK\x06\x07") {
    const uint64_t record = number(zip, end - 20 + 8, 8);
    if (record > zip.size() || zip.size() - record < 56) damaged(path);
    count = number(zip, record + 32, 8);
    at = number(zip, record + 48, 8);
  }
  NamedArrays arrays;
  for (uint64_t i = 0; i < count; ++i) {
    if (at > zip.size() || zip.size() - at < 46 ||
        std::string_view(zip).substr(at, 4) != "PK\x01\x02")
      damaged(path);
    Entry entry;
    entry.method = number(zip, at + 10, 2);
    entry.crc = number(zip, at + 16, 4);
    entry.packed = number(zip, at + 20, 4);
    entry.size = number(zip, at + 24, 4);
    entry.offset = number(zip, at + 42, 4);
    const size_t name = number(zip, at + 28, 2);
    const size_t extra = number(zip, at + 30, 2);
    const size_t comment = number(zip, at + 32, 2);
    if (46 + name + extra + comment > zip.size() - at) damaged(path);
    entry.name = zip.substr(at + 46, name);
    read_zip64(std::string_view(zip).substr(at + 46 + name, extra), entry, path);
    at += 46 + name + extra + comment;
    std::string key = entry.name;
    if (key.size() > 4 && key.compare(key.size() - 4, 4, ".npy") == 0) key.resize(key.size() - 4);
    arrays.emplace_back(key, read_npy(unpack(zip, entry, path), path + ": " + key));
  }
  return arrays;
}

void write_npz(const std::string& path, const NamedArrays& arrays) {
  write_file(path, [&](std::ostream& file) { write_entries(file, arrays); });
}

}  // namespace tools
