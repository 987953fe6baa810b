// What a DLL of Windows needs: the import table of a PE file, and the first import that is nowhere.
//
// Windows says that something is missing (error 126) and never what, so the tables are read here.
// Plain bytes on any system; a file is hostile, and no number in it is trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace pteron {

// COFF's numbers for machines, of which we name what is met.
enum class PeMachine : uint16_t { X86 = 0x14c, X64 = 0x8664, Arm64 = 0xaa64 };

// "x86-64", "x86 (32 bits)", "ARM64" or the number.
std::string name_of(PeMachine machine);

struct PeFile {
  PeMachine machine{};
  bool is_dll = false;  // Else a program.
  std::vector<std::string>
      imports;  // Names of DLLs in the table's order. Delayed ones are not in it.
};

// Fails with Malformed and what is wrong, without the file's name.
Result<PeFile> read_pe(std::span<const std::byte> bytes);

// Where the system would find an import.
struct ImportPlace {
  bool found = false;
  std::filesystem::path file;  // Where its own imports are to be looked for too; else empty.
};

struct MissingImport {
  std::string name;
  std::string needed_by;  // The name of the DLL that imports it.
};

// The first import of `file`, or of what it imports, that `find` does not find; nothing if all are
// there or the file is no PE file. Every file is read once, and at most a thousand of them.
std::optional<MissingImport> find_missing_import(
    const std::filesystem::path& file, const std::function<ImportPlace(const std::string&)>& find);

// Whether the name is one of Microsoft's Visual C++ runtime, which programs install with
// themselves.
bool is_visual_cpp_runtime(const std::string& name);

// Whether the name is a contract (api-ms-win-...), which Windows maps to a DLL of its own and which
// need not be a file.
bool is_windows_contract(const std::string& name);

}  // namespace pteron
