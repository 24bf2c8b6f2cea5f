#include "harness/cli/run_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "allocator_shim/base/nearest_name.h"
#include "harness/cli/cuda_options.h"
#include "harness/cli/github_actions.h"
#include "harness/cli/launcher_option.h"
#include "harness/cli/live_view.h"
#include "harness/cli/option_values.h"
#include "harness/cli/progress_line.h"
#include "harness/cli/report_outputs.h"
#include "harness/cli/resume_option.h"
#include "harness/cli/run_options.h"
#include "harness/cli/shard_option.h"
#include "harness/cli/style_options.h"
#include "harness/cli/terminal.h"
#include "harness/gate/baseline.h"
#include "harness/judge/tighter_limits.h"
#include "harness/process/live_board.h"
#include "harness/run/input_files.h"
#include "harness/run/runner.h"
#include "harness/run/shard_work.h"
#include "reports/console/console_report.h"
#include "reports/json/result_reader.h"
#include "reports/text/text_layout.h"

namespace ohm::cli {

namespace {

struct RunArguments {
  engine::RunOptions run;
  std::vector<std::string> reports;
  std::string shard;
  std::string resume;
  LauncherOptions launcher;
  StyleOptions style;
  std::optional<std::string> snapshot;
  bool json = false;
  bool history = false;
  bool watch = false;
  bool plot = false;
  bool tighten = false;
};

/// Before anything runs: what cannot be written would be lost.
void check_snapshot_folders(const engine::RunOptions& run) {
  if (run.snapshots.empty()) return;
  for (const std::string& file : run.files) {
    const std::filesystem::path path = run.snapshots.path_for(file, "{variant}");
    const std::string folder = path.parent_path().string();
    // A variant's name may be that of a folder.
    if (folder.empty() || folder.find('{') != std::string::npos) continue;
    std::error_code unknown;
    if (!std::filesystem::is_directory(folder, unknown)) {
      throw UsageError(fmt::format("--snapshot {}: there is no folder {}: make it first",
                                   run.snapshots.text(), folder));
    }
    if (access(folder.c_str(), W_OK | X_OK) != 0) {
      throw UsageError(fmt::format("--snapshot {}: nothing can be written to {}: {}",
                                   run.snapshots.text(), folder, std::strerror(errno)));
    }
  }
}

void check(RunArguments& arguments) {
  engine::RunOptions& run = arguments.run;
  require_files(run);
  check_launcher(arguments.launcher, arguments.resume, arguments.shard);
  check_cuda_options(run, arguments.launcher.cards());
  check_card_types(arguments.launcher, run.cuda.has_value());
  check_run_options(run);
  run.shard = chosen_shard(arguments.shard);
  if (arguments.snapshot) {
    run.snapshots =
        parsed("--snapshot", [&] { return engine::SnapshotPaths(*arguments.snapshot, run.files); });
  }
  check_snapshot_folders(run);
  if (arguments.json) arguments.reports.emplace_back("json=-");
  check_reports_of_card_types(arguments.launcher, arguments.reports);
}

reports::ReportStyle style_of(const RunArguments& arguments) {
  reports::ReportStyle style = report_style(arguments.style);
  style.plots = arguments.plot;
  return style;
}

/// Of a snapshot for each file: where they have names of their own, the run sees to the rest.
void check_snapshot_paths(const engine::RunOptions& run, OutputPaths& paths) {
  const engine::SnapshotPaths& snapshots = run.snapshots;
  if (snapshots.empty() || snapshots.tells_variants_apart()) return;
  for (const std::string& file : std::set(run.files.begin(), run.files.end())) {
    paths.add("--snapshot " + snapshots.text(), snapshots.path_for(file, ""));
  }
}

/// Prints scenarios as they come, and a progress line where people wait.
class TableObserver final : public engine::RunObserver {
 public:
  /// `board` is drawn instead of the progress line; nullptr: it is not shown.
  TableObserver(const reports::ReportStyle& style, bool prints_table, bool shows_progress,
                const engine::LiveBoard* board)
      : style_(style), prints_table_(prints_table), progress_(shows_progress) {
    if (board != nullptr) live_.emplace(*board);
  }

  void on_progress(std::size_t finished, std::size_t total) override {
    if (live_) {
      live_->show(finished, total);
    } else {
      progress_.show(finished, total);
    }
  }
  void on_scenario(const ScenarioResult& scenario) override {
    erase();
    print(reports::console_scenario(scenario, style_));
  }
  void on_end(const RunResult& result) {
    erase();
    print(reports::console_summary(result, style_));
  }

  /// A table that cannot be printed must not end the run: there may be reports to write.
  void print(const std::string& text) {
    if (!prints_table_ || !error_.empty()) return;
    try {
      print_text(text);
    } catch (const UsageError& error) {
      error_ = error.what();
    }
  }

  /// Why the table could not be printed; empty when it was.
  const std::string& error() const { return error_; }

 private:
  void erase() {
    progress_.erase();
    if (live_) live_->erase();
  }

  const reports::ReportStyle& style_;
  bool prints_table_;
  ProgressLine progress_;
  std::optional<LiveView> live_;
  std::string error_;
};

/// Why nothing ran.
std::string nothing_selected_text(const engine::RunOptions& run, const Environment& environment) {
  const std::string unknown = unknown_case(run, environment);
  return unknown.empty() ? "no variant matches; run ohm list to see them" : unknown;
}

bool has_baseline(const std::vector<std::string>& files) {
  return std::any_of(files.begin(), files.end(), [](const std::string& file) {
    std::error_code unknown;
    return std::filesystem::exists(engine::baseline_path(file), unknown);
  });
}

/// A plan that meets nothing is often a mistake: says which, and where.
void warn_unused_faults(const RunResult& result) {
  std::map<std::string, std::vector<std::string>> variants;
  for (const ScenarioResult& scenario : result.scenarios) {
    for (const VariantResult& variant : scenario.variants) {
      for (const std::string& plan : variant.unused_faults) {
        variants[plan].push_back(fmt::format("{}.{}", scenario.name, variant.name));
      }
    }
  }
  for (const auto& [plan, names] : variants) {
    write_stderr(reports::printable(fmt::format(
                     "ohm: the fault {} never fired in {} {}: {}", plan, names.size(),
                     names.size() == 1 ? "variant" : "variants", fmt::join(names, ", "))) +
                 "\n");
  }
}

std::string tighter_limit_line(const engine::TighterLimit& limit) {
  if (limit.why_not.empty()) {
    return fmt::format("    {}: {} holds ({})\n", limit.limit, limit.tightest, limit.variant);
  }
  const std::string of = limit.variant.empty() ? "" : fmt::format(" ({})", limit.variant);
  return fmt::format("    {}: {}{}\n", limit.limit, limit.why_not, of);
}

/// What limits could be, of every scenario that was run. A part of the variants tells about a part
/// of what has to fit.
std::string tighter_limits_text(const RunResult& result, const engine::Selection& selection) {
  const bool is_part = !selection.cases.empty() || !selection.filter.empty();
  const char* const of_a_part =
      is_part ? ", by the variants that were selected: others may need more room" : "";
  std::string text;
  for (const ScenarioResult& scenario : result.scenarios) {
    std::string lines;
    for (const engine::TighterLimit& limit : engine::tighter_limits(scenario)) {
      lines += tighter_limit_line(limit);
    }
    if (!lines.empty()) text += fmt::format("  {}\n{}", scenario.file, lines);
  }
  return text.empty() ? fmt::format("every limit is as tight as it can be{}\n", of_a_part)
                      : fmt::format("limits that could be tighter{}\n{}", of_a_part, text);
}

engine::CheckpointedWork work_of(const engine::RunOptions& run) {
  engine::CheckpointedWork work = engine::checkpointed_work(run.shard, run);
  work.settings["command"] = "run";
  return work;
}

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
    return work_of(of_shards);
  };
  command.prepare = [] { return 0; };
  return launched_report(arguments.launcher, command);
}

/// The outcome as if this machine had run all of it.
engine::RunOutcome launched_run(const RunArguments& arguments, const Environment& environment,
                                engine::RunObserver& observer) {
  const LaunchedReport report = launched_shards(arguments, environment);
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

/// The table of each type of cards; what they found as JSON is in the folder.
int run_on_card_types(const RunArguments& arguments, const Environment& environment) {
  const reports::ReportStyle style = style_of(arguments);
  const LaunchedReport report = launched_shards(arguments, environment);
  if (report.signal != 0) return process_code(ExitReason::interrupted, report.signal);
  ExitReason worst = ExitReason::passed;
  for (const MergedShards& merged : report.merged) {
    const RunResult result = reports::read_result(merged.json);
    print_text(fmt::format("{}\n", merged.card_type));
    for (const ScenarioResult& scenario : result.scenarios) {
      print_text(reports::console_scenario(scenario, style));
    }
    print_text(reports::console_summary(result, style));
    worst = worse_of(worst, result.exit_reason);
  }
  return process_code(worst, 0);
}

int run(RunArguments arguments, const Environment& environment) {
  check(arguments);
  check_parameters_declared(arguments.run, environment);
  check_cases_declared(arguments.run, environment);
  OutputPaths paths(engine::input_files(arguments.run));
  ReportOutputs outputs = run_outputs(arguments.reports, paths);
  check_snapshot_paths(arguments.run, paths);
  if (!arguments.resume.empty() && !arguments.launcher.is_used())
    paths.add("--resume " + arguments.resume, arguments.resume);
  engine::RunOptions& run_options = arguments.run;
  const bool is_another_run = engine::changes_machine(run_options);
  if (is_another_run && run_options.requires_baselines) {
    throw UsageError(
        "--require-baseline: baselines are for the scenarios as they are, not for other GPUs, "
        "settings, faults or seeds");
  }
  run_options.checks_baselines = !is_another_run;
  if (is_another_run && !arguments.style.quiet && has_baseline(run_options.files)) {
    write_stderr(fmt::format(
        "ohm: baselines are not compared: this run has its own GPUs, settings, faults or seed\n"));
  }
  const bool needs_history = arguments.history || arguments.plot;
  arguments.run.recording = needs_history ? Recording::history : recording_of(outputs);
  const reports::ReportStyle style = style_of(arguments);
  std::optional<engine::LiveBoard> board;
  if (arguments.watch && is_stderr_animated()) arguments.run.live_board = &board.emplace();
  const bool is_launched = arguments.launcher.is_used();
  if (arguments.launcher.card_types.size() > 1) return run_on_card_types(arguments, environment);
  const auto checkpoint =
      opened_checkpoint(is_launched ? "" : arguments.resume, [&] { return work_of(run_options); });
  arguments.run.checkpoint = checkpoint.get();
  TableObserver observer(style, !outputs.uses_stdout(),
                         !arguments.style.quiet && is_stderr_animated(), arguments.run.live_board);
  const engine::RunOutcome outcome =
      is_launched ? launched_run(arguments, environment, observer)
                  : engine::run_scenarios(arguments.run, environment.loader, observer);
  if (is_launched && outcome.signal != 0) return outcome.exit_code();
  std::string errors = fmt::format("{}", fmt::join(outcome.errors, "\n"));
  const std::string report_errors = outputs.try_write(render_run(outcome.result, style));
  if (!errors.empty() && !report_errors.empty()) errors += '\n';
  errors += report_errors;
  observer.on_end(outcome.result);
  if (arguments.tighten) {
    observer.print(tighter_limits_text(outcome.result, arguments.run.selection));
  }
  tell_lack(checkpoint.get());
  if (!arguments.style.quiet) warn_unused_faults(outcome.result);
  tell_github(outcome.result);
  if (outcome.result.exit_reason == ExitReason::nothing_selected) {
    print_error(reports::printable(nothing_selected_text(arguments.run, environment)));
  }
  if (!errors.empty()) throw UsageError(errors);
  if (!observer.error().empty()) throw UsageError(observer.error());
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
