#include "harness/process/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

namespace ohm::engine {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kGrace{10};

/// The writing end goes with this.
struct Pipe {
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
    }
  }
  ~Pipe() { ::close(ends[1]); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  std::array<int, 2> ends{};
};

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    const char* name = ::sigabbrev_np(signal);
    return fmt::format("killed by SIG{} ({})", name == nullptr ? std::to_string(signal) : name,
                       ::sigdescr_np(signal) == nullptr ? "unknown" : ::sigdescr_np(signal));
  }
  return fmt::format("exited with code {} before it reported", WEXITSTATUS(status));
}

}  // namespace

int wait_for_child(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

void PipeReader::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

void PipeReader::read_some() {
  std::array<char, 65536> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): read() fills it
  const ssize_t count = ::read(descriptor_, bytes.data(), bytes.size());
  if (count < 0 && errno == EINTR) return;
  if (count <= 0) return close();
  text_.append(bytes.data(), std::min(most_ - text_.size(), static_cast<std::size_t>(count)));
}

StartedProcess fork_worker(const Work& work, const Outlets& outlets,
                           const InterruptGuard& interrupts) {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    enter_worker(parent, outlets.output);
    interrupts.restore_in_child();
    work_and_exit(work, outlets.message);
  }
  if (child < 0) throw std::system_error(errno, std::generic_category(), "cannot start a process");
  return {child, [child] { return wait_for_child(child); }};
}

WorkerProcess::WorkerProcess(const StartProcess& start, WorkDone done_with_it,
                             double timeout_seconds)
    : done(std::move(done_with_it)), started_(Clock::now()) {
  const Pipe messages;
  const Pipe outputs;
  message.open(messages.ends[0]);
  output.open(outputs.ends[0]);
  // What is buffered here would otherwise be written by both.
  std::fflush(nullptr);
  process_ = start({messages.ends[1], outputs.ends[1]});
  output.begin_with(process_.printed);
  if (timeout_seconds > 0) {
    deadline_ = started_ + std::chrono::duration_cast<Clock::duration>(
                               std::chrono::duration<double>(timeout_seconds));
  }
}

std::optional<double> WorkerProcess::seconds_left() const {
  if (!deadline_) return std::nullopt;
  return std::chrono::duration<double>(*deadline_ - Clock::now()).count();
}

void WorkerProcess::send(int signal) const {
  // To 0 and -1 it would go to processes that are not ours.
  if (process_.pid <= 0) return;
  // The group, so that what the child started goes with it; the child itself, in case it did not
  // get as far as having a group.
  ::kill(-process_.pid, signal);
  ::kill(process_.pid, signal);
}

void WorkerProcess::end(Clock::time_point until) const {
  const int process =
      process_.pid > 0 ? static_cast<int>(::syscall(SYS_pidfd_open, process_.pid, 0)) : -1;
  if (process >= 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd ended = {process, POLLIN, 0};
    ::poll(&ended, 1, static_cast<int>(std::max<std::int64_t>(0, left)));
    ::close(process);
  }
  send(SIGKILL);
}

WorkResult WorkerProcess::reap() {
  const int status = process_.wait();
  WorkResult result;
  result.seconds = std::chrono::duration<double>(Clock::now() - started_).count();
  result.output = output.text();
  std::optional<std::string> whole = whole_message(message.text());
  const auto exited_with = [&](int code) {
    return WIFEXITED(status) && WEXITSTATUS(status) == code;
  };
  if (is_overdue) {
    result.end = WorkEnd::timeout;
  } else if (whole && exited_with(kDone)) {
    result.end = WorkEnd::message;
    result.message = std::move(*whole);
  } else if (whole && exited_with(kFailed)) {
    result.end = WorkEnd::crashed;
    result.how_it_ended = "ended by an error: " + *whole;
  } else {
    result.end = WorkEnd::crashed;
    result.how_it_ended = how_it_ended(status);
  }
  return result;
}

void end_all(const std::vector<const WorkerProcess*>& processes) {
  for (const WorkerProcess* process : processes) process->ask_to_end();
  const Clock::time_point until = Clock::now() + kGrace;
  for (const WorkerProcess* process : processes) process->end(until);
}

}  // namespace ohm::engine
