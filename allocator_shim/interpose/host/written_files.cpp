#include "allocator_shim/interpose/host/written_files.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstring>

namespace ohm::interpose::host {

void add_written_file(const FixedPath& list, const char* letters, const char* path) {
  const int file = static_cast<int>(
      syscall(SYS_openat, AT_FDCWD, list.text(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (file < 0) return;
  std::array<char, 4200> line;
  const std::size_t letter_count = std::strlen(letters);
  const std::size_t length = std::strlen(path);
  std::memcpy(line.data(), letters, letter_count);
  line[letter_count] = '\t';
  std::memcpy(line.data() + letter_count + 1, path, length);
  line[letter_count + 1 + length] = '\n';
  // A list that cannot be written names fewer files than are compared.
  [[maybe_unused]] const ssize_t written = write(file, line.data(), letter_count + length + 2);
  syscall(SYS_close, file);
}

}  // namespace ohm::interpose::host
