#include "runtime/nn/dropout.h"

#include "runtime/ops/dropout.h"

namespace ohm::nn {

Tensor Dropout::apply(const Tensor& input) {
  return in_place_ ? ops::dropout_(input, p_, is_training())
                   : ops::dropout(input, p_, is_training());
}

}  // namespace ohm::nn
