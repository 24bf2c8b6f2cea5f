// The files that a command names, and itself: what shards of work on it have to have in common.
#pragma once

#include <string>
#include <vector>

#include "reports/model/shard_result.h"

namespace ohm::engine {

/// The command line, then each of its words that is a file, with a hash of each. What these files
/// read in their turn is not among them.
std::vector<ShardInput> command_inputs(const std::vector<std::string>& words);

}  // namespace ohm::engine
