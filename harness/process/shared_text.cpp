#include "harness/process/shared_text.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>

namespace ohm::engine {

namespace {

[[noreturn]] void throw_error(int error) {
  throw std::system_error(error, std::generic_category());
}

std::size_t size_of_file(int descriptor) {
  struct stat file = {};
  if (::fstat(descriptor, &file) != 0) throw_error(errno);
  if (S_ISDIR(file.st_mode)) throw_error(EISDIR);
  return static_cast<std::size_t>(file.st_size);
}

}  // namespace

SharedText::SharedText(int descriptor) : room_(std::max<std::size_t>(1, size_of_file(descriptor))) {
  void* const memory =
      ::mmap(nullptr, room_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  bytes_ = static_cast<char*>(memory);
  while (size_ < room_) {
    const ssize_t more =
        ::pread(descriptor, bytes_ + size_, room_ - size_, static_cast<off_t>(size_));
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) {
      const int error = errno;
      ::munmap(bytes_, room_);
      throw_error(error);
    }
    if (more == 0) break;
    size_ += static_cast<std::size_t>(more);
  }
}

SharedText::~SharedText() { ::munmap(bytes_, room_); }

}  // namespace ohm::engine
