#include "harness/process/work_origin.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include "harness/process/host_heap.h"

namespace ohm::engine {

/// What origin and caller tell each other:
///
///   a request with two descriptors   make a copy; the answer is its process, or -errno
///   a request with three             the same, and the copy is an origin that listens to the third
///   a process                        wait for its end; the answer is its status
///
/// The first packet of an origin says that it has begun.
struct WorkOrigin::Packet {
  std::string bytes;
  std::vector<int> descriptors = {};
};

namespace {

using Number = std::int64_t;

constexpr std::size_t kMostRequestBytes = 4096;
constexpr std::size_t kMostDescriptors = 3;

/// Room for descriptors, aligned as the system wants it.
struct alignas(cmsghdr) Control {
  std::array<char, CMSG_SPACE(kMostDescriptors * sizeof(int))> bytes{};
};

std::string bytes_of(Number number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

Number number_in(const std::string& bytes) {
  Number number = 0;
  std::memcpy(&number, bytes.data(), std::min(sizeof number, bytes.size()));
  return number;
}

[[noreturn]] void throw_error(int error, const char* what) {
  throw std::system_error(error, std::generic_category(), what);
}

}  // namespace

bool WorkOrigin::send_packet(int socket, const Packet& packet) {
  std::string bytes = packet.bytes;
  iovec part = {bytes.data(), bytes.size()};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  Control control;
  if (const std::size_t count = packet.descriptors.size() * sizeof(int); count > 0) {
    message.msg_control = control.bytes.data();
    message.msg_controllen = CMSG_SPACE(count);
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count);
    std::memcpy(CMSG_DATA(header), packet.descriptors.data(), count);
  }
  ssize_t sent = 0;
  while ((sent = ::sendmsg(socket, &message, MSG_NOSIGNAL)) < 0 && errno == EINTR) {
  }
  return sent == static_cast<ssize_t>(bytes.size());
}

/// nullopt: the other end is closed.
std::optional<WorkOrigin::Packet> WorkOrigin::receive_packet(int socket) {
  Packet packet{std::string(kMostRequestBytes, '\0')};
  iovec part = {packet.bytes.data(), packet.bytes.size()};
  Control control;
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  ssize_t count = 0;
  while ((count = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
  }
  if (count <= 0) return std::nullopt;
  packet.bytes.resize(static_cast<std::size_t>(count));
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS) {
    packet.descriptors.resize((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    std::memcpy(packet.descriptors.data(), CMSG_DATA(header),
                packet.descriptors.size() * sizeof(int));
  }
  return packet;
}

WorkOrigin::WorkOrigin(Begin begin, GoOn go_on)
    : begin_(std::move(begin)), go_on_(std::move(go_on)) {}

WorkOrigin::WorkOrigin(std::shared_ptr<WorkOrigin> parent, std::string request)
    : parent_(std::move(parent)), request_(std::move(request)) {}

WorkOrigin::~WorkOrigin() {
  if (process_.pid > 0 && !status_) {
    ::kill(process_.pid, SIGKILL);
    wait_for_end();
  }
  if (socket_ >= 0) ::close(socket_);
}

// ---- the caller's side --------------------------------------------------------------------------

StartedProcess WorkOrigin::start(const Outlets& outlets, const InterruptGuard& interrupts) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw_error(errno, "cannot make a socket");
  }
  socket_ = ends[0];
  process_ = parent_ ? parent_->make_copy(outlets, request_, ends[1])
                     : fork_origin(outlets, ends[1], interrupts);
  ::close(ends[1]);
  return {process_.pid, [this] { return wait_until_begun(); }, process_.printed};
}

StartedProcess WorkOrigin::fork_origin(const Outlets& outlets, int socket,
                                       const InterruptGuard& interrupts) {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(socket_);
    socket_ = socket;
    enter_worker(parent, outlets.output);
    ::close(outlets.output);
    interrupts.restore_in_child();
    begin_and_serve(outlets.message);
  }
  if (child < 0) {
    const int error = errno;
    ::close(socket);
    throw_error(error, "cannot start a process");
  }
  return {child, [child] { return wait_for_child(child); }};
}

void WorkOrigin::take_beginning(const WorkResult& result) {
  has_begun_ = result.end == WorkEnd::message;
  printed_ = result.output;
}

StartedProcess WorkOrigin::copy(const Outlets& outlets, const std::string& request) {
  return make_copy(outlets, request, -1);
}

StartedProcess WorkOrigin::make_copy(const Outlets& outlets, const std::string& request,
                                     int socket) {
  Packet packet{request, {outlets.message, outlets.output}};
  if (socket >= 0) packet.descriptors.push_back(socket);
  std::optional<Packet> answer;
  if (send_packet(socket_, packet)) answer = receive_packet(socket_);
  if (!answer) return {-1, [this] { return wait_for_end(); }, printed_};
  const Number process = number_in(answer->bytes);
  if (process < 0) throw_error(static_cast<int>(-process), "cannot start a process");
  const auto pid = static_cast<pid_t>(process);
  return {pid, [this, pid] { return wait_for(pid); }, printed_};
}

int WorkOrigin::wait_until_begun() { return receive_packet(socket_) ? kDone : wait_for_end(); }

int WorkOrigin::wait_for_end() {
  if (!status_) status_ = process_.wait();
  return *status_;
}

int WorkOrigin::wait_for(pid_t copy) {
  std::optional<Packet> status;
  if (send_packet(socket_, {bytes_of(copy)})) status = receive_packet(socket_);
  return status ? static_cast<int>(number_in(status->bytes)) : wait_for_end();
}

// ---- in the origin ------------------------------------------------------------------------------

void WorkOrigin::begin_and_serve(int messages) noexcept {
  const auto begin = [&]() -> std::string {
    begin_();
    close_output();
    give_back_freed_memory();
    // Before the message: who has read that may ask for copies.
    if (!send_packet(socket_, {bytes_of(0)}) || !send_message(messages, {})) ::_exit(1);
    ::close(messages);
    serve();
  };
  work_and_exit(begin, messages);
}

void WorkOrigin::serve() noexcept {
  while (const std::optional<Packet> packet = receive_packet(socket_)) answer(*packet);
  ::_exit(0);
}

void WorkOrigin::answer(const Packet& packet) {
  if (packet.descriptors.empty()) {
    send_packet(socket_, {bytes_of(wait_for_child(static_cast<pid_t>(number_in(packet.bytes))))});
    return;
  }
  const pid_t origin = ::getpid();
  const pid_t copy = ::fork();
  if (copy == 0) {
    enter_worker(origin, packet.descriptors[1]);
    be_copy(packet);
  }
  const Number answer = copy < 0 ? -errno : copy;
  for (const int descriptor : packet.descriptors) ::close(descriptor);
  send_packet(socket_, {bytes_of(answer)});
}

void WorkOrigin::be_copy(const Packet& packet) noexcept {
  ::close(socket_);
  ::close(packet.descriptors[1]);
  const int messages = packet.descriptors[0];
  if (packet.descriptors.size() == 2) {
    work_and_exit([&] { return go_on_(packet.bytes); }, messages);
  }
  socket_ = packet.descriptors[2];
  begin_ = [&] { go_on_(packet.bytes); };
  begin_and_serve(messages);
}

}  // namespace ohm::engine
