// Many tensors moved as few: flat buffers, and the chunks that they are cut into.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace ohm::parallel {

/// Chunks of a broadcast or a reduction between GPUs: 10 MiB.
inline constexpr std::size_t kCoalescedBytes = std::size_t{10} << 20U;

/// Whether a chunk may grow past the limit with its last tensor.
enum class ChunkRule : std::uint8_t {
  may_exceed,  ///< a chunk ends when it has reached the limit
  stays_below  ///< a chunk ends before the tensor that would exceed it
};

/// Runs of tensors of one dtype, as indices into `tensors`. What is left of each dtype comes at the
/// end: by may_exceed in the order in which PyTorch numbers dtypes, else as they came.
std::vector<std::vector<std::size_t>> chunks_of(const std::vector<Tensor>& tensors,
                                                std::size_t limit_bytes, ChunkRule rule);

/// The elements of all tensors behind one another, in a new tensor; a single contiguous tensor is
/// its own flat view.
Tensor flatten(const std::vector<Tensor>& tensors);

/// Views into `flat`, shaped like `like`.
std::vector<Tensor> unflatten(const Tensor& flat, const std::vector<Tensor>& like);

}  // namespace ohm::parallel
