// --launcher slurm: the shards of a command as an array of jobs, and what they found in one report.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/checkpoint/checkpoint.h"
#include "harness/cli/command.h"
#include "harness/scenario/shard.h"

namespace ohm::cli {

struct LauncherOptions {
  std::string launcher;  ///< empty: this machine does the work
  std::size_t shards = 0;
  std::vector<std::string> slurm_options;

  bool is_used() const { return !launcher.empty(); }
};

void add_launcher_options(CLI::App& app, LauncherOptions& options);

/// Throws UsageError for what makes no sense, beside `resume` and `shard`, as they were given.
void check_launcher(const LauncherOptions& options, const std::string& resume,
                    const std::string& shard);

/// A command that is to be launched.
struct LaunchedCommand {
  std::string name;                ///< "sweep"
  std::vector<std::string> words;  ///< its arguments, as they were typed
  std::vector<std::string> more;   ///< what its shards are given on top of them
  std::string folder;              ///< of --resume
  /// What a shard depends on.
  std::function<engine::CheckpointedWork(const engine::Shard& shard)> described;
  /// Before the first shard is submitted: finds what all of them have in common. The signal that
  /// ended it; 0: none. Throws std::invalid_argument.
  std::function<int()> prepare;
};

struct LaunchedReport {
  std::string json;                ///< of all shards; empty: a signal came before they had theirs
  std::vector<std::string> known;  ///< of each shard: the file of its --resume
  int signal = 0;
};

/// Submits, follows and merges; says on stderr what goes on. Throws UsageError and
/// engine::SlurmUnavailable.
LaunchedReport launched_report(const LauncherOptions& options, const LaunchedCommand& command);

/// Without what the launcher, or this machine's output, is told.
std::vector<std::string> words_of_shards(const std::vector<std::string>& words);

}  // namespace ohm::cli
