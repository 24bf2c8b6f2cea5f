#include "harness/cli/run_command.h"

#include <memory>
#include <optional>
#include <utility>

#include "harness/cli/cuda_options.h"
#include "harness/cli/launcher_option.h"
#include "harness/cli/resume_option.h"
#include "harness/cli/run_execution.h"
#include "harness/cli/run_options.h"
#include "harness/cli/run_plan.h"
#include "harness/cli/run_publication.h"
#include "harness/cli/run_table.h"
#include "harness/cli/shard_option.h"
#include "harness/cli/style_options.h"
#include "harness/cli/terminal.h"

namespace ohm::cli {

namespace {

/// Plans, executes, publishes.
int run(RunArguments arguments, const Environment& environment) {
  RunPlan plan = plan_run(std::move(arguments), environment);
  if (plan.arguments.launcher.card_types.size() > 1) return run_on_card_types(plan, environment);
  std::optional<engine::LiveBoard> board;
  if (plan.arguments.watch && is_stderr_animated()) board.emplace();
  engine::LiveBoard* const shown = board ? &*board : nullptr;
  RunTable table(plan.style, !plan.outputs.uses_stdout(),
                 !plan.arguments.style.quiet && is_stderr_animated(), shown);
  const engine::RunOutcome outcome = plan.is_launched() ? run_launched(plan, environment, table)
                                                        : run_here(plan, environment, table, shown);
  if (plan.is_launched() && outcome.signal != 0) return outcome.exit_code();
  publish_run(plan, environment, outcome, table);
  return outcome.exit_code();
}

void add_output(const OptionParser& parser, RunArguments& arguments) {
  parser
      .add_option("--report", arguments.reports,
                  "Write a report (ohm list --reporters), - for standard output; repeatable")
      .type_name("NAME=PATH")
      .one_value_each();
  parser.add_flag("--json", arguments.json, "The same as --report json=-");
  parser.add_flag("--history", arguments.history,
                  "Record every block in the JSON, for ohm report to plot later");
  parser.add_flag("--plot", arguments.plot, "Plot memory over time below the table");
  parser
      .add_option("--snapshot", arguments.snapshot,
                  "Write the memory snapshot of each variant, for pytorch.org/memory_viz: a path, "
                  "with {scenario} and {variant} where there are several, or a folder")
      .type_name("PATH");
  parser.add_flag("--tighten", arguments.tighten,
                  "Print the tightest limits that mitigations, controls and checks still hold");
  parser.add_flag("--watch", arguments.watch,
                  "Show the memory of running variants live, where stderr is a terminal");
  parser.add_flag("--timestamps", arguments.run.timestamps,
                  "Add wall times to the reports, which then differ between runs");
  add_color_option(parser, arguments.style);
  Option quiet = add_quiet_option(parser, arguments.style, "Print only failures and the summary");
  add_verbose_option(parser, arguments.style, "Print every limit and out-of-memory error")
      .excludes(quiet);
}

}  // namespace

std::function<int()> setup_run(const OptionParser& parser, const Environment& environment) {
  const auto arguments = std::make_shared<RunArguments>();
  engine::RunOptions& run_options = arguments->run;
  add_selection_options(parser, run_options);
  parser.add_flag("--require-baseline", run_options.requires_baselines,
                  "Fail variants that have no baseline (ohm baseline)");
  parser.add_flag("--fail-fast", run_options.fail_fast,
                  "Stop after the first scenario that does not pass");
  add_shard_option(parser, arguments->shard, "files");
  add_resume_option(parser, arguments->resume);
  add_run_options(parser, run_options, engine::RunCommand::run);
  add_jobs_option(parser, run_options.jobs);
  add_launcher_options(parser, arguments->launcher);
  add_card_types_option(parser, arguments->launcher);
  add_cuda_footer(parser);
  add_output(parser, *arguments);
  return [arguments, &environment] { return run(*arguments, environment); };
}

}  // namespace ohm::cli
