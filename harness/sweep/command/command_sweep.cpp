#include "harness/sweep/command/command_sweep.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "harness/checkpoint/program_fingerprint.h"
#include "harness/exec/child_command.h"
#include "harness/exec/command_inputs.h"
#include "harness/process/shell_quote.h"
#include "harness/sweep/workload_sweep.h"

namespace ohm::engine {

namespace {

ShardResult shard_of(const CommandSweepOptions& options) {
  ShardResult shard;
  shard.number = static_cast<std::int64_t>(options.shard.index) + 1;
  shard.count = static_cast<std::int64_t>(options.shard.count);
  shard.settings = options.settings;
  shard.inputs = command_inputs(options.words);
  return shard;
}

SweptScenario swept_by(WorkloadSweep& sweep, const CommandWorkload& workload,
                       const CommandSweepOptions& options) {
  SweptScenario scenario;
  scenario.file = shell_command(options.words);
  scenario.name = workload.program().empty()
                      ? std::filesystem::path(options.words.front()).filename().string()
                      : workload.program();
  scenario.variants.push_back(sweep.result());
  return scenario;
}

}  // namespace

CheckpointedWork checkpointed_work(const CommandSweepOptions& options) {
  CheckpointedWork work{program_fingerprint(), settings_of(options, options.level), {}};
  for (const auto& [name, value] : options.settings) work.settings.emplace(name, value);
  work.settings["scratch"] = options.in_scratch ? "true" : "false";
  work.settings["shard"] = fmt::format("{}/{}", options.shard.index + 1, options.shard.count);
  for (const ShardInput& input : command_inputs(options.words))
    work.files.emplace_back(input.file, input.hash);
  return work;
}

SweepOutcome sweep_command(const CommandSweepOptions& options, FailingMemory& memory,
                           SweepObserver& observer) {
  CommandWorkload workload(options, memory);
  const auto tell_progress = [&](std::size_t finished, std::size_t total) {
    observer.on_progress(finished, total);
  };
  const SweepRules& rules = options;
  WorkloadSweep sweep(
      {rules, ShardCut::in_turn, options.checkpoint, tell_progress, options.on_note}, workload);
  SweepOutcome outcome{result_without_scenarios(options, options.level), 0};
  SweepResult& result = outcome.result;
  if (!options.asked_points.empty()) result.points = options.asked_points;
  try {
    sweep.start();
  } catch (const CommandInterrupted& interrupted) {
    outcome.signal = interrupted.signal();
    result.exit_reason = ExitReason::interrupted;
    sweep.interrupt();
  }
  if (!options.shard.is_whole()) result.shard = shard_of(options);
  result.scenarios.push_back(swept_by(sweep, workload, options));
  const SweptVariant& variant = result.scenarios.back().variants.back();
  result.exit_reason = worse_of(result.exit_reason, sweep.error_reason());
  result.exit_reason = worse_of(result.exit_reason, exit_reason_of(variant));
  observer.on_scenario(result.scenarios.back());
  return outcome;
}

}  // namespace ohm::engine
