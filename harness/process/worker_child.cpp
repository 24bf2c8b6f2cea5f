#include "harness/process/worker_child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

namespace ohm::engine {

namespace {

/// A message is its length and its bytes: one that was cut off is recognised.
using MessageLength = std::uint64_t;

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

[[noreturn]] void send_and_exit(int messages, std::string_view message, int code) noexcept {
  std::fflush(nullptr);
  ::_exit(send_message(messages, message) ? code : 1);
}

}  // namespace

void enter_worker(pid_t parent, int output) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  const rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
}

void close_output() {
  std::fflush(nullptr);
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  ::close(nowhere);
}

bool send_message(int messages, std::string_view message) {
  const MessageLength length = message.size();
  std::array<char, sizeof length> head{};
  std::memcpy(head.data(), &length, sizeof length);
  return write_all(messages, head.data(), head.size()) &&
         write_all(messages, message.data(), message.size());
}

void work_and_exit(const Work& work, int messages) noexcept {
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

}  // namespace ohm::engine
