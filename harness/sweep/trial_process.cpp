#include "harness/sweep/trial_process.h"

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
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>

namespace ohm::engine {

struct TrialProcess::Mailbox {
  static constexpr std::size_t kMostBytes = std::size_t{1} << 22U;

  std::size_t bytes = 0;
  bool is_left = false;  ///< by a process that had nothing more to say
  std::array<char, kMostBytes> text;

  /// Counts once it is whole: the process can be killed at any moment.
  void add(const std::string& message, std::size_t count) {
    char* const at = text.data() + bytes;
    std::memcpy(at, &count, sizeof count);
    std::memcpy(at + sizeof count, message.data(), count);
    std::atomic_signal_fence(std::memory_order_release);
    bytes += sizeof count + count;
  }

  std::vector<std::string> messages_after(std::size_t first) const {
    std::vector<std::string> messages;
    std::size_t size = 0;
    for (std::size_t at = 0; at < bytes; at += sizeof size + size) {
      std::memcpy(&size, text.data() + at, sizeof size);
      if (first > 0) {
        --first;
      } else {
        messages.emplace_back(text.data() + at + sizeof size, size);
      }
    }
    return messages;
  }
};

namespace {

timeval time_of(double seconds) {
  timeval time = {};
  time.tv_sec = static_cast<time_t>(seconds);
  time.tv_usec = static_cast<suseconds_t>((seconds - static_cast<double>(time.tv_sec)) * 1e6);
  return time;
}

void prepare_child(pid_t parent) {
  std::signal(SIGPROF, SIG_DFL);
  std::signal(SIGALRM, SIG_DFL);
  // A crash is a verdict here, and its core would only fill the disk.
  const rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Killed before it could be heard of.
  if (::getppid() != parent) ::_exit(1);
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

void TrialProcess::renew(const TrialLimits& limits) {
  const itimerval cpu = {{}, time_of(limits.cpu_seconds)};
  const itimerval wall = {{}, time_of(limits.wall_seconds)};
  ::setitimer(ITIMER_PROF, &cpu, nullptr);
  ::setitimer(ITIMER_REAL, &wall, nullptr);
}

bool TrialProcess::fork_child(const TrialLimits& limits) {
  mailbox_->bytes = 0;
  mailbox_->is_left = false;
  const pid_t parent = ::getpid();
  child_ = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (child_ < 0) {
    throw std::runtime_error(fmt::format("a trial cannot be forked: {}", std::strerror(errno)));
  }
  if (child_ != 0) return false;
  prepare_child(parent);
  renew(limits);
  return true;
}

void TrialProcess::post(const std::string& message) {
  const std::size_t room = Mailbox::kMostBytes - mailbox_->bytes;
  std::size_t bytes = message.size();
  if (bytes + sizeof bytes > room) {
    if (mailbox_->bytes != 0) leave();
    bytes = room - sizeof bytes;
  }
  mailbox_->add(message, bytes);
}

void TrialProcess::leave() {
  mailbox_->is_left = true;
  ::_exit(0);
}

std::vector<std::string> TrialProcess::messages_after(std::size_t count) const {
  return mailbox_->messages_after(count);
}

TrialProcess::Ended TrialProcess::wait() {
  int status = 0;
  while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  Ended ended;
  ended.messages = mailbox_->messages_after(0);
  if (mailbox_->is_left && WIFEXITED(status)) return ended;
  ended.end = End::crashed;
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    if (signal == SIGKILL) {
      throw std::runtime_error(
          "a trial was killed from outside (SIGKILL), as the kernel does where the host has no "
          "memory left");
    }
    if (signal == SIGPROF || signal == SIGALRM) ended.end = End::hung;
    ended.how = fmt::format("the process was killed by SIG{}", ::sigabbrev_np(signal));
  } else {
    ended.how = fmt::format("the process ended with exit code {}", WEXITSTATUS(status));
  }
  return ended;
}

}  // namespace ohm::engine
