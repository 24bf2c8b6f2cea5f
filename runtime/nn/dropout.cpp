#include "runtime/nn/dropout.h"

#include "runtime/ops/dropout.h"

namespace ohm::nn {

const DropoutKind kElementDropout{"Dropout", &ops::dropout, &ops::dropout_};
const DropoutKind kChannelDropout{"Dropout2d", &ops::dropout2d, &ops::dropout2d_};

Tensor Dropout::apply(const Tensor& input) {
  const auto drop = in_place_ ? kind_->drop_in_place : kind_->drop;
  return drop(input, p_, is_training());
}

}  // namespace ohm::nn
