#include "allocator_shim/base/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "allocator_shim/base/format_bytes.h"

namespace ohm {

namespace {

[[noreturn]] void fail(int reason) { throw std::system_error(reason, std::generic_category()); }

/// Reasons that the system has no word for.
class TooLong final : public std::error_category {
 public:
  const char* name() const noexcept override { return "input"; }
  std::string message(int mebibytes) const override {
    return "it goes on after " + human_bytes(static_cast<std::uint64_t>(mebibytes) << 20U) +
           ", which no file of ohm's is: name another one";
  }
};

}  // namespace

InputFile::InputFile(const std::string& path)
    : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) fail(errno);
  struct stat status = {};
  if (::fstat(descriptor_, &status) == 0 && !S_ISDIR(status.st_mode)) {
    if (S_ISREG(status.st_mode)) bytes_ = static_cast<std::uint64_t>(status.st_size);
    is_device_ = S_ISCHR(status.st_mode);
    return;
  }
  const int reason = S_ISDIR(status.st_mode) ? EISDIR : errno;
  ::close(descriptor_);
  fail(reason);
}

InputFile::~InputFile() { ::close(descriptor_); }

std::size_t InputFile::read_file(std::span<char> room) const {
  for (;;) {
    const ssize_t got = ::read(descriptor_, room.data(), room.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) fail(errno);
  }
}

std::string_view InputFile::beginning(std::size_t count) {
  std::size_t length = beginning_.size();
  beginning_.resize(std::max(length, count));
  while (length < beginning_.size()) {
    const std::size_t got = read_file(std::span(beginning_).subspan(length));
    if (got == 0) break;
    length += got;
  }
  beginning_.resize(length);
  return std::string_view(beginning_).substr(0, count);
}

std::size_t InputFile::read(std::span<char> room) {
  const std::size_t kept = std::min(beginning_.size() - taken_, room.size());
  if (kept == 0) return read_file(room);
  std::memcpy(room.data(), beginning_.data() + taken_, kept);
  taken_ += kept;
  return kept;
}

std::string InputFile::rest(std::size_t most_bytes) {
  static const TooLong kTooLong;
  constexpr std::size_t kLeastRoom = 4096;
  if (is_device_) most_bytes = std::min(most_bytes, kMostBytesOfDevice);
  // One byte more than there should be, to see the end.
  const std::size_t expected = static_cast<std::size_t>(bytes_.value_or(0)) + 1;
  std::string text(std::min(expected, most_bytes + 1), '\0');
  std::size_t length = 0;
  while (const std::size_t got = read(std::span(text).subspan(length))) {
    length += got;
    if (length > most_bytes) throw std::system_error(static_cast<int>(most_bytes >> 20U), kTooLong);
    if (length == text.size()) {
      text.resize(std::min(std::max(kLeastRoom, 2 * length), most_bytes + 1));
    }
  }
  text.resize(length);
  return text;
}

}  // namespace ohm
