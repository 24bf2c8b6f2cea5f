#include "harness/engine/sweep/trial_process.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>

namespace ohm::engine {

struct TrialProcess::Mailbox {
  static constexpr std::size_t kMostBytes = std::size_t{1} << 22U;

  std::size_t bytes = 0;
  bool is_whole = false;
  std::array<char, kMostBytes> text;
};

namespace {

timeval time_of(double seconds) {
  timeval time = {};
  time.tv_sec = static_cast<time_t>(seconds);
  time.tv_usec = static_cast<suseconds_t>((seconds - static_cast<double>(time.tv_sec)) * 1e6);
  return time;
}

void limit(const TrialLimits& limits) {
  const itimerval cpu = {{}, time_of(limits.cpu_seconds)};
  const itimerval wall = {{}, time_of(limits.wall_seconds)};
  std::signal(SIGPROF, SIG_DFL);
  std::signal(SIGALRM, SIG_DFL);
  ::setitimer(ITIMER_PROF, &cpu, nullptr);
  ::setitimer(ITIMER_REAL, &wall, nullptr);
  // A crash is a verdict here, and its core would only fill the disk.
  const rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
}

}  // namespace

TrialProcess::TrialProcess()
    : mailbox_(static_cast<Mailbox*>(::mmap(nullptr, sizeof(Mailbox), PROT_READ | PROT_WRITE,
                                            MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
  if (static_cast<void*>(mailbox_) == MAP_FAILED) {
    throw std::runtime_error("no memory to share with a trial");
  }
}

TrialProcess::~TrialProcess() { ::munmap(mailbox_, sizeof(Mailbox)); }

bool TrialProcess::can_fork() { return ::getpid() == ::gettid(); }

bool TrialProcess::fork_child(const TrialLimits& limits) {
  mailbox_->is_whole = false;
  child_ = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (child_ < 0) {
    throw std::runtime_error(fmt::format("a trial cannot be forked: {}", std::strerror(errno)));
  }
  if (child_ != 0) return false;
  limit(limits);
  return true;
}

void TrialProcess::report(const std::string& message) {
  mailbox_->bytes = std::min(message.size(), Mailbox::kMostBytes);
  std::memcpy(mailbox_->text.data(), message.data(), mailbox_->bytes);
  mailbox_->is_whole = true;
  ::_exit(0);
}

TrialProcess::End TrialProcess::wait(std::string& message) {
  int status = 0;
  while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  if (mailbox_->is_whole && WIFEXITED(status)) {
    message.assign(mailbox_->text.data(), mailbox_->bytes);
    return End::reported;
  }
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    if (signal == SIGPROF || signal == SIGALRM) return End::hung;
    message = fmt::format("the process was killed by SIG{}", ::sigabbrev_np(signal));
  } else {
    message = fmt::format("the process ended with exit code {}", WEXITSTATUS(status));
  }
  return End::crashed;
}

}  // namespace ohm::engine
