#include "allocator_shim/device/cuda/pinned_memory.h"

#include <utility>

namespace ohm::cuda {

PinnedMemory::PinnedMemory(RequestAllocator& counts, std::shared_ptr<const CudaDevice> device)
    : RequestAllocatorAdaptor(counts), device_(std::move(device)) {}

PinnedMemory::~PinnedMemory() {
  for (const auto& [block, memory] : locked_) unlock(memory);
}

Allocation PinnedMemory::allocate(const AllocationRequest& request) {
  if (request.bytes == 0) return {};
  void* memory = nullptr;
  const Result result =
      device_->current().host_allocate(&memory, request.bytes, kPortableHostMemory);
  if (result == kOutOfMemory) throw OutOfMemory(failure_report(request));
  device_->driver().check(result, "cuMemHostAlloc");
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

void PinnedMemory::free(BlockHandle block) {
  const auto found = locked_.find(block);
  if (found != locked_.end()) {
    unlock(found->second);
    locked_.erase(found);
  }
  upstream().free(block);
}

// Giving back never throws, and a driver that does not answer has lost the memory anyway.
void PinnedMemory::unlock(void* memory) const {
  if (device_->make_current()) device_->driver().functions().host_free(memory);
}

}  // namespace ohm::cuda
