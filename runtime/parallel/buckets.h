// Buckets: the gradients that share one, and tensors that travel in them.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/parallel/rank_group.h"
#include "runtime/tensor/tensor.h"

namespace ohm::parallel {

using Buckets = std::vector<std::vector<std::size_t>>;

/// Runs of tensors of one dtype, as indices into `tensors`: each ends with the tensor that reaches
/// the limit. `limits` are those of the first, the second, … bucket of a dtype; the last one holds
/// for all that follow. The buckets come in the order of their first tensors.
Buckets assign_buckets(const std::vector<Tensor>& tensors, const std::vector<std::size_t>& limits);

/// The same for the tensors in this order; the buckets come in the order in which they are full.
Buckets assign_buckets_in_order(const std::vector<Tensor>& tensors,
                                const std::vector<std::size_t>& order,
                                const std::vector<std::size_t>& limits);

/// Rank 0's values on every rank: by dtype in flat temporaries of up to `limit_bytes`, of which two
/// are alive at a time.
void broadcast_in_buckets(RankGroup& group, const std::vector<Tensor>& tensors,
                          std::size_t limit_bytes);

}  // namespace ohm::parallel
