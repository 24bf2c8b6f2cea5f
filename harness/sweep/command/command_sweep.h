// The sweep of a command: fails its requests for memory one at a time, and judges the outcome of
// each. The result is of the same model as a sweep of scenarios: the command is a scenario with one
// variant.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/checkpoint/checkpoint.h"
#include "harness/scenario/shard.h"
#include "harness/sweep/command/command_waiver.h"
#include "harness/sweep/command/failing_memory.h"
#include "harness/sweep/point_choice.h"
#include "harness/sweep/sweep.h"

namespace ohm::engine {

struct CommandSweepOptions {
  std::vector<std::string> words;  ///< the command
  PointChoice points;
  std::vector<FaultForm> forms = points.forms();
  FaultLevel level = FaultLevel::request;
  Shard shard;
  /// What else the result depends on, by the names of options: equal in all shards.
  std::map<std::string, std::string> settings;
  std::string check;  ///< empty: what the command computes is not compared
  bool in_scratch = false;
  std::vector<CommandWaiver> waivers;
  Checkpoint* checkpoint = nullptr;  ///< of checkpointed_work(); nullptr: nothing is kept
  /// What this program writes meanwhile, a file or a folder: no change that the command makes.
  std::string own_files;
  /// Told what is worth knowing before anything is failed.
  std::function<void(const std::string& note)> on_note;
};

/// All that the result depends on, for options.checkpoint.
CheckpointedWork checkpointed_work(const CommandSweepOptions& options);

/// Throws what FailingMemory throws, but for CommandInterrupted: what is known by then is the
/// result.
SweepOutcome sweep_command(const CommandSweepOptions& options, FailingMemory& memory,
                           SweepObserver& observer);

}  // namespace ohm::engine
