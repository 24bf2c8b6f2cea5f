// The common front of ops that write over their first operand.
#pragma once

#include "runtime/ops/op_info.h"
#include "runtime/ops/value.h"

namespace ohm::ops {

/// Throws std::invalid_argument where `input` is not a place for what it gives with `other`, of
/// dtype `result`: shapes that would have to grow, parts of it that are read after they were
/// written, and dtypes that hold less.
void require_writable(const OpInfo& info, const Tensor& input, const TensorOrNumber& other,
                      DType result);

}  // namespace ohm::ops
