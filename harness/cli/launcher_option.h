// --launcher slurm: the shards of a command as a job array, and what they found in one report.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/checkpoint/checkpoint.h"
#include "harness/cli/command.h"
#include "harness/cli/cuda_options.h"
#include "harness/cli/option_parser.h"
#include "harness/scenario/shard.h"

namespace ohm::cli {

struct LauncherOptions {
  std::string launcher;  ///< empty: this machine does the work
  std::size_t shards = 0;
  std::vector<std::string> slurm_options;
  std::vector<std::string> card_types;  ///< in Slurm's words; empty: any machine will do

  bool is_used() const { return !launcher.empty(); }
  /// Whose cards the work is done on.
  CardsOf cards() const { return is_used() ? CardsOf::other_machines : CardsOf::this_machine; }
};

void add_launcher_options(const OptionParser& parser, LauncherOptions& options);
/// Of a command that runs on real cards.
void add_card_types_option(const OptionParser& parser, LauncherOptions& options);

/// Throws UsageError for what makes no sense, beside `resume` and `shard`, as they were given.
void check_launcher(const LauncherOptions& options, const std::string& resume,
                    const std::string& shard);

/// Throws UsageError for types that make no sense, or are of a command that is not for real cards.
void check_card_types(const LauncherOptions& options, bool is_on_cuda);

/// Throws UsageError for reports of several types of cards, by a command that has one for each.
void check_reports_of_card_types(const LauncherOptions& options,
                                 const std::vector<std::string>& reports);

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
  bool joins_card_types = false;          ///< one report has what all types of cards found
  std::vector<std::string> started = {};  ///< what it starts, after `--`; empty: nothing
  bool takes_jobs = true;                 ///< --jobs
};

/// What all shards found.
struct MergedShards {
  std::string card_type;  ///< on cards of this type; empty: wherever
  std::string json;
};

struct LaunchedReport {
  /// One, or one for each type of cards; empty: a signal came before all shards had theirs.
  std::vector<MergedShards> merged;
  std::vector<std::string> known;  ///< of each shard: the file of its --resume
  int signal = 0;
};

/// Submits, follows and merges; says on stderr what goes on. Throws UsageError and
/// engine::SlurmUnavailable.
LaunchedReport launched_report(const LauncherOptions& options, const LaunchedCommand& command);

/// Without what the launcher, or this machine's output, is told.
std::vector<std::string> words_of_shards(const std::vector<std::string>& words);

}  // namespace ohm::cli
