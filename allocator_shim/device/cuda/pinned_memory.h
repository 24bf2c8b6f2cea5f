// Pinned memory of the host, from a driver.
#pragma once

#include <memory>
#include <unordered_map>

#include "allocator_shim/device/cuda/cuda_device.h"
#include "allocator_shim/device/request_allocator_adaptor.h"

namespace ohm::cuda {

/// Counts with the allocator it is given; the memory is the driver's (cuMemHostAlloc), usable from
/// every device. Values are kept there where that allocator keeps any.
class PinnedMemory final : public RequestAllocatorAdaptor {
 public:
  /// `counts` outlives this.
  PinnedMemory(RequestAllocator& counts, std::shared_ptr<const CudaDevice> device);
  /// What was not given back is, to the driver.
  ~PinnedMemory() override;

  /// Throws OutOfMemory when either has no room.
  Allocation allocate(const AllocationRequest& request) override;
  void free(BlockHandle block) override;

 private:
  void unlock(void* memory) const;

  std::shared_ptr<const CudaDevice> device_;
  std::unordered_map<BlockHandle, void*> locked_;
};

}  // namespace ohm::cuda
