#include "allocator_shim/base/paged_array.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>

namespace ohm {

namespace {

constexpr std::size_t kFirstBytes = std::size_t{64} << 10U;

}  // namespace

Pages::~Pages() {
  if (begin_ != nullptr) ::munmap(begin_, bytes_);
}

void Pages::grow(std::size_t bytes) {
  // Half as much again: pages that are not touched take no memory.
  const std::size_t wanted = std::max({bytes, bytes_ + bytes_ / 2, kFirstBytes});
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t rounded = (wanted + page - 1) / page * page;
  void* const begin = begin_ == nullptr ? ::mmap(nullptr, rounded, PROT_READ | PROT_WRITE,
                                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                        : ::mremap(begin_, bytes_, rounded, MREMAP_MAYMOVE);
  if (begin == MAP_FAILED) throw std::bad_alloc();
  begin_ = begin;
  bytes_ = rounded;
}

void Pages::forget_first(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  ::madvise(begin_, bytes / page * page, MADV_DONTNEED);
}

}  // namespace ohm
