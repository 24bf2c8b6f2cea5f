// Page-locked memory of the host, from a driver.
#pragma once

#include <memory>
#include <unordered_map>

#include "allocator_shim/device/cuda/card.h"
#include "allocator_shim/device/request_allocator_adaptor.h"

namespace ohm::cuda {

/// Counts with the allocator it is given; the memory is the driver's (cuMemHostAlloc), usable from
/// every card. Values are kept there where that allocator keeps any.
class PageLockedMemory final : public RequestAllocatorAdaptor {
 public:
  /// `counts` outlives this.
  PageLockedMemory(RequestAllocator& counts, std::shared_ptr<const Card> card);
  /// What was not given back is, to the driver.
  ~PageLockedMemory() override;

  /// Throws OutOfMemory when either has no room.
  Allocation allocate(const AllocationRequest& request) override;
  void free(BlockHandle block) override;

 private:
  void unlock(void* memory) const;

  std::shared_ptr<const Card> card_;
  std::unordered_map<BlockHandle, void*> locked_;
};

}  // namespace ohm::cuda
