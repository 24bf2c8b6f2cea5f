// What the runtime uses of the real card that a GPU is on.
#pragma once

#include <memory>

#include "allocator_shim/device/cuda/card.h"

namespace ohm {

struct CardBackend {
  std::shared_ptr<const cuda::Card> card;
};

}  // namespace ohm
