// The weights and biases of native self-attention.
#pragma once

#include <cstdint>

#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// Of self-attention: in_weight [3E, E], in_bias [3E], out_weight [E, E], out_bias [E].
struct AttentionParameters {
  std::int64_t heads;
  Tensor in_weight;
  Tensor in_bias;
  Tensor out_weight;
  Tensor out_bias;
};

}  // namespace ohm::ops
