// Batching rules: the ops and nodes that vmap computes for all samples at once. Others are refused
// by name: they would be computed of the first sample alone.
#pragma once

#include <span>
#include <string_view>

namespace ohm::func {

/// The ops, by their names, in byte order. Each has a test with the op's own sample inputs.
std::span<const std::string_view> batched_ops();

/// Throws std::invalid_argument unless `name` is one of those, what a script may do with any tensor
/// without looking at its elements, or a layer that is made of such ops alone.
void require_batching_rule(std::string_view name);

/// The same of a node of a graph through which gradients of all samples are to go.
void require_batched_gradient(std::string_view node);

}  // namespace ohm::func
