// Samples of ops, and calls of ops by their rows: what every test over all_ops() needs.
#pragma once

#include <string>
#include <vector>

#include "runtime/ops/op_list.h"
#include "tests/support/op_samples/families.h"

namespace ohm::test {

/// Whether the op has a gradient that samples check.
bool has_samples(const ops::OpDef& op);

/// The names of those ops.
std::vector<std::string> ops_with_samples();

/// The op's samples, none where it has no gradient.
std::vector<Sample> samples_of(const ops::OpDef& op);

/// Calls `op` with `given`, the parameters left out filled with their defaults.
ops::Value call_op(const ops::OpDef& op, const Sample& given);

/// The sample's tensors on another device, converted where they are floating; in-place ops then
/// cannot touch the sample itself.
Sample converted(const Sample& sample, DType dtype, Device device);

/// Every tensor in `value`: one, a list, or none.
std::vector<Tensor> tensors_in(const ops::Value& value);

/// Positions of the arguments that the op has a gradient for: floating tensors that are no
/// constants. A list of tensors counts as one position.
std::vector<std::size_t> differentiable(const ops::OpDef& op, const Sample& sample);

/// Marks those arguments as leaves that want a gradient.
void require_gradients(const ops::OpDef& op, const Sample& sample);

}  // namespace ohm::test
