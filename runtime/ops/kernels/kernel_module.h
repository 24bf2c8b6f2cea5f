// The kernels that nvcc made, on a card.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "allocator_shim/device/cuda/card.h"

namespace ohm::ops::kernels {

/// Machine code for the architectures of the build, as the driver loads it (a fatbin); empty in a
/// build without a CUDA toolkit.
std::span<const std::byte> kernel_image();

class KernelModule {
 public:
  /// Throws cuda::DriverError where the image has nothing for this card. Pre-condition:
  /// kernel_image() is not empty.
  explicit KernelModule(std::shared_ptr<const cuda::Card> card);
  ~KernelModule();
  KernelModule(const KernelModule&) = delete;
  KernelModule& operator=(const KernelModule&) = delete;

  /// Queues out[i] = kernel(operands[i]...) on the default stream. Addresses are multiples of 16.
  /// Throws cuda::DriverError.
  void launch(const std::string& symbol, cuda::Pointer out, std::vector<cuda::Pointer> operands,
              std::size_t count) const;

 private:
  std::shared_ptr<const cuda::Card> card_;
  cuda::ModuleHandle module_ = nullptr;
};

}  // namespace ohm::ops::kernels
