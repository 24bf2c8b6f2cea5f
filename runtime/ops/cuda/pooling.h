// Averages over windows of images on a real card, by cuDNN.
#pragma once

#include <cstdint>

#include "runtime/ops/cuda/cuda_result.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// Windows along one dimension, all of which end inside the padded image.
struct CardWindows {
  std::int64_t size = 1;
  std::int64_t padding = 0;
  std::int64_t stride = 1;
};

/// Row-major images, `planes` of them.
struct CardAverage {
  std::int64_t planes = 0;
  CardWindows rows;
  CardWindows columns;
  bool counts_padding = true;
};

/// out = averages of the input. `no`, and nothing was done, where they are not on a card with
/// cuDNN. Throws OutOfMemory, cuda::LibraryError.
OnCard average_on_card(const CardAverage& average, const Tensor& input, const Tensor& out);
/// The gradient of that by its input.
OnCard average_gradient_on_card(const CardAverage& average, const Tensor& grad,
                                const Tensor& grad_input);

}  // namespace ohm::ops
