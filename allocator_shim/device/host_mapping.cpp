#include "allocator_shim/device/host_mapping.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "allocator_shim/base/assert.h"
#include "allocator_shim/base/format_bytes.h"

namespace ohm {
namespace {

/// What the processor maps at once where it may; a segment's granule, too.
constexpr std::size_t kHugePageBytes = std::size_t{2} << 20U;

[[noreturn]] void refuse(const char* what, std::size_t bytes) {
  throw HostRefusal(fmt::format("[virtual gpu] the host cannot {} {}: {}", what, human_bytes(bytes),
                                std::strerror(errno)));
}

}  // namespace

HostMapping::HostMapping(std::size_t bytes, ValueBudget* budget, std::uintptr_t wanted_address)
    : mapped_bytes_(bytes + kHugePageBytes), bytes_(bytes), committed_(budget) {
  mapped_ = mmap(reinterpret_cast<void*>(wanted_address), mapped_bytes_, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped_ == MAP_FAILED) refuse("reserve the addresses that back the values:", bytes);
  std::size_t room = mapped_bytes_;
  void* base = mapped_;
  base_ = static_cast<std::byte*>(std::align(kHugePageBytes, bytes, base, room));
  // A page fault for each 4 KiB takes as long as the arithmetic. A host that has no huge pages to
  // give serves small ones.
  madvise(base_, bytes, MADV_HUGEPAGE);
}

HostMapping::~HostMapping() { munmap(mapped_, mapped_bytes_); }

void HostMapping::commit(std::size_t offset, std::size_t bytes) {
  OHM_ASSERT(offset + bytes <= bytes_, "outside the mapping");
  committed_.take(bytes);
  if (mprotect(at(offset), bytes, PROT_READ | PROT_WRITE) == 0) return;
  committed_.give_back(bytes);
  refuse("back values with", bytes);
}

void HostMapping::decommit(std::size_t offset, std::size_t bytes) {
  OHM_ASSERT(offset + bytes <= bytes_, "outside the mapping");
  // Neither can fail for a range of this mapping, and a destructor may stand above us.
  madvise(at(offset), bytes, MADV_DONTNEED);
  mprotect(at(offset), bytes, PROT_NONE);
  committed_.give_back(bytes);
}

}  // namespace ohm
