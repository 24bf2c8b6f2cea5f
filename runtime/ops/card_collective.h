// Collectives between real cards, by NCCL.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/ops/card_product.h"

namespace ohm::ops {

// One tensor of each rank, of equal shape and dtype. `no`, and nothing was done, where they are not
// on as many different cards with NCCL between them, each dense. All throw cuda::LibraryError.

/// Each tensor becomes the sum of all.
OnCard all_reduce_on_cards(const std::vector<Tensor>& tensors);
/// Each tensor becomes that of rank `source`.
OnCard broadcast_on_cards(const std::vector<Tensor>& tensors, std::size_t source);

}  // namespace ohm::ops
