#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "base/aligned_block.h"
#include "base/mapped_file.h"
#include "base/paths.h"

namespace pteron {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

Error io_error(const std::string& path, const std::string& reason) {
  return {Code::Io, "cannot read " + path + ": " + reason};
}

std::string system_reason() { return std::generic_category().message(errno); }

struct OpenFile {
  Descriptor fd;
  size_t size;
};

Result<OpenFile> open_regular(const std::string& path) {
  // O_NONBLOCK: opening a pipe must not wait for a writer.
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) {
    const bool is_missing = errno == ENOENT;
    return io_error(path, system_reason() + (is_missing ? tilde_remedy(path) : ""));
  }
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return io_error(path, system_reason());
  if (S_ISDIR(status.st_mode)) return io_error(path, "it is a folder, not a file");
  if (!S_ISREG(status.st_mode)) return io_error(path, "it is not a regular file");
  const auto size = static_cast<size_t>(status.st_size);
  return OpenFile{std::move(fd), size};
}

}  // namespace

Result<FileContents> map_file(const std::string& utf8_path) {
  PTERON_ASSIGN(OpenFile file, open_regular(utf8_path));
  if (file.size == 0) return FileContents{};
  void* data = ::mmap(nullptr, file.size, PROT_READ, MAP_PRIVATE, file.fd.get(), 0);
  if (data == MAP_FAILED) return io_error(utf8_path, system_reason());
  std::shared_ptr<const void> storage(
      data, [size = file.size](const void* p) { ::munmap(const_cast<void*>(p), size); });
  return FileContents{{static_cast<const std::byte*>(data), file.size}, std::move(storage), true};
}

Result<FileContents> read_file(const std::string& utf8_path) {
  PTERON_ASSIGN(OpenFile file, open_regular(utf8_path));
  const std::shared_ptr<std::byte> block = aligned_block(file.size);
  size_t done = 0;
  while (done < file.size) {
    const ssize_t got = ::read(file.fd.get(), block.get() + done, file.size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_error(utf8_path, system_reason());
    if (got == 0) break;  // Cut meanwhile: what is there counts.
    done += static_cast<size_t>(got);
  }
  return FileContents{{block.get(), done}, block};
}

void release_pages(const FileContents& file, std::span<const std::byte> part) {
  if (!file.is_mapping || part.empty()) return;
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(part.data());
  const uintptr_t first = (begin + page - 1) / page * page;
  const uintptr_t last = (begin + part.size()) / page * page;
  // Never written to, the pages come back from the file.
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace pteron
