#include "allocator_shim/snapshot/snapshot_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "allocator_shim/snapshot/snapshot_builder.h"

namespace ohm {

namespace {

[[noreturn]] void fail(const std::string& path, int error) {
  throw std::runtime_error(fmt::format("cannot read {}: {}", path, std::strerror(error)));
}

class InputFile {
 public:
  explicit InputFile(std::string path)
      : path_(std::move(path)), descriptor_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) fail(path_, errno);
  }
  ~InputFile() { ::close(descriptor_); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// Of a regular file; pipes tell only at their end.
  std::optional<std::uint64_t> bytes() const {
    struct stat status = {};
    if (::fstat(descriptor_, &status) != 0) fail(path_, errno);
    if (S_ISDIR(status.st_mode)) fail(path_, EISDIR);
    if (!S_ISREG(status.st_mode)) return std::nullopt;
    return static_cast<std::uint64_t>(status.st_size);
  }

  std::size_t read(std::span<char> room) const {
    for (;;) {
      const ssize_t got = ::read(descriptor_, room.data(), room.size());
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) fail(path_, errno);
    }
  }

 private:
  std::string path_;
  int descriptor_;
};

}  // namespace

Snapshot read_snapshot(ByteWindow& bytes) {
  SnapshotBuilder builder;
  PickleReader reader(bytes, builder);
  try {
    Snapshot snapshot = builder.finish(reader.read());
    reader.check_end();
    return snapshot;
  } catch (const std::length_error&) {
    throw PickleError(reader.offset(), "more text or frames than can be kept");
  }
}

Snapshot read_snapshot(std::string_view bytes) {
  ByteWindow window(bytes);
  return read_snapshot(window);
}

Snapshot read_snapshot_file(const std::string& path) {
  const InputFile file(path);
  ByteWindow window([&](std::span<char> room) { return file.read(room); }, file.bytes());
  try {
    return read_snapshot(window);
  } catch (const PickleError& error) {
    throw PickleError(path, error);
  }
}

}  // namespace ohm
