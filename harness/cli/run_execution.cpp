#include "harness/cli/run_execution.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "harness/cli/launcher_option.h"
#include "harness/cli/output_paths.h"
#include "harness/cli/report_outputs.h"
#include "harness/cli/terminal.h"
#include "reports/console/console_report.h"
#include "reports/json/result_reader.h"

namespace ohm::cli {

namespace {

/// All of it by a job array.
LaunchedReport launched_shards(const RunArguments& arguments, const Environment& environment) {
  const bool has_history = arguments.run.recording == Recording::history;
  engine::RunOptions of_shards = arguments.run;
  // That of a report in JSON, which a shard writes whatever is asked for here.
  OutputPaths none({});
  of_shards.recording =
      has_history ? Recording::history : recording_of(run_outputs({"json=-"}, none));
  std::vector<std::string> more;
  if (has_history && !arguments.history) more.emplace_back("--history");
  LaunchedCommand command{"run", environment.words, more, arguments.resume, {}, {}};
  command.described = [&](const engine::Shard& shard) {
    of_shards.shard = shard;
    return checkpointed_run(of_shards);
  };
  command.prepare = [] { return 0; };
  return launched_report(arguments.launcher, command);
}

}  // namespace

engine::RunOutcome run_here(const RunPlan& plan, const Environment& environment,
                            engine::RunObserver& observer, engine::LiveBoard* board) {
  engine::RunOptions options = plan.arguments.run;
  options.live_board = board;
  options.checkpoint = plan.checkpoint.get();
  return engine::run_scenarios(options, environment.loader, observer);
}

engine::RunOutcome run_launched(const RunPlan& plan, const Environment& environment,
                                engine::RunObserver& observer) {
  const LaunchedReport report = launched_shards(plan.arguments, environment);
  if (report.signal != 0) {
    engine::RunOutcome interrupted;
    interrupted.signal = report.signal;
    interrupted.result.exit_reason = ExitReason::interrupted;
    return interrupted;
  }
  engine::RunOutcome outcome{reports::read_result(report.merged.front().json), 0, {}};
  for (const ScenarioResult& scenario : outcome.result.scenarios) observer.on_scenario(scenario);
  return outcome;
}

int run_on_card_types(const RunPlan& plan, const Environment& environment) {
  const LaunchedReport report = launched_shards(plan.arguments, environment);
  if (report.signal != 0) return process_code(ExitReason::interrupted, report.signal);
  ExitReason worst = ExitReason::passed;
  for (const MergedShards& merged : report.merged) {
    const RunResult result = reports::read_result(merged.json);
    print_text(fmt::format("{}\n", merged.card_type));
    for (const ScenarioResult& scenario : result.scenarios) {
      print_text(reports::console_scenario(scenario, plan.style));
    }
    print_text(reports::console_summary(result, plan.style));
    worst = worse_of(worst, result.exit_reason);
  }
  return process_code(worst, 0);
}

}  // namespace ohm::cli
