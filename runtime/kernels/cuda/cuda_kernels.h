// The kernels of a CUDA device, as what launches them sees them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/dtype.h"
#include "runtime/kernels/cuda/elementwise_launch.h"
#include "runtime/kernels/functors/row_launch.h"

namespace ohm {

/// The kernels of one device that are made of functors.
class CudaKernels {
 public:
  CudaKernels() = default;
  CudaKernels(const CudaKernels&) = delete;
  CudaKernels& operator=(const CudaKernels&) = delete;
  virtual ~CudaKernels() = default;

  /// Whether there is a kernel of this functor that computes as loops of `dtype` do.
  virtual bool has(const char* functor, DType dtype) const = 0;
  // Queue it on the default stream. `parameters`: the functor's object. Pre-conditions: has(),
  // something to compute. Throw std::runtime_error.
  virtual void launch(const char* functor, const ElementwiseLaunch& loop,
                      const void* parameters) const = 0;
  virtual void launch(const char* functor, DType dtype, const RowLaunch& rows,
                      const void* parameters) const = 0;

  /// Memory of the device for what launches leave one another, until the next call: no allocator
  /// counts it, and it is kept for that call. 0 where the device has none to spare.
  virtual std::uint64_t scratch(std::size_t bytes) const = 0;
  /// Gives back what is kept; false where there is nothing.
  virtual bool release_scratch() const = 0;
};

}  // namespace ohm
