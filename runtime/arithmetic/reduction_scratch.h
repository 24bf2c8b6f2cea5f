// The device memory that a GPU reduction takes beside its input and result.
//
// When few results take many inputs each, PyTorch's reduction kernel spreads one result over
// several blocks, which meet in a buffer of partial results and a counter for each group. Both are
// temporaries from the allocator. Their sizes follow from the shape, the layout, the number of
// multiprocessors and their threads alone (the launch configuration in PyTorch's Reduce.cuh).
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/tensor/context.h"
#include "runtime/tensor/storage.h"
#include "runtime/tensor/tensor.h"

namespace ohm {

/// A reduction as the kernel sees it: dimensions of size 1 dropped, neighbours merged where they
/// lie behind one another in memory, folded dimensions first, each group by ascending stride.
struct ReductionLayout {
  Shape sizes;
  Shape strides;  ///< of the input, in elements
  int folded_dims = 0;
  std::int64_t inputs_per_output = 1;
  std::int64_t outputs = 1;
};

/// `folded`: bit d set: dimension d is folded. Of no elements there are no outputs.
ReductionLayout reduction_layout(const Tensor& input, std::uint32_t folded);

struct ReductionScratchBytes {
  std::size_t partial_results = 0;
  std::size_t counters = 0;
};

/// What is reduced with.
struct ReductionKernel {
  std::size_t accumulator_bytes = 4;  ///< of one partial result
  bool loads_vectors = true;          ///< false for kernels that need their registers themselves
};

ReductionScratchBytes reduction_scratch_bytes(const ReductionLayout& layout,
                                              const ReductionKernel& kernel,
                                              const DeviceSlot& device);

/// Holds the scratch of one reduction on a GPU while it lives; nothing on the host.
class ReductionScratch {
 public:
  /// Partial results are of the input's width: 4 bytes for half precision and float, 8 for double.
  ReductionScratch(const Tensor& input, std::uint32_t folded);
  ReductionScratch(const Tensor& input, std::uint32_t folded, const ReductionKernel& kernel);

 private:
  IntrusivePtr<Storage> partial_results_;
  IntrusivePtr<Storage> counters_;
};

}  // namespace ohm
