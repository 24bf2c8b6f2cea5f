#include "allocator_shim/base/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <system_error>

namespace ohm {

namespace {

[[noreturn]] void fail(int reason) { throw std::system_error(reason, std::generic_category()); }

class OpenFile {
 public:
  explicit OpenFile(const std::string& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) fail(errno);
  }
  ~OpenFile() { ::close(descriptor_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  /// 0 for what has none to tell of: a pipe.
  std::size_t size() const {
    struct stat status = {};
    if (::fstat(descriptor_, &status) != 0) fail(errno);
    return status.st_size > 0 ? static_cast<std::size_t>(status.st_size) : 0;
  }

  /// Bytes read; 0 at the end.
  std::size_t read(char* bytes, std::size_t count) const {
    while (true) {
      const ssize_t got = ::read(descriptor_, bytes, count);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) fail(errno);
    }
  }

 private:
  int descriptor_;
};

}  // namespace

std::string read_whole_file(const std::string& path) {
  constexpr std::size_t kLeastRoom = 4096;
  const OpenFile file(path);
  std::string text(file.size() + 1, '\0');  // one byte more, to see the end
  std::size_t length = 0;
  while (const std::size_t got = file.read(text.data() + length, text.size() - length)) {
    length += got;
    if (length == text.size()) text.resize(std::max(kLeastRoom, 2 * length));
  }
  text.resize(length);
  return text;
}

}  // namespace ohm
