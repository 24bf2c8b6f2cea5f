#include "allocator_shim/interpose/host/record_place.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>

namespace ohm::interpose::host {

constinit RecordPlace record_place;

void RecordPlace::open(const char* folder) {
  path_ = FixedPath(folder, "");
  const int first = ::open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (first < 0) return;
  // Programs may count on the numbers that their own descriptors have.
  constexpr std::array<int, 3> kLeast = {1000, 500, 100};
  for (const int least : kLeast) {
    folder_ = fcntl(first, F_DUPFD_CLOEXEC, least);
    if (folder_ >= 0) break;
  }
  syscall(SYS_close, first);
}

int RecordPlace::file(const char* name) const {
  const int file = opened(name);
  if (file >= 0 || errno != EACCES) return file;
  // It is of the user that the process was before.
  remove(name);
  return opened(name);
}

int RecordPlace::opened(const char* name) const {
  constexpr int kNew = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  constexpr mode_t kOwn = 0600;
  const int file = openat(folder_, name, kNew, kOwn);
  // In a program that found the descriptor and closed it the path has to do.
  return file >= 0 || errno == EACCES ? file
                                      : ::open(FixedPath(path_.text(), name).text(), kNew, kOwn);
}

void RecordPlace::remove(const char* name) const {
  if (unlinkat(folder_, name, 0) == 0) return;
  unlink(FixedPath(path_.text(), name).text());
}

UnlimitedFiles::UnlimitedFiles() {
  sigset_t too_large;
  sigemptyset(&too_large);
  sigaddset(&too_large, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &too_large, &previous_);
  sigset_t pending;
  sigpending(&pending);
  was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
  if (getrlimit(RLIMIT_FSIZE, &limit_) != 0 || limit_.rlim_cur == limit_.rlim_max) return;
  const rlimit raised = {limit_.rlim_max, limit_.rlim_max};
  is_raised_ = setrlimit(RLIMIT_FSIZE, &raised) == 0;
}

UnlimitedFiles::~UnlimitedFiles() {
  if (is_raised_) setrlimit(RLIMIT_FSIZE, &limit_);
  if (!was_pending_) {
    sigset_t too_large;
    sigemptyset(&too_large);
    sigaddset(&too_large, SIGXFSZ);
    const timespec at_once = {};
    sigtimedwait(&too_large, nullptr, &at_once);
  }
  pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
}

}  // namespace ohm::interpose::host
