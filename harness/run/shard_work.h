// The settings and files that all shards of one work share, without which they do not add up, and
// that work which goes on has to have still.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "harness/checkpoint/checkpoint.h"
#include "harness/run/run_options.h"
#include "reports/model/shard_result.h"

namespace ohm::engine {

/// A GPU that scenarios run on instead of their own, by what its profile says: a file may say
/// something else each time.
std::string gpu_setting(const GpuSelection& gpu);

/// What the result of `shard`, which may be all of the work, depends on.
CheckpointedWork checkpointed_work(const Shard& shard, const RunOptions& options);

/// As which `settings["shard"]` says that the work is all of so many shards.
std::string all_shards_text(std::size_t count);

/// For the result of `shard` of the work that `options` describe: its number, what the result
/// depends on, and the files with a hash of each. Nothing for a shard that is all of the work.
std::optional<ShardResult> shard_result(const Shard& shard, const RunOptions& options);

}  // namespace ohm::engine
