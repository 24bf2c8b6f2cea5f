// The operands of products that are added to something: checks, and what is kept of them.
#pragma once

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/autograd/recorder.h"
#include "runtime/ops/op.h"

namespace ohm::ops {

/// Throws std::invalid_argument unless `input`, which is written over, has the shape of the result.
inline void require_result_shape(const OpInfo& info, const Tensor& input, const Shape& shape) {
  if (input.shape() == shape) return;
  throw std::invalid_argument(fmt::format("[{}] the input must have shape {}, not {}", info.name,
                                          shape.str(), input.shape().str()));
}

/// Of a node whose inputs are what is added, `left` and `right`: each of the two factors is wanted
/// by the gradient of the other.
inline void save_factors(Recorder& record, const Tensor& left, const Tensor& right) {
  record.save(record.needs(2) ? left : Tensor());
  record.save(record.needs(1) ? right : Tensor());
}

}  // namespace ohm::ops
