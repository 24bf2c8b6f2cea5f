#include "harness/cli/shard_option.h"

#include <cstdlib>

#include "harness/cli/option_values.h"
#include "harness/scenario/shard_variables.h"

namespace ohm::cli {

Option add_shard_option(const OptionParser& parser, std::string& text, const std::string& parts) {
  const std::string help =
      "Only this part of the " + parts +
      ": 2/5, or auto, from the variables of a scheduler (Slurm, GitLab, Bazel, GoogleTest); ohm "
      "merge merges the JSON reports of all parts";
  return parser.add_option("--shard", text, help).type_name("I/N|auto");
}

engine::Shard chosen_shard(const std::string& text) {
  if (text.empty()) return {};
  return parsed("--shard", [&] {
    if (text != kShardOfEnvironment) return engine::parse_shard(text);
    return engine::shard_of_variables([](const char* name) { return std::getenv(name); });
  });
}

}  // namespace ohm::cli
