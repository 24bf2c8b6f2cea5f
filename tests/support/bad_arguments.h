// Arguments that make no sense, for every parameter of an op: made from the op's row alone.
#pragma once

#include <string>
#include <vector>

#include "runtime/ops/op.h"
#include "tests/support/op_samples/families.h"

namespace ohm::test {

struct BadArgument {
  std::string what;  ///< "empty", "of int64", "-1"
  ops::Value value;
};

/// Arguments that the op accepts, on cuda:0: its first sample as float32, or, for ops
/// without samples, small tensors of ones and the defaults.
Sample good_arguments(const ops::OpDef& op);

/// What a program could pass in place of `good` by mistake or out of malice: other shapes, dtypes,
/// devices and layouts; negative, huge and missing numbers. Each is of the parameter's kind. Needs
/// two GPUs.
std::vector<BadArgument> bad_arguments(const ops::Param& param, const ops::Value& good);

}  // namespace ohm::test
