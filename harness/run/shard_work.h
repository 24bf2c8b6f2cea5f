// What all shards of one work have in common: without it their results are not of one whole.
#pragma once

#include <optional>

#include "harness/run/runner.h"
#include "reports/model/shard_result.h"

namespace ohm::engine {

/// For the result of `shard` of the work that `options` describe: its number, what the result
/// depends on, and the files with a hash of each. Nothing for a shard that is all of the work.
std::optional<ShardResult> shard_result(const Shard& shard, const RunOptions& options);

}  // namespace ohm::engine
