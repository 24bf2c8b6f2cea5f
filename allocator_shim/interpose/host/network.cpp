// Calls that ask the network: what it answers is the same for no two runs of a sweep, which tells
// of it before anything is failed. Connections within this machine are none.
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/host/host_settings.h"
#include "allocator_shim/interpose/host/next_functions.h"
#include "allocator_shim/interpose/host/watch.h"

namespace ohm::interpose::host {

namespace {

using HostName = std::array<char, kHostNameBytes>;

void note(const char* name) {
  const Inside inside;
  watch.note_network(name);
}

bool is_in_use() { return stage.load(std::memory_order_relaxed) == Stage::watched; }

bool is_of_this_machine(in_addr address) {
  constexpr std::uint32_t kLoopback = 127;
  const std::uint32_t number = ntohl(address.s_addr);
  return number == INADDR_ANY || number >> 24U == kLoopback;
}

bool is_of_this_machine(const in6_addr& address) {
  if (IN6_IS_ADDR_V4MAPPED(&address)) {
    in_addr mapped = {};
    std::memcpy(&mapped, address.s6_addr + 12, sizeof(mapped));
    return is_of_this_machine(mapped);
  }
  return IN6_IS_ADDR_LOOPBACK(&address) || IN6_IS_ADDR_UNSPECIFIED(&address);
}

/// A datagram socket sends nothing when it is connected: programs learn their own address so.
bool is_datagram_socket(int socket) {
  int type = 0;
  socklen_t bytes = sizeof(type);
  return getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0 && type == SOCK_DGRAM;
}

/// The address as text; false: there is nothing to tell of.
bool is_beyond_this_machine(int socket, const sockaddr* address, socklen_t bytes, HostName& name) {
  if (address == nullptr || bytes < sizeof(address->sa_family)) return false;
  const void* number = nullptr;
  if (address->sa_family == AF_INET && bytes >= sizeof(sockaddr_in)) {
    const auto* const in = reinterpret_cast<const sockaddr_in*>(address);
    if (!is_of_this_machine(in->sin_addr)) number = &in->sin_addr;
  } else if (address->sa_family == AF_INET6 && bytes >= sizeof(sockaddr_in6)) {
    const auto* const in = reinterpret_cast<const sockaddr_in6*>(address);
    if (!is_of_this_machine(in->sin6_addr)) number = &in->sin6_addr;
  }
  if (number == nullptr || is_datagram_socket(socket)) return false;
  return inet_ntop(address->sa_family, number, name.data(), socklen_t{kHostNameBytes}) != nullptr;
}

bool is_name_beyond_this_machine(const char* name) {
  // What an address means is known without a lookup.
  in6_addr address = {};
  if (inet_pton(AF_INET, name, &address) == 1 || inet_pton(AF_INET6, name, &address) == 1) {
    return false;
  }
  HostName own = {};
  const bool has_name = gethostname(own.data(), own.size() - 1) == 0;
  return *name != '\0' && std::strcmp(name, "localhost") != 0 &&
         !(has_name && std::strcmp(name, own.data()) == 0);
}

}  // namespace

}  // namespace ohm::interpose::host

namespace host = ohm::interpose::host;

OHM_EXPORTED int connect(int socket, const sockaddr* address, socklen_t bytes) {
  if (host::is_in_use()) {
    const int error = errno;
    host::HostName name = {};
    if (host::is_beyond_this_machine(socket, address, bytes, name)) host::note(name.data());
    errno = error;
  }
  if (host::next.connect != nullptr) return host::next.connect(socket, address, bytes);
  return static_cast<int>(syscall(SYS_connect, socket, address, bytes));
}

OHM_EXPORTED int getaddrinfo(const char* name, const char* service, const addrinfo* hints,
                             addrinfo** found) {
  if (host::next.getaddrinfo == nullptr) return EAI_AGAIN;
  if (host::is_in_use() && name != nullptr) {
    const int error = errno;
    if (host::is_name_beyond_this_machine(name)) host::note(name);
    errno = error;
  }
  return host::next.getaddrinfo(name, service, hints, found);
}
