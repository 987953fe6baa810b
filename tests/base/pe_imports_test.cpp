// PE files made byte by byte, as small as they can be.
#include "base/pe_imports.h"

#include <gtest/gtest.h>

#include <map>

#include "base/paths.h"
#include "base/temp_folder.h"

namespace pteron {
namespace {

constexpr size_t kHeaders = 0x200;
constexpr uint32_t kSectionAddress = 0x1000;

void put(std::string& bytes, size_t at, uint32_t value, size_t size) {
  for (size_t i = 0; i < size; ++i) bytes[at + i] = static_cast<char>(value >> (8 * i));
}

// A DLL whose one section is its import table.
std::string make_dll(const std::vector<std::string>& imports, bool wide = true) {
  std::string section((imports.size() + 1) * 20, '\0');
  for (size_t i = 0; i < imports.size(); ++i) {
    put(section, i * 20 + 12, static_cast<uint32_t>(kSectionAddress + section.size()), 4);
    put(section, i * 20 + 16, kSectionAddress, 4);
    section += imports[i] + '\0';
  }
  std::string bytes(kHeaders, '\0');
  const size_t directories = wide ? 112 : 96;
  const size_t optional_size = directories + 16 * 8;
  constexpr size_t kCoff = 0x44;
  bytes[0] = 'M';
  bytes[1] = 'Z';
  put(bytes, 60, 0x40, 4);
  put(bytes, 0x40, 0x4550, 4);
  put(bytes, kCoff, wide ? 0x8664 : 0x14c, 2);
  put(bytes, kCoff + 2, 1, 2);
  put(bytes, kCoff + 16, static_cast<uint32_t>(optional_size), 2);
  put(bytes, kCoff + 18, 0x2022, 2);
  constexpr size_t kOptional = kCoff + 20;
  put(bytes, kOptional, wide ? 0x20b : 0x10b, 2);
  put(bytes, kOptional + 60, kHeaders, 4);
  put(bytes, kOptional + directories - 4, 16, 4);
  put(bytes, kOptional + directories + 8, kSectionAddress, 4);
  put(bytes, kOptional + directories + 12, static_cast<uint32_t>(section.size()), 4);
  const size_t header = kOptional + optional_size;
  put(bytes, header + 8, static_cast<uint32_t>(section.size()), 4);
  put(bytes, header + 12, kSectionAddress, 4);
  put(bytes, header + 16, static_cast<uint32_t>(section.size()), 4);
  put(bytes, header + 20, kHeaders, 4);
  return bytes + section;
}

// The bytes in a block of exactly their size, so that a sanitizer sees one read too many.
Result<PeFile> read(const std::string& bytes) {
  const std::vector<char> exact(bytes.begin(), bytes.end());
  return read_pe(std::as_bytes(std::span(exact)));
}

TEST(ReadPe, ListsTheImportsInTheirOrder) {
  for (const bool wide : {true, false}) {
    const auto file = read(make_dll({"openvino.dll", "MSVCP140.dll", "KERNEL32.dll"}, wide));
    ASSERT_TRUE(file.ok()) << file.error().message;
    EXPECT_EQ(file->imports,
              (std::vector<std::string>{"openvino.dll", "MSVCP140.dll", "KERNEL32.dll"}));
    EXPECT_EQ(file->machine, wide ? PeMachine::X64 : PeMachine::X86);
    EXPECT_TRUE(file->is_dll);
  }
}

TEST(ReadPe, SaysWhatIsWrong) {
  EXPECT_EQ(read("").error().message, "it does not begin as a DLL does (MZ)");
  EXPECT_EQ(read("a text file").error().message, "it does not begin as a DLL does (MZ)");
  EXPECT_EQ(read("MZ").error().message, "it is cut short");
  std::string other = make_dll({});
  other[0x40] = 'N';  // NE: of Windows 3.
  EXPECT_EQ(read(other).error().message, "it has no header of Windows' (PE)");
  for (const char* name : {"../a.dll", "a/b.dll", "c:d.dll", "a b.dll", "\x1b[2J.dll", ""}) {
    EXPECT_EQ(read(make_dll({"a.dll", name})).error().message,
              "entry 1 of its import table has no name")
        << name;
  }
  EXPECT_FALSE(read(make_dll({std::string(256, 'a')})).ok());
  EXPECT_TRUE(read(make_dll({std::string(255, 'a')})).ok());
  EXPECT_FALSE(read(make_dll(std::vector<std::string>(4097, "a.dll"))).ok());
}

TEST(ReadPe, EndsWithEachTruncation) {
  const std::string whole = make_dll({"a.dll", "b.dll"});
  ASSERT_TRUE(read(whole).ok());
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto cut = read(whole.substr(0, size));
    ASSERT_FALSE(cut.ok()) << size;
    EXPECT_EQ(cut.error().code, Code::Malformed);
  }
}

TEST(ReadPe, EndsWithEachByteChanged) {
  const std::string whole = make_dll({"a.dll", "b.dll"});
  size_t refused = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(value);
      if (!read(changed).ok()) ++refused;
    }
  }
  EXPECT_GT(refused, 100U);
}

// Every four bytes as the least and the greatest numbers, where sums could wrap.
TEST(ReadPe, EndsWithEachNumberAtItsLimit) {
  const std::string whole = make_dll({"a.dll", "b.dll"});
  for (size_t at = 0; at + 4 <= whole.size(); ++at) {
    for (const uint32_t value : {0U, 0x7fffffffU, 0x80000000U, 0xfffffff0U, 0xffffffffU}) {
      std::string changed = whole;
      put(changed, at, value, 4);
      const auto file = read(changed);
      if (file.ok()) {
        EXPECT_LE(file->imports.size(), 2U) << at;
      }
    }
  }
}

// DLLs in a folder, and the names that are elsewhere.
class MissingImportTest : public testing::Test {
 protected:
  std::filesystem::path dll(const std::string& name, const std::vector<std::string>& imports) {
    return top_.write(name, make_dll(imports));
  }
  std::string missing(const std::filesystem::path& file,
                      const std::vector<std::string>& elsewhere = {}) {
    const auto found = find_missing_import(file, [&](const std::string& name) {
      ++asked_[name];
      if (std::find(elsewhere.begin(), elsewhere.end(), name) != elsewhere.end()) {
        return ImportPlace{true, {}};
      }
      const auto beside = top_ / name;
      return std::filesystem::exists(beside) ? ImportPlace{true, beside} : ImportPlace{};
    });
    return found ? found->needed_by + " needs " + found->name : "";
  }

  TempFolder top_;
  std::map<std::string, int> asked_;
};

TEST_F(MissingImportTest, NamesWhatIsNowhere) {
  const auto file = dll("c.dll", {"KERNEL32.dll", "tbb12.dll"});
  EXPECT_EQ(missing(file, {"KERNEL32.dll"}), "c.dll needs tbb12.dll");
  EXPECT_EQ(missing(file, {"KERNEL32.dll", "tbb12.dll"}), "");
}

TEST_F(MissingImportTest, LooksIntoWhatLiesBeside) {
  const auto file = dll("c.dll", {"openvino.dll"});
  dll("openvino.dll", {"c.dll", "deep.dll"});
  dll("deep.dll", {"openvino.dll", "tbb12.dll"});
  EXPECT_EQ(missing(file), "deep.dll needs tbb12.dll");
  dll("tbb12.dll", {});
  EXPECT_EQ(missing(file), "");
}

TEST_F(MissingImportTest, AsksForANameOnce) {
  const auto file = dll("c.dll", {"a.dll", "A.DLL", "b.dll", "C.dll"});
  dll("a.dll", {"b.dll", "c.dll"});
  dll("b.dll", {"a.dll"});
  EXPECT_EQ(missing(file), "");
  EXPECT_EQ(asked_, (std::map<std::string, int>{{"a.dll", 1}, {"b.dll", 1}}));
}

TEST_F(MissingImportTest, PassesOverWhatIsNoDll) {
  const auto file = dll("c.dll", {"text.dll", "none.dll"});
  top_.write("text.dll", "a text file");
  EXPECT_EQ(missing(file), "c.dll needs none.dll");
  EXPECT_EQ(missing(top_ / "text.dll"), "");
  EXPECT_EQ(missing(top_ / "absent.dll"), "");
}

TEST(VisualCppRuntime, IsKnownByItsName) {
  for (const char* name : {"MSVCP140.dll", "msvcp140_1.dll", "VCRUNTIME140.dll",
                           "VCRUNTIME140_1.dll", "concrt140.dll"}) {
    EXPECT_TRUE(is_visual_cpp_runtime(name)) << name;
  }
  for (const char* name : {"tbb12.dll", "msvcrt.dll", "ucrtbase.dll", "KERNEL32.dll"}) {
    EXPECT_FALSE(is_visual_cpp_runtime(name)) << name;
  }
}

TEST(WindowsContract, IsKnownByItsName) {
  EXPECT_TRUE(is_windows_contract("api-ms-win-crt-runtime-l1-1-0.dll"));
  EXPECT_TRUE(is_windows_contract("API-MS-Win-Core-Synch-L1-2-0.dll"));
  EXPECT_FALSE(is_windows_contract("openvino.dll"));
}

}  // namespace
}  // namespace pteron
