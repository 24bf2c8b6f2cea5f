#include "harness/process/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

namespace ohm::engine {

namespace {

using Clock = std::chrono::steady_clock;

/// A message is its length and its bytes: one that was cut off is recognised.
using MessageLength = std::uint64_t;

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

Pipe open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
  }
  return {ends[0], ends[1]};
}

bool write_all(int descriptor, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t written = ::write(descriptor, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    count -= static_cast<std::size_t>(written);
  }
  return true;
}

/// A group of its own (Ctrl-C is for the parent alone), no input, output into the pipe.
void enter_child(pid_t parent, int output, const InterruptGuard& interrupts) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  const rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  interrupts.restore_in_child();
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
}

/// The exit codes of a child that sent a message.
constexpr int kDone = 0;
constexpr int kFailed = 3;  ///< the message is what an exception said

[[noreturn]] void send_and_exit(int messages, std::string_view message, int code) noexcept {
  std::fflush(nullptr);
  const MessageLength length = message.size();
  std::array<char, sizeof length> head{};
  std::memcpy(head.data(), &length, sizeof length);
  const bool sent = write_all(messages, head.data(), head.size()) &&
                    write_all(messages, message.data(), message.size());
  ::_exit(sent ? code : 1);
}

[[noreturn]] void run_in_child(const Work& work, int messages) noexcept {
  const pid_t child = ::getpid();
  try {
    const std::string message = work();
    send_and_exit(messages, message, kDone);
  } catch (const std::bad_alloc&) {
    // Work may copy this process: a copy that fails has nothing to say to the parent.
    if (::getpid() != child) std::terminate();
    send_and_exit(messages, "the host has no memory left", kFailed);
  } catch (const std::exception& error) {
    if (::getpid() != child) std::terminate();
    send_and_exit(messages, error.what(), kFailed);
  }
}

std::optional<std::string> whole_message(const std::string& received) {
  MessageLength length = 0;
  if (received.size() < sizeof length) return std::nullopt;
  std::memcpy(&length, received.data(), sizeof length);
  if (received.size() - sizeof length != length) return std::nullopt;
  return received.substr(sizeof length);
}

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

WorkerProcess::WorkerProcess(const Work& work, WorkDone done_with_it, double timeout_seconds,
                             std::size_t most_output, const InterruptGuard& interrupts)
    : output(most_output), done(std::move(done_with_it)), started_(Clock::now()) {
  const Pipe message_pipe = open_pipe();
  const Pipe output_pipe = open_pipe();
  // What is buffered here would otherwise be written by both.
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) {
    enter_child(parent, output_pipe.write_end, interrupts);
    run_in_child(work, message_pipe.write_end);
  }
  const int error = errno;
  ::close(message_pipe.write_end);
  ::close(output_pipe.write_end);
  message.open(message_pipe.read_end);
  output.open(output_pipe.read_end);
  if (pid_ < 0) throw std::system_error(error, std::generic_category(), "cannot start a process");
  if (timeout_seconds > 0) {
    deadline_ = started_ + std::chrono::duration_cast<Clock::duration>(
                               std::chrono::duration<double>(timeout_seconds));
  }
}

std::optional<double> WorkerProcess::seconds_left() const {
  if (!deadline_) return std::nullopt;
  return std::chrono::duration<double>(*deadline_ - Clock::now()).count();
}

void WorkerProcess::kill() const {
  // Asked first, so that it removes the files that it has not finished.
  send(SIGTERM);
  wait_for_end(kGraceMilliseconds);
  send(SIGKILL);
}

void WorkerProcess::send(int signal) const {
  // The group, so that what the child started goes with it; the child itself, in case it did not
  // get as far as having a group.
  ::kill(-pid_, signal);
  ::kill(pid_, signal);
}

void WorkerProcess::wait_for_end(int milliseconds) const {
  const auto process = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  if (process < 0) return;
  pollfd ended = {process, POLLIN, 0};
  ::poll(&ended, 1, milliseconds);
  ::close(process);
}

WorkResult WorkerProcess::reap() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
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

}  // namespace ohm::engine
