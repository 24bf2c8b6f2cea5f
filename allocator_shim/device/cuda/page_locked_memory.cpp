#include "allocator_shim/device/cuda/page_locked_memory.h"

#include <utility>

namespace ohm::cuda {

PageLockedMemory::PageLockedMemory(RequestAllocator& counts, std::shared_ptr<const Card> card)
    : RequestAllocatorAdaptor(counts), card_(std::move(card)) {}

PageLockedMemory::~PageLockedMemory() {
  for (const auto& [block, memory] : locked_) unlock(memory);
}

Allocation PageLockedMemory::allocate(const AllocationRequest& request) {
  if (request.bytes == 0) return {};
  void* memory = nullptr;
  const Result result = card_->current().host_allocate(&memory, request.bytes, kPortableHostMemory);
  if (result == kOutOfMemory) throw OutOfMemory(failure_report(request));
  card_->driver().check(result, "cuMemHostAlloc");
  try {
    Allocation allocation = upstream().allocate(request);
    locked_.emplace(allocation.block, memory);
    if (allocation.values != nullptr) allocation.values = memory;
    return allocation;
  } catch (...) {
    unlock(memory);
    throw;
  }
}

void PageLockedMemory::free(BlockHandle block) {
  const auto found = locked_.find(block);
  if (found != locked_.end()) {
    unlock(found->second);
    locked_.erase(found);
  }
  upstream().free(block);
}

// Giving back never throws, and a driver that does not answer has lost the memory anyway.
void PageLockedMemory::unlock(void* memory) const {
  if (card_->driver().is_usable()) card_->driver().functions().host_free(memory);
}

}  // namespace ohm::cuda
