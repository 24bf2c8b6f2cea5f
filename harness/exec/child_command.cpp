#include "harness/exec/child_command.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "harness/process/stopwatch.h"

namespace ohm::engine {

namespace {

/// That a program is sent by others, or by its terminal. SIGCHLD tells of the command.
constexpr std::array<int, 10> kPassedSignals = {SIGINT,  SIGQUIT, SIGTERM, SIGHUP,  SIGUSR1,
                                                SIGUSR2, SIGTSTP, SIGCONT, SIGALRM, SIGWINCH};

[[noreturn]] void throw_errno(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), what);
}

[[noreturn]] void throw_not_started(int error, const std::string& path) {
  throw std::invalid_argument(path + " cannot be started: " + std::strerror(error));
}

/// The error of a child that cannot become its program: nothing arrives when it can.
class StartError {
 public:
  StartError() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) throw_errno(errno, "pipe");
  }
  ~StartError() {
    for (const int end : ends_) {
      if (end >= 0) close(end);
    }
  }
  StartError(const StartError&) = delete;
  StartError& operator=(const StartError&) = delete;

  void tell(int error) const {
    // Where that fails, too, the exit status has to tell.
    [[maybe_unused]] const ssize_t written = write(ends_[1], &error, sizeof(error));
  }
  /// In the parent; 0: the program runs.
  int wait() {
    close(ends_[1]);
    ends_[1] = -1;
    int error = 0;
    ssize_t got = 0;
    do got = read(ends_[0], &error, sizeof(error));
    while (got < 0 && errno == EINTR);
    return got == sizeof(error) ? error : 0;
  }

 private:
  std::array<int, 2> ends_ = {-1, -1};
};

/// False where a file cannot be opened.
bool redirect(const ChildCommand& command) {
  // What this program was given beside: a pipe that the command knows nothing of, say.
  close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  const std::string input = command.input.empty() ? "/dev/null" : command.input;
  const int source = open(input.c_str(), O_RDONLY | O_CLOEXEC);
  constexpr int kNew = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  const int file = open(command.output.c_str(), kNew, 0600);
  const int errors = command.errors.empty() ? file : open(command.errors.c_str(), kNew, 0600);
  return source >= 0 && file >= 0 && errors >= 0 && dup2(source, STDIN_FILENO) >= 0 &&
         dup2(file, STDOUT_FILENO) >= 0 && dup2(errors, STDERR_FILENO) >= 0;
}

/// Returns only where the program cannot be started.
void exec(const ChildCommand& command) {
  if (!command.output.empty() && !redirect(command)) return;
  if (!command.folder.empty() && chdir(command.folder.c_str()) != 0) return;
  std::vector<char*> words;
  for (const std::string& word : command.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  for (const auto& [name, value] : command.environment) setenv(name.c_str(), value.c_str(), 1);
  // What this program ignores its successor would, too.
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGXFSZ, SIG_DFL);
  execv(command.path.c_str(), words.data());
}

bool asks_to_end(int signal) { return signal == SIGINT || signal == SIGTERM || signal == SIGHUP; }

bool is_stop_of_terminal(int signal) {
  return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/// Negative when none came, within so many seconds where there is a deadline.
int next_signal(const sigset_t& held, double seconds, siginfo_t& info, bool has_deadline) {
  if (!has_deadline) return sigwaitinfo(&held, &info);
  const double left = std::max(0.0, seconds);
  timespec wait = {};
  wait.tv_sec = static_cast<time_t>(left);
  wait.tv_nsec = static_cast<long>((left - std::floor(left)) * 1e9);
  return sigtimedwait(&held, &info, &wait);
}

/// Whether the kernel sent it, to the whole foreground of the terminal.
bool is_of_terminal(const siginfo_t& info) { return info.si_code == SI_KERNEL; }

}  // namespace

CommandRunner::CommandRunner() {
  sigemptyset(&held_);
  for (const int signal : kPassedSignals) sigaddset(&held_, signal);
  sigaddset(&held_, SIGCHLD);
  sigprocmask(SIG_BLOCK, &held_, &previous_);
}

CommandRunner::~CommandRunner() { sigprocmask(SIG_SETMASK, &previous_, nullptr); }

CommandEnd CommandRunner::run(const ChildCommand& command) const {
  StartError start_error;
  const pid_t child = fork();
  if (child < 0) throw_errno(errno, "fork");
  if (child == 0) {
    sigprocmask(SIG_SETMASK, &previous_, nullptr);
    exec(command);
    start_error.tell(errno);
    _exit(127);
  }
  const int error = start_error.wait();
  CommandEnd end;
  const int status = wait_for_end(child, command.timeout_seconds, end);
  if (error != 0) throw_not_started(error, command.path);
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end.status = WIFSIGNALED(status) ? 128 + end.signal : WEXITSTATUS(status);
  return end;
}

int CommandRunner::wait_for_end(pid_t child, double timeout_seconds, CommandEnd& end) const {
  const Stopwatch since_start;
  for (;;) {
    siginfo_t info = {};
    const int signal = next_signal(held_, timeout_seconds - since_start.seconds(), info,
                                   timeout_seconds > 0 && !end.is_overdue);
    if (signal < 0) {
      if (timeout_seconds > 0 && since_start.seconds() >= timeout_seconds) {
        end.is_overdue = true;
        kill(child, SIGKILL);
      }
      continue;
    }
    if (signal != SIGCHLD) {
      if (asks_to_end(signal)) end.asked_to_end = signal;
      if (!is_of_terminal(info)) kill(child, signal);
      continue;
    }
    int status = 0;
    if (waitpid(child, &status, WNOHANG | WUNTRACED) != child) continue;
    if (!WIFSTOPPED(status)) return status;
    // Another process that stops it will let it go on by itself.
    if (is_stop_of_terminal(WSTOPSIG(status))) kill(getpid(), SIGSTOP);
  }
}

void become_command(const ChildCommand& command) {
  exec(command);
  throw_not_started(errno, command.path);
}

void end_by_signal(int signal) {
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  std::signal(signal, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  sigprocmask(SIG_UNBLOCK, &one, nullptr);
  raise(signal);
  _exit(128 + signal);  // one that does not end a process
}

}  // namespace ohm::engine
