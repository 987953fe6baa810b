// The layout is that of Microsoft's "PE Format".
#include "base/pe_imports.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "base/mapped_file.h"
#include "base/paths.h"

namespace pteron {
namespace {

constexpr size_t kMostSections = 96;  // Windows' loader takes no more.
constexpr size_t kMostImports = 4096;
constexpr size_t kMostFiles = 1000;
constexpr size_t kLongestName = 255;

Error malformed(std::string what) { return {Code::Malformed, std::move(what)}; }

struct Section {
  uint64_t address;  // Where the loader puts it, from the image's begin.
  uint64_t offset;   // Where its bytes are in the file.
  uint64_t size;     // Of them.
};

// Little-endian numbers at offsets that may be anything.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool has(uint64_t offset, uint64_t size) const {
    return offset <= bytes_.size() && size <= bytes_.size() - offset;
  }
  // The caller has asked has().
  uint16_t u16(uint64_t offset) const { return static_cast<uint16_t>(number(offset, 2)); }
  uint32_t u32(uint64_t offset) const { return number(offset, 4); }

  // The text up to its NUL; nothing if there is none within reach.
  std::optional<std::string> text(uint64_t offset) const {
    if (offset >= bytes_.size()) return std::nullopt;
    const std::span<const std::byte> rest = bytes_.subspan(static_cast<size_t>(offset));
    const size_t reach = std::min(rest.size(), kLongestName + 1);
    const auto end =
        std::find(rest.begin(), rest.begin() + static_cast<ptrdiff_t>(reach), std::byte{0});
    const auto length = static_cast<size_t>(end - rest.begin());
    if (length == reach) return std::nullopt;
    return std::string(reinterpret_cast<const char*>(rest.data()), length);
  }

 private:
  uint32_t number(uint64_t offset, size_t size) const {
    uint32_t value = 0;
    for (size_t i = size; i-- > 0;) {
      value = value << 8 | std::to_integer<uint32_t>(bytes_[static_cast<size_t>(offset) + i]);
    }
    return value;
  }

  std::span<const std::byte> bytes_;
};

// Where in the file `address` of the image is.
std::optional<uint64_t> offset_of(uint64_t address, const std::vector<Section>& sections) {
  for (const Section& section : sections) {
    if (address >= section.address && address - section.address < section.size) {
      return section.offset + (address - section.address);
    }
  }
  return std::nullopt;
}

// A name that is one folder's entry, so that it leads nowhere else.
bool is_plain_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return c > ' ' && c <= '~' && c != '/' && c != '\\' && c != ':' && c != '"' && c != '*' &&
           c != '?' && c != '<' && c != '>' && c != '|';
  });
}

Result<std::vector<std::string>> read_names(const Reader& in, uint64_t table,
                                            const std::vector<Section>& sections) {
  constexpr uint64_t kDescriptor = 20;
  std::vector<std::string> names;
  for (uint64_t at = table;; at += kDescriptor) {
    const auto offset = offset_of(at, sections);
    if (!offset || !in.has(*offset, kDescriptor)) return malformed("its import table has no end");
    const uint32_t name_address = in.u32(*offset + 12);
    const uint32_t first_thunk = in.u32(*offset + 16);
    if (name_address == 0 || first_thunk == 0) return names;
    if (names.size() == kMostImports) return malformed("its import table has too many names");
    const auto name_offset = offset_of(name_address, sections);
    std::optional<std::string> name = name_offset ? in.text(*name_offset) : std::nullopt;
    if (!name || !is_plain_name(*name)) {
      return malformed("entry " + std::to_string(names.size()) +
                       " of its import table has no name");
    }
    names.push_back(*std::move(name));
  }
}

std::string lower(const std::string& text) {
  std::string result = text;
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return result;
}

}  // namespace

std::string name_of(PeMachine machine) {
  switch (machine) {
    case PeMachine::X86:
      return "x86 (32 bits)";
    case PeMachine::X64:
      return "x86-64";
    case PeMachine::Arm64:
      return "ARM64";
  }
  return "machine " + std::to_string(static_cast<unsigned>(machine));
}

Result<PeFile> read_pe(std::span<const std::byte> bytes) {
  const Reader in(bytes);
  constexpr uint64_t kDosHeader = 64;
  if (!in.has(0, 2) || in.u16(0) != 0x5a4d)
    return malformed("it does not begin as a DLL does (MZ)");
  if (!in.has(0, kDosHeader)) return malformed("it is cut short");
  const uint64_t signature = in.u32(60);
  constexpr uint64_t kCoffHeader = 20;
  if (!in.has(signature, 4 + kCoffHeader)) return malformed("it is cut short");
  if (in.u32(signature) != 0x4550) return malformed("it has no header of Windows' (PE)");
  const uint64_t coff = signature + 4;
  PeFile file;
  file.machine = static_cast<PeMachine>(in.u16(coff));
  const size_t section_count = in.u16(coff + 2);
  const uint64_t optional_size = in.u16(coff + 16);
  file.is_dll = (in.u16(coff + 18) & 0x2000) != 0;

  const uint64_t optional = coff + kCoffHeader;
  if (!in.has(optional, optional_size)) return malformed("it is cut short");
  if (optional_size < 2) return malformed("its optional header is too short");
  const uint16_t magic = in.u16(optional);
  if (magic != 0x10b && magic != 0x20b) return malformed("its optional header is of no known kind");
  const uint64_t directories = magic == 0x20b ? 112 : 96;  // PE32+ has longer addresses.
  if (optional_size < directories) return malformed("its optional header is too short");
  const uint32_t directory_count = in.u32(optional + directories - 4);

  const uint64_t section_table = optional + optional_size;
  constexpr uint64_t kSectionHeader = 40;
  if (section_count > kMostSections) return malformed("it has too many sections");
  if (!in.has(section_table, section_count * kSectionHeader)) return malformed("it is cut short");
  std::vector<Section> sections = {{0, 0, in.u32(optional + 60)}};  // The headers themselves.
  for (size_t i = 0; i < section_count; ++i) {
    const uint64_t header = section_table + i * kSectionHeader;
    sections.push_back({in.u32(header + 12), in.u32(header + 20), in.u32(header + 16)});
  }

  constexpr uint64_t kImports = 1;  // The directory's place among them; each has address and size.
  if (directory_count <= kImports || optional_size < directories + (kImports + 1) * 8) return file;
  const uint32_t table = in.u32(optional + directories + kImports * 8);
  if (table == 0) return file;
  PTERON_ASSIGN(file.imports, read_names(in, table, sections));
  return file;
}

std::optional<MissingImport> find_missing_import(
    const std::filesystem::path& file, const std::function<ImportPlace(const std::string&)>& find) {
  std::set<std::string> seen = {lower(path_to_utf8(file.filename()))};
  std::vector<std::filesystem::path> to_read = {file};
  for (size_t i = 0; i < to_read.size() && i < kMostFiles; ++i) {
    const std::filesystem::path reading = to_read[i];
    const auto contents = map_file(path_to_utf8(reading));
    if (!contents.ok()) continue;
    const auto pe = read_pe(contents->bytes);
    if (!pe.ok()) continue;
    for (const std::string& name : pe->imports) {
      if (!seen.insert(lower(name)).second) continue;
      ImportPlace place = find(name);
      if (!place.found) return MissingImport{name, path_to_utf8(reading.filename())};
      if (!place.file.empty()) to_read.push_back(std::move(place.file));
    }
  }
  return std::nullopt;
}

bool is_visual_cpp_runtime(const std::string& name) {
  const std::string plain = lower(name);
  return plain.starts_with("msvcp1") || plain.starts_with("vcruntime1") ||
         plain.starts_with("concrt1") || plain.starts_with("vcomp1") ||
         plain.starts_with("vccorlib1");
}

bool is_windows_contract(const std::string& name) {
  const std::string plain = lower(name);
  return plain.starts_with("api-ms-win-") || plain.starts_with("ext-ms-win-") ||
         plain.starts_with("ext-ms-onecore-");
}

}  // namespace pteron
