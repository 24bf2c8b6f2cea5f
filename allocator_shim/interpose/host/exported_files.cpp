// What programs call to create files, or to open them for writing: the files are noted.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/host/next_functions.h"
#include "allocator_shim/interpose/host/watch.h"
#include "allocator_shim/interpose/host/written_files.h"

namespace ohm::interpose::host {

namespace {

using Path = std::array<char, 4096>;

bool is_noted() {
  return stage.load(std::memory_order_relaxed) == Stage::watched && !Inside::is_entered() &&
         watch.notes_files();
}

/// Leaves errno as it is.
bool is_there(int folder, const char* path) {
  const int error = errno;
  const bool is_found = syscall(SYS_faccessat, folder, path, F_OK) == 0;
  errno = error;
  return is_found;
}

bool writes(int flags) { return (flags & O_ACCMODE) != O_RDONLY; }

/// The open file's own path: without links, and from the root on.
void note_file(int file, bool was_there, int flags) {
  struct stat status = {};
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink == 0) return;
  std::array<char, 32> link = {"/proc/self/fd/"};
  *std::to_chars(link.data() + std::strlen(link.data()), link.data() + 31, file).ptr = '\0';
  Path path;
  const ssize_t length = readlink(link.data(), path.data(), path.size() - 1);
  if (length <= 0 || path[0] != '/') return;
  path[static_cast<std::size_t>(length)] = '\0';
  std::array<char, 4> letters = {was_there ? kWrittenOld : kWrittenNew};
  char* next_letter = letters.data() + 1;
  if (!was_there && (flags & O_EXCL) != 0) *next_letter++ = kWrittenExclusive;
  if ((flags & O_APPEND) != 0) *next_letter++ = kWrittenAppended;
  watch.note_file(letters.data(), path.data());
}

/// Makes a folder's or a file's path one from the root on.
bool absolute(int folder, const char* name, Path& path) {
  if (name[0] == '/' || folder != AT_FDCWD) {
    if (name[0] != '/' || std::strlen(name) >= path.size()) return false;
    std::memcpy(path.data(), name, std::strlen(name) + 1);
    return true;
  }
  if (getcwd(path.data(), path.size()) == nullptr) return false;
  const std::size_t used = std::strlen(path.data());
  if (used + std::strlen(name) + 2 > path.size()) return false;
  path[used] = '/';
  std::memcpy(path.data() + used + 1, name, std::strlen(name) + 1);
  return true;
}

void note_name(const char* letters, int folder, const char* name) {
  Path path;
  if (absolute(folder, name, path)) watch.note_file(letters, path.data());
}

/// Opens by `make`, which returns a descriptor.
template <typename Make>
int opened(int folder, const char* path, int flags, const Make& make) {
  if (!writes(flags) || path == nullptr || !is_noted()) return make();
  const bool was_there = is_there(folder, path);
  const int file = make();
  if (file >= 0) {
    Inside inside;
    note_file(file, was_there, flags);
  }
  return file;
}

/// The flags of open() that a stream's mode stands for.
int flags_of(const char* mode) {
  const std::string_view text(mode);
  const bool has_plus = text.find('+') != std::string_view::npos;
  if (text.starts_with('r') && !has_plus) return O_RDONLY;
  int flags = has_plus ? O_RDWR : O_WRONLY;
  if (text.starts_with('a')) flags |= O_APPEND;
  if (text.find('x') != std::string_view::npos) flags |= O_EXCL;
  return flags;
}

template <typename Make>
std::FILE* opened_stream(const char* path, const char* mode, const Make& make) {
  const int flags = flags_of(mode);
  if (!writes(flags) || path == nullptr || !is_noted()) return make();
  const bool was_there = is_there(AT_FDCWD, path);
  std::FILE* const stream = make();
  if (stream != nullptr) {
    Inside inside;
    note_file(fileno(stream), was_there, flags);
  }
  return stream;
}

int temporary_file(char* name, int suffix, int flags) {
  if (next.mkostemps == nullptr) {
    errno = ENOSYS;
    return -1;
  }
  const int file = next.mkostemps(name, suffix, flags);
  if (file >= 0 && is_noted()) {
    Inside inside;
    note_file(file, false, O_EXCL);
  }
  return file;
}

template <typename Make>
int renamed(int folder, const char* to, const Make& make) {
  if (!is_noted()) return make();
  const bool was_there = is_there(folder, to);
  const int result = make();
  if (result == 0) {
    Inside inside;
    note_name(was_there ? "or" : "nr", folder, to);
  }
  return result;
}

mode_t mode_in(int flags, va_list rest) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
}

int open_directly(int folder, const char* path, int flags, mode_t mode) {
  return static_cast<int>(syscall(SYS_openat, folder, path, flags, mode));
}

int open_file(const char* path, int flags, mode_t mode) {
  if (!is_ready_for_files() || next.open == nullptr) {
    return open_directly(AT_FDCWD, path, flags, mode);
  }
  return opened(AT_FDCWD, path, flags, [&] { return next.open(path, flags, mode); });
}

int open_file_at(int folder, const char* path, int flags, mode_t mode) {
  if (!is_ready_for_files() || next.openat == nullptr) {
    return open_directly(folder, path, flags, mode);
  }
  return opened(folder, path, flags, [&] { return next.openat(folder, path, flags, mode); });
}

}  // namespace

}  // namespace ohm::interpose::host

namespace host = ohm::interpose::host;

OHM_EXPORTED int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = host::mode_in(flags, rest);
  va_end(rest);
  return host::open_file(path, flags, mode);
}

OHM_EXPORTED int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = host::mode_in(flags, rest);
  va_end(rest);
  return host::open_file(path, flags, mode);
}

OHM_EXPORTED int openat(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = host::mode_in(flags, rest);
  va_end(rest);
  return host::open_file_at(folder, path, flags, mode);
}

OHM_EXPORTED int openat64(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = host::mode_in(flags, rest);
  va_end(rest);
  return host::open_file_at(folder, path, flags, mode);
}

// What compilers call instead where no mode is given (_FORTIFY_SOURCE).
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
OHM_EXPORTED int __open_2(const char* path, int flags) { return host::open_file(path, flags, 0); }

OHM_EXPORTED int __open64_2(const char* path, int flags) { return host::open_file(path, flags, 0); }
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

OHM_EXPORTED int creat(const char* path, mode_t mode) {
  return host::open_file(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

OHM_EXPORTED int creat64(const char* path, mode_t mode) {
  return host::open_file(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

OHM_EXPORTED std::FILE* fopen(const char* path, const char* mode) {
  if (!host::is_ready_for_files() || host::next.fopen == nullptr) return nullptr;
  return host::opened_stream(path, mode, [&] { return host::next.fopen(path, mode); });
}

OHM_EXPORTED std::FILE* fopen64(const char* path, const char* mode) { return fopen(path, mode); }

OHM_EXPORTED std::FILE* freopen(const char* path, const char* mode, std::FILE* stream) {
  if (!host::is_ready_for_files() || host::next.freopen == nullptr) return nullptr;
  return host::opened_stream(path, mode, [&] { return host::next.freopen(path, mode, stream); });
}

OHM_EXPORTED std::FILE* freopen64(const char* path, const char* mode, std::FILE* stream) {
  return freopen(path, mode, stream);
}

OHM_EXPORTED int mkstemp(char* name) { return host::temporary_file(name, 0, 0); }
OHM_EXPORTED int mkstemp64(char* name) { return host::temporary_file(name, 0, 0); }
OHM_EXPORTED int mkostemp(char* name, int flags) { return host::temporary_file(name, 0, flags); }
OHM_EXPORTED int mkostemp64(char* name, int flags) { return host::temporary_file(name, 0, flags); }
OHM_EXPORTED int mkstemps(char* name, int suffix) { return host::temporary_file(name, suffix, 0); }
OHM_EXPORTED int mkstemps64(char* name, int suffix) {
  return host::temporary_file(name, suffix, 0);
}
OHM_EXPORTED int mkostemps(char* name, int suffix, int flags) {
  return host::temporary_file(name, suffix, flags);
}
OHM_EXPORTED int mkostemps64(char* name, int suffix, int flags) {
  return host::temporary_file(name, suffix, flags);
}

OHM_EXPORTED char* mkdtemp(char* name) noexcept {
  if (!host::is_ready_for_files() || host::next.mkdtemp == nullptr) return nullptr;
  char* const made = host::next.mkdtemp(name);
  if (made != nullptr && host::is_noted()) {
    host::Inside inside;
    host::note_name("nxd", AT_FDCWD, made);
  }
  return made;
}

OHM_EXPORTED int mkdir(const char* path, mode_t mode) noexcept {
  if (!host::is_ready_for_files())
    return static_cast<int>(syscall(SYS_mkdirat, AT_FDCWD, path, mode));
  const int result = host::next.mkdir(path, mode);
  if (result == 0 && host::is_noted()) {
    host::Inside inside;
    host::note_name("nxd", AT_FDCWD, path);
  }
  return result;
}

OHM_EXPORTED int rename(const char* from, const char* to) noexcept {
  if (!host::is_ready_for_files()) {
    return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
  }
  return host::renamed(AT_FDCWD, to, [&] { return host::next.rename(from, to); });
}

OHM_EXPORTED int renameat(int from_folder, const char* from, int to_folder,
                          const char* to) noexcept {
  if (!host::is_ready_for_files()) {
    return static_cast<int>(syscall(SYS_renameat2, from_folder, from, to_folder, to, 0));
  }
  return host::renamed(to_folder, to,
                       [&] { return host::next.renameat(from_folder, from, to_folder, to); });
}
