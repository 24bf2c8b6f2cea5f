#include "allocator_shim/device/host_mapping.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "allocator_shim/observe/assert.h"
#include "allocator_shim/observe/format_bytes.h"

namespace ohm {
namespace {

[[noreturn]] void refuse(const char* what, std::size_t bytes) {
  throw std::runtime_error(fmt::format("[virtual gpu] the host cannot {} {}: {}", what,
                                       human_bytes(bytes), std::strerror(errno)));
}

}  // namespace

HostMapping::HostMapping(std::size_t bytes) : bytes_(bytes) {
  void* const base =
      mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) refuse("reserve the addresses that back the values:", bytes);
  base_ = static_cast<std::byte*>(base);
}

HostMapping::~HostMapping() { munmap(base_, bytes_); }

void HostMapping::commit(std::size_t offset, std::size_t bytes) {
  OHM_ASSERT(offset + bytes <= bytes_, "outside the mapping");
  if (mprotect(at(offset), bytes, PROT_READ | PROT_WRITE) != 0) refuse("back values with", bytes);
}

void HostMapping::decommit(std::size_t offset, std::size_t bytes) {
  OHM_ASSERT(offset + bytes <= bytes_, "outside the mapping");
  // Neither can fail for a range of this mapping, and a destructor may stand above us.
  madvise(at(offset), bytes, MADV_DONTNEED);
  mprotect(at(offset), bytes, PROT_NONE);
}

}  // namespace ohm
