// --shard, and the variables of the environment that replace it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "harness/scenario/shard.h"

namespace ohm::cli {

/// `parts` is what is shared out: "files".
CLI::Option* add_shard_option(CLI::App& app, std::string& text, const std::string& parts);

/// The shard that `text` says; without one what GoogleTest's variables say, as runners of shards
/// set them; all of the work without them. Throws UsageError.
engine::Shard chosen_shard(const std::string& text);

}  // namespace ohm::cli
