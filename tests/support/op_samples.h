// Calls of ops by their rows: what every test over all_ops() needs.
#pragma once

#include <string>
#include <vector>

#include "runtime/ops/op_list.h"

namespace ohm::test {

/// Calls `op` with `given`, the parameters left out filled with their defaults.
ops::Value call_op(const ops::OpDef& op, const ops::Sample& given);

/// The sample's tensors on another device, converted where they are floating; in-place ops then
/// cannot touch the sample itself.
ops::Sample converted(const ops::Sample& sample, DType dtype, Device device);

/// Every tensor in `value`: one, a list, or none.
std::vector<Tensor> tensors_in(const ops::Value& value);

/// Positions of the arguments that the op has a gradient for: floating tensors that are no
/// constants. A list of tensors counts as one position.
std::vector<std::size_t> differentiable(const ops::OpDef& op, const ops::Sample& sample);

/// Marks those arguments as leaves that want a gradient.
void require_gradients(const ops::OpDef& op, const ops::Sample& sample);

}  // namespace ohm::test
