#include "allocator_shim/interpose/host/open_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <cstring>

namespace ohm::interpose::host {

namespace {

constexpr const char* kFolder = "/proc/self/fd";

/// As the kernel writes it (getdents64).
struct FolderEntry {
  std::uint64_t number;
  std::int64_t next;
  std::uint16_t bytes;
  std::uint8_t type;
  char name[1];  // NOLINT(modernize-avoid-c-arrays): as long as the entry
};

/// "." and ".." are -1.
int number_in(const char* name) {
  int number = -1;
  std::from_chars(name, name + std::strlen(name), number);
  return number;
}

/// Opens the path on the descriptor, at the same number.
bool reopen(int descriptor, const char* path, int flags, off_t offset) {
  const int file = open(path, flags | O_CLOEXEC, 0600);
  if (file < 0) return false;
  if (offset > 0) lseek(file, offset, SEEK_SET);
  const int on_exec = fcntl(descriptor, F_GETFD);
  const bool is_there = dup3(file, descriptor, (on_exec & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0) >= 0;
  close(file);
  return is_there;
}

}  // namespace

FileIdentity identity_of(const char* path) {
  struct stat status = {};
  if (stat(path, &status) != 0) return {};
  return {status.st_dev, status.st_ino};
}

FaultEnd OpenFiles::find(const FileIdentity& output, const FileIdentity& errors) {
  count_ = 0;
  const int folder = open(kFolder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return FaultEnd::no_copy;
  FaultEnd end = FaultEnd::ended;
  alignas(FolderEntry) std::array<char, 2048> entries;
  while (end == FaultEnd::ended) {
    const long got = syscall(SYS_getdents64, folder, entries.data(), entries.size());
    if (got <= 0) break;
    for (long at = 0; at < got && end == FaultEnd::ended;) {
      const auto* const entry = reinterpret_cast<const FolderEntry*>(entries.data() + at);
      const int descriptor = number_in(entry->name);
      if (descriptor >= 0 && descriptor != folder) end = add(descriptor, output, errors);
      at += entry->bytes;
    }
  }
  close(folder);
  return end;
}

FaultEnd OpenFiles::add(int descriptor, const FileIdentity& output, const FileIdentity& errors) {
  struct stat status = {};
  if (fstat(descriptor, &status) != 0) return FaultEnd::ended;
  OpenFile file;
  file.descriptor = descriptor;
  file.flags = fcntl(descriptor, F_GETFL);
  const FileIdentity identity = {status.st_dev, status.st_ino};
  if (identity == output) {
    file.kind = OpenFile::Kind::output;
  } else if (identity == errors) {
    file.kind = OpenFile::Kind::errors;
  } else if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) {
    if ((file.flags & O_ACCMODE) != O_RDONLY) return FaultEnd::writes_files;
    file.offset = lseek(descriptor, 0, SEEK_CUR);
  } else if (S_ISCHR(status.st_mode)) {
    return FaultEnd::ended;  // /dev/null and its like
  } else {
    return FaultEnd::speaks_to_others;
  }
  if (count_ == kMostFiles) return FaultEnd::no_copy;
  files_[count_++] = file;
  return FaultEnd::ended;
}

bool OpenFiles::separate(const char* output, const char* errors) const {
  constexpr int kNewFile = O_CREAT;
  for (std::size_t i = 0; i < count_; ++i) {
    const OpenFile& file = files_[i];
    if (file.kind == OpenFile::Kind::read) {
      std::array<char, 32> path = {"/proc/self/fd/"};
      *std::to_chars(path.data() + std::strlen(path.data()), path.data() + 31, file.descriptor)
           .ptr = '\0';
      // What may not be opened again is shared, as far as its place in it goes.
      // The path is a link, which a program may have said not to follow (find, tar).
      reopen(file.descriptor, path.data(), file.flags & ~O_NOFOLLOW, file.offset);
      continue;
    }
    const char* const path = file.kind == OpenFile::Kind::output ? output : errors;
    if (!reopen(file.descriptor, path, file.flags | kNewFile, 0)) return false;
  }
  return true;
}

}  // namespace ohm::interpose::host
