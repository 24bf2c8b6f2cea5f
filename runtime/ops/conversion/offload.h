// Activations kept on the host between forward and backward.
#pragma once

#include "runtime/autograd/saved_tensor.h"

namespace ohm::ops {

/// Whatever a node saves on a GPU (its weights too) is copied to the host; backward copies it to
/// the GPU again, one node at a time. What lies on the host already is kept as it is.
class SaveOnCpu final : public SavedTensorHook {
 public:
  enum class HostMemory : std::uint8_t { pageable, pinned };

  explicit SaveOnCpu(HostMemory memory) : memory_(memory) {}
  IntrusivePtr<PackedTensor> pack(const Tensor& tensor) override;

 private:
  HostMemory memory_;
};

}  // namespace ohm::ops
