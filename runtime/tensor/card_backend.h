// What the runtime uses of the real card that a GPU is on.
#pragma once

#include <memory>

#include "allocator_shim/device/cuda/card.h"
#include "runtime/tensor/card_loop.h"

namespace ohm {

struct CardBackend {
  std::shared_ptr<const cuda::Card> card;
  std::shared_ptr<const CardKernels> kernels;  ///< null in a build without a CUDA toolkit
};

}  // namespace ohm
