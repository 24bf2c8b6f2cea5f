#include "runtime/nn/rrelu.h"

#include "runtime/ops/rrelu.h"

namespace ohm::nn {

Tensor RRelu::apply(const Tensor& input) {
  return ops::rrelu(input, lower_, upper_, is_training());
}

}  // namespace ohm::nn
