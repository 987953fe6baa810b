#include "files.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <ostream>
#include <random>
#include <system_error>

#include "interrupt.h"
#include "output_file.h"
#include "text.h"

namespace tools {
namespace {

namespace fs = std::filesystem;

fs::path native_path(const std::string& utf8) { return std::u8string(utf8.begin(), utf8.end()); }

std::string reason(int number) {
  return number == 0 ? "the system does not say why" : std::generic_category().message(number);
}

// Throws unless all of it was written.
void write_to(const fs::path& file, const std::string& path,
              const std::function<void(std::ostream&)>& write) {
  errno = 0;
  const std::unique_ptr<std::streambuf> buffer = create_file(file);
  bool is_written = buffer != nullptr;
  if (is_written) {
    std::ostream stream(buffer.get());
    write(stream);
    is_written = close_file(*buffer) && stream.good();
  }
  if (is_written) return;
  const int number = errno;
  throw UsageError("cannot write " + path + ": " + reason(number) +
                   (number == ENOENT ? tilde_remedy(path) : ""));
}

}  // namespace

std::string read_file(const std::string& path) {
  const auto fail = [&](const std::string& why) {
    throw UsageError("cannot read " + path + ": " + why);
  };
  const fs::path native = native_path(path);
  std::error_code error;
  const fs::file_status status = fs::status(native, error);
  if (!fs::exists(status)) fail((error ? error.message() : reason(ENOENT)) + tilde_remedy(path));
  if (fs::is_directory(status)) fail("it is a folder, not a file");
  if (!fs::is_regular_file(status)) fail("it is not a regular file");
  errno = 0;
  std::ifstream file(native, std::ios::binary | std::ios::ate);
  if (!file) fail(reason(errno));
  std::string bytes(static_cast<size_t>(file.tellg()), '\0');
  file.seekg(0);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file) fail(reason(errno));
  return bytes;
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return fs::equivalent(native_path(a), native_path(b), error) && !error;
}

void write_file(const std::string& path, const std::function<void(std::ostream&)>& write) {
  fs::path target = native_path(path);
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  if (fs::is_directory(status)) throw UsageError("cannot write " + path + ": it is a folder");
  if (fs::exists(status) && !fs::is_regular_file(status)) return write_to(target, path, write);
  // A link stays one: the file that it leads to is written, there or not yet.
  constexpr int kMostLinks = 40;  // As Linux has it.
  for (int i = 0; i < kMostLinks && fs::is_symlink(fs::symlink_status(target, error)); ++i) {
    const fs::path end = fs::read_symlink(target, error);
    if (error) break;
    target = target.parent_path() / end;
  }
  fs::path part = target;
  part += ".part" + std::to_string(std::random_device()());
  const RemovedIfInterrupted removed(part);
  try {
    write_to(part, path, write);
    if (fs::exists(status)) fs::permissions(part, status.permissions(), error);
    if (const std::string why = replace_file(part, target); !why.empty())
      throw UsageError("cannot write " + path + ": " + why);
  } catch (...) {
    fs::remove(part, error);
    throw;
  }
}

}  // namespace tools
