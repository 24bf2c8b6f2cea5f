#include "allocator_shim/interpose/host/process_copy.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "allocator_shim/interpose/host/open_files.h"

namespace ohm::interpose::host {

bool has_several_threads() {
  struct stat status = {};
  constexpr nlink_t kOfOneThread = 3;
  return stat("/proc/self/task", &status) == 0 && status.st_nlink > kOfOneThread;
}

namespace {

bool has_children() {
  siginfo_t info = {};
  return waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) == 0;
}

/// Signals wait while it lives: the process stands still. What the copy's end sends, where the
/// copy became another program, is taken away.
class QuietSignals {
 public:
  QuietSignals() {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &previous_);
    sigset_t pending;
    sigpending(&pending);
    had_child_signal_ = sigismember(&pending, SIGCHLD) == 1;
  }
  ~QuietSignals() {
    if (!had_child_signal_) {
      sigset_t of_child;
      sigemptyset(&of_child);
      sigaddset(&of_child, SIGCHLD);
      const timespec at_once = {};
      sigtimedwait(&of_child, nullptr, &at_once);
    }
    restore();
  }
  QuietSignals(const QuietSignals&) = delete;
  QuietSignals& operator=(const QuietSignals&) = delete;

  void restore() const { sigprocmask(SIG_SETMASK, &previous_, nullptr); }

 private:
  sigset_t previous_ = {};
  bool had_child_signal_ = false;
};

/// The copy's first steps. False where it would be no faithful one.
bool become_copy(pid_t original, const CopyFiles& files, const OpenFiles& open_files) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Killed before it could be heard of.
  if (getppid() != original) return false;
  setpgid(0, 0);
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  return open_files.separate(files.copy_output.text(), files.copy_errors.text());
}

off_t bytes_in(const char* path) {
  struct stat status = {};
  return stat(path, &status) == 0 ? status.st_size : 0;
}

/// The first byte in which `path` differs from `expected` from `offset` on; -1: the same to the
/// ends of both.
off_t first_difference(const char* path, const char* expected, off_t offset) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  const int expected_file = open(expected, O_RDONLY | O_CLOEXEC);
  std::array<char, 2048> bytes;
  std::array<char, 2048> expected_bytes;
  off_t at = 0;
  off_t difference = -1;
  for (;;) {
    const ssize_t got = std::max<ssize_t>(0, pread(file, bytes.data(), bytes.size(), at));
    const ssize_t wanted = std::max<ssize_t>(
        0, pread(expected_file, expected_bytes.data(), expected_bytes.size(), offset + at));
    const ssize_t common = std::min(got, wanted);
    ssize_t same = 0;
    while (same < common && bytes[static_cast<std::size_t>(same)] ==
                                expected_bytes[static_cast<std::size_t>(same)]) {
      ++same;
    }
    at += same;
    if (same < common || got != wanted) {
      difference = at;
      break;
    }
    if (got == 0) break;
  }
  close(file);
  close(expected_file);
  return difference;
}

void take_message(const char* path, off_t from, SweptFault& fault) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t got = pread(file, fault.message.data(), fault.message.size() - 1, from);
  fault.message[static_cast<std::size_t>(std::max<ssize_t>(0, got))] = '\0';
  close(file);
}

/// Of the copy, which has ended, beside what the run without faults wrote from there on.
void take_outputs(const CopyFiles& files, off_t output_offset, off_t errors_offset,
                  SweptFault& fault) {
  const off_t output =
      first_difference(files.copy_output.text(), files.expected_output.text(), output_offset);
  const off_t errors =
      first_difference(files.copy_errors.text(), files.expected_errors.text(), errors_offset);
  fault.has_same_output = output < 0 ? 1 : 0;
  fault.has_same_errors = errors < 0 ? 1 : 0;
  if (errors >= 0) take_message(files.copy_errors.text(), errors, fault);
}

void wait_for_copy(pid_t copy, int descriptor, std::uint32_t milliseconds, SweptFault& fault) {
  pollfd ended = {descriptor, POLLIN, 0};
  fault.end = FaultEnd::ended;
  if (poll(&ended, 1, static_cast<int>(milliseconds)) == 0) {
    fault.end = FaultEnd::hung;
    kill(copy, SIGKILL);
  }
  int status = 0;
  while (waitpid(copy, &status, __WALL) < 0 && errno == EINTR) {
  }
  // What it started goes with it.
  kill(-copy, SIGKILL);
  fault.status = status;
}

bool make_empty(const FixedPath& path) {
  const int file = open(path.text(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file >= 0) close(file);
  return file >= 0;
}

}  // namespace

CopyFiles::CopyFiles(const char* folder)
    : output(folder, kOutputFile),
      errors(folder, kErrorsFile),
      expected_output(folder, kExpectedOutput),
      expected_errors(folder, kExpectedErrors),
      copy_output(folder, kCopyOutput),
      copy_errors(folder, kCopyErrors) {}

bool fail_in_copy(const CopyFiles& files, std::uint32_t milliseconds, SweptFault& fault) {
  if (has_several_threads()) {
    fault.end = FaultEnd::several_threads;
    return false;
  }
  if (has_children()) {
    fault.end = FaultEnd::has_children;
    return false;
  }
  OpenFiles open_files;
  fault.end = open_files.find(identity_of(files.output.text()), identity_of(files.errors.text()));
  if (fault.end != FaultEnd::ended) return false;
  fault.end = FaultEnd::no_copy;
  if (!make_empty(files.copy_output) || !make_empty(files.copy_errors)) return false;

  const QuietSignals quiet;
  const pid_t original = getpid();
  int descriptor = -1;
  const long copy = syscall(SYS_clone, CLONE_PIDFD, nullptr, &descriptor, nullptr, nullptr);
  if (copy < 0) return false;
  if (copy == 0) {
    // Not one of them could tell what a request that fails does.
    constexpr int kUnfaithful = 125;
    if (!become_copy(original, files, open_files)) syscall(SYS_exit_group, kUnfaithful);
    return true;
  }
  wait_for_copy(static_cast<pid_t>(copy), descriptor, milliseconds, fault);
  close(descriptor);
  take_outputs(files, bytes_in(files.output.text()), bytes_in(files.errors.text()), fault);
  return false;
}

}  // namespace ohm::interpose::host
