#include "harness/exec/child_command.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/personality.h>
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
#include <vector>

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
  if (command.has_fixed_addresses) {
    constexpr unsigned long kAsItIs = 0xffffffff;
    const int persona = personality(kAsItIs);
    personality(static_cast<unsigned long>(persona) | ADDR_NO_RANDOMIZE);
  }
  for (const auto& [name, value] : command.environment) setenv(name.c_str(), value.c_str(), 1);
  // What this program ignores its successor would, too.
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGXFSZ, SIG_DFL);
  execv(command.path.c_str(), words.data());
}

bool asks_to_end(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

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

std::string exit_status_text(int status, const std::string& cause) {
  return "exit status " + std::to_string(status) + (cause.empty() ? "" : ": " + cause);
}

CommandRunner::CommandRunner() {
  sigemptyset(&held_);
  for (const int signal : kPassedSignals) sigaddset(&held_, signal);
  sigaddset(&held_, SIGCHLD);
  sigprocmask(SIG_BLOCK, &held_, &previous_);
}

CommandRunner::~CommandRunner() { sigprocmask(SIG_SETMASK, &previous_, nullptr); }

namespace {

/// Commands that run, and what this program is told of them and of itself meanwhile.
class RunningCommands {
 public:
  RunningCommands(const sigset_t& held, const sigset_t& previous)
      : held_(held), previous_(previous) {}
  ~RunningCommands() {
    for (const Child& child : children_) {
      kill(child.process, SIGKILL);
      waitpid(child.process, nullptr, 0);
    }
  }
  RunningCommands(const RunningCommands&) = delete;
  RunningCommands& operator=(const RunningCommands&) = delete;

  std::size_t size() const { return children_.size(); }
  /// The last signal that asked this program to end; 0: none.
  int asked_to_end() const { return asked_to_end_; }

  void start(std::size_t number, const ChildCommand& command);
  /// Until at least one of them has ended.
  std::vector<std::pair<std::size_t, CommandEnd>> wait();

 private:
  struct Child {
    pid_t process = 0;
    std::size_t number = 0;
    double timeout_seconds = 0;
    Stopwatch since_start;
    bool is_overdue = false;
  };

  /// Until the first deadline; negative: there is none.
  double seconds_left() const;
  void end_overdue();
  void pass_on(const siginfo_t& info);
  /// Those that have ended.
  std::vector<std::pair<std::size_t, CommandEnd>> reap();

  const sigset_t& held_;
  const sigset_t& previous_;
  std::vector<Child> children_;
  int asked_to_end_ = 0;
};

void RunningCommands::start(std::size_t number, const ChildCommand& command) {
  StartError start_error;
  const pid_t child = fork();
  if (child < 0) throw_errno(errno, "fork");
  if (child == 0) {
    sigprocmask(SIG_SETMASK, &previous_, nullptr);
    exec(command);
    start_error.tell(errno);
    _exit(127);
  }
  if (const int error = start_error.wait(); error != 0) {
    waitpid(child, nullptr, 0);
    throw_not_started(error, command.path);
  }
  Child& started = children_.emplace_back();
  started.process = child;
  started.number = number;
  started.timeout_seconds = command.timeout_seconds;
}

std::vector<std::pair<std::size_t, CommandEnd>> RunningCommands::wait() {
  for (;;) {
    siginfo_t info = {};
    const double left = seconds_left();
    const int signal = next_signal(held_, left, info, left >= 0);
    if (signal < 0) {
      end_overdue();
    } else if (signal != SIGCHLD) {
      pass_on(info);
    } else if (auto ended = reap(); !ended.empty()) {
      return ended;
    }
  }
}

double RunningCommands::seconds_left() const {
  double least = -1;
  for (const Child& child : children_) {
    if (child.timeout_seconds <= 0 || child.is_overdue) continue;
    const double left = std::max(0.0, child.timeout_seconds - child.since_start.seconds());
    least = least < 0 ? left : std::min(least, left);
  }
  return least;
}

void RunningCommands::end_overdue() {
  for (Child& child : children_) {
    if (child.timeout_seconds <= 0 || child.is_overdue) continue;
    if (child.since_start.seconds() < child.timeout_seconds) continue;
    child.is_overdue = true;
    kill(child.process, SIGKILL);
  }
}

void RunningCommands::pass_on(const siginfo_t& info) {
  if (asks_to_end(info.si_signo)) asked_to_end_ = info.si_signo;
  if (is_of_terminal(info)) return;
  for (const Child& child : children_) kill(child.process, info.si_signo);
}

std::vector<std::pair<std::size_t, CommandEnd>> RunningCommands::reap() {
  // One SIGCHLD may tell of several.
  std::vector<std::pair<std::size_t, CommandEnd>> ended;
  std::vector<Child> still;
  int stopped_by = 0;
  for (const Child& child : children_) {
    int status = 0;
    const bool has_changed = waitpid(child.process, &status, WNOHANG | WUNTRACED) == child.process;
    if (has_changed && WIFSTOPPED(status)) stopped_by = WSTOPSIG(status);
    if (!has_changed || WIFSTOPPED(status)) {
      still.push_back(child);
      continue;
    }
    CommandEnd end;
    end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    end.status = WIFSIGNALED(status) ? 128 + end.signal : WEXITSTATUS(status);
    end.is_overdue = child.is_overdue;
    end.asked_to_end = asked_to_end_;
    ended.emplace_back(child.number, end);
  }
  children_ = std::move(still);
  // Another process that stops one of them will let it go on by itself.
  if (is_stop_of_terminal(stopped_by)) kill(getpid(), SIGSTOP);
  return ended;
}

}  // namespace

CommandEnd CommandRunner::run(const ChildCommand& command) const {
  RunningCommands running(held_, previous_);
  running.start(0, command);
  return running.wait().front().second;
}

void CommandRunner::run_each(const CommandBatch& batch) const {
  RunningCommands running(held_, previous_);
  const auto jobs = static_cast<std::size_t>(std::max(1, batch.jobs));
  std::size_t started = 0;
  while (running.asked_to_end() == 0 && (started < batch.count || running.size() > 0)) {
    while (started < batch.count && running.size() < jobs) {
      running.start(started, batch.command(started));
      ++started;
    }
    for (const auto& [number, end] : running.wait()) {
      if (end.asked_to_end == 0) batch.on_end(number, end);
    }
  }
  while (running.size() > 0) running.wait();
  if (running.asked_to_end() != 0) throw CommandInterrupted(running.asked_to_end());
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
