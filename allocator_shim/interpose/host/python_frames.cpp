#include "allocator_shim/interpose/host/python_frames.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "allocator_shim/interpose/host/process_copy.h"

namespace ohm::interpose::host {

namespace {

/// Of every version of Python. Its output is a descriptor that the copy has to itself.
constexpr const char* kScript = R"(
import sys, os
frame = sys._getframe().f_back
while frame is not None:
    code = frame.f_code
    line = "%s:%s\t%s\n" % (code.co_filename, frame.f_lineno, code.co_name)
    os.write(1, line.encode("utf-8", "replace"))
    frame = frame.f_back
os._exit(0)
)";

template <typename Function>
Function* python_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

[[noreturn]] void end_copy() {
  syscall(SYS_exit_group, 0);
  __builtin_unreachable();
}

/// In the copy. What goes wrong there ends it.
[[noreturn]] void write_frames(const FixedPath& path, int (*run)(const char*)) {
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGILL}) ::signal(signal, SIG_DFL);
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const int file = open(path.text(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (file < 0 || dup2(file, STDOUT_FILENO) < 0 || dup2(nowhere, STDERR_FILENO) < 0) end_copy();
  run(kScript);
  end_copy();
}

void wait_for(pid_t copy, int descriptor) {
  constexpr int kMostMilliseconds = 2000;
  pollfd ended = {descriptor, POLLIN, 0};
  if (poll(&ended, 1, kMostMilliseconds) == 0) kill(copy, SIGKILL);
  while (waitpid(copy, nullptr, __WALL) < 0 && errno == EINTR) {
  }
  close(descriptor);
}

void read_frames(const FixedPath& path, std::array<char, kFramesBytes>& frames) {
  const int file = open(path.text(), O_RDONLY | O_CLOEXEC);
  const ssize_t got = read(file, frames.data(), frames.size() - 1);
  frames[static_cast<std::size_t>(std::max<ssize_t>(0, got))] = '\0';
  if (file >= 0) close(file);
}

}  // namespace

void take_python_frames(const FixedPath& file, std::array<char, kFramesBytes>& frames) {
  frames[0] = '\0';
  auto* const is_ready = python_function<int()>("Py_IsInitialized");
  auto* const run = python_function<int(const char*)>("PyRun_SimpleString");
  auto* const state = python_function<void*()>("PyGILState_GetThisThreadState");
  if (is_ready == nullptr || run == nullptr || state == nullptr) return;
  // In a copy nobody would give back what another thread has locked.
  if (is_ready() == 0 || state() == nullptr || has_several_threads()) return;
  unlink(file.text());
  int descriptor = -1;
  const long copy = syscall(SYS_clone, CLONE_PIDFD, nullptr, &descriptor, nullptr, nullptr);
  if (copy < 0) return;
  if (copy == 0) write_frames(file, run);
  wait_for(static_cast<pid_t>(copy), descriptor);
  read_frames(file, frames);
}

}  // namespace ohm::interpose::host
