// The collectives of a group of fully sharded parameters.
#pragma once

#include <memory>
#include <vector>

#include "runtime/parallel/fully_sharded_parameter.h"
#include "runtime/parallel/rank_group.h"

namespace ohm::parallel {

using FullyShardedParameters = std::vector<std::unique_ptr<FullyShardedParameter>>;

/// All ranks' parts, those of a rank one after the other: a buffer that is allocated on `stream`.
Tensor gather_shards(const FullyShardedParameters& parameters, RankGroup& group, StreamId stream);

/// Makes each parameter whole of such a buffer, in room of its own.
void copy_gathered(const FullyShardedParameters& parameters, const Tensor& gathered,
                   const RankGroup& group);

/// The same of a single rank's parts, which are not sent.
void copy_own_shards(const FullyShardedParameters& parameters);

/// The gradient of a whole parameter.
struct WholeGradient {
  FullyShardedParameter* parameter;
  Tensor gradient;
};

/// The mean over all ranks becomes the shards' gradients, or is added to them. The result of the
/// reduction is allocated on `stream`. Returns what was reduced, which is in use there still.
Tensor reduce_gradients(std::vector<WholeGradient> gradients, DType dtype, RankGroup& group,
                        StreamId stream);

}  // namespace ohm::parallel
