// The settings and files that all shards of one work share, without which they do not add up.
#pragma once

#include <optional>

#include "harness/run/run_options.h"
#include "reports/model/shard_result.h"

namespace ohm::engine {

/// For the result of `shard` of the work that `options` describe: its number, what the result
/// depends on, and the files with a hash of each. Nothing for a shard that is all of the work.
std::optional<ShardResult> shard_result(const Shard& shard, const RunOptions& options);

}  // namespace ohm::engine
