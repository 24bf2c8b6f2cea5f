// --shard: the part of the work, said outright or by a scheduler's variables.
#pragma once

#include <string>
#include <string_view>

#include "harness/cli/option_parser.h"
#include "harness/scenario/shard.h"

namespace ohm::cli {

/// Variables of the environment count only where this is asked for: runners of tests set theirs
/// for programs that know nothing of them.
inline constexpr std::string_view kShardOfEnvironment = "auto";

/// `parts` is what is shared out: "files".
Option add_shard_option(const OptionParser& parser, std::string& text, const std::string& parts);

/// The shard that `text` says; all of the work without one. Throws UsageError.
engine::Shard chosen_shard(const std::string& text);

}  // namespace ohm::cli
