#include "harness/cli/run_plan.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

#include "harness/cli/cuda_options.h"
#include "harness/cli/option_values.h"
#include "harness/cli/output_paths.h"
#include "harness/cli/resume_option.h"
#include "harness/cli/run_options.h"
#include "harness/cli/shard_option.h"
#include "harness/cli/terminal.h"
#include "harness/gate/baseline.h"
#include "harness/run/input_files.h"
#include "harness/run/shard_work.h"

namespace ohm::cli {

namespace {

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

bool has_baseline(const std::vector<std::string>& files) {
  return std::any_of(files.begin(), files.end(), [](const std::string& file) {
    std::error_code unknown;
    return std::filesystem::exists(engine::baseline_path(file), unknown);
  });
}

/// What baselines hold is said of scenarios as they are.
void choose_baselines(engine::RunOptions& run, bool is_quiet) {
  const bool is_another_run = engine::changes_machine(run);
  run.checks_baselines = !is_another_run;
  if (!is_another_run) return;
  if (run.requires_baselines) {
    throw UsageError(
        "--require-baseline: baselines are for the scenarios as they are, not for other GPUs, "
        "settings, faults or seeds");
  }
  if (is_quiet || !has_baseline(run.files)) return;
  write_stderr(fmt::format(
      "ohm: baselines are not compared: this run has its own GPUs, settings, faults or seed\n"));
}

/// Opens the reports.
ReportOutputs outputs_of(const RunArguments& arguments, const std::string& resume) {
  OutputPaths paths(engine::input_files(arguments.run));
  ReportOutputs outputs = run_outputs(arguments.reports, paths);
  check_snapshot_paths(arguments.run, paths);
  if (!resume.empty()) paths.add("--resume " + resume, resume);
  return outputs;
}

}  // namespace

engine::CheckpointedWork checkpointed_run(const engine::RunOptions& run) {
  engine::CheckpointedWork work = engine::checkpointed_work(run.shard, run);
  work.settings["command"] = "run";
  return work;
}

RunPlan plan_run(RunArguments arguments, const Environment& environment) {
  check(arguments);
  check_parameters_declared(arguments.run, environment);
  check_cases_declared(arguments.run, environment);
  const std::string resume = arguments.launcher.is_used() ? "" : arguments.resume;
  ReportOutputs outputs = outputs_of(arguments, resume);
  choose_baselines(arguments.run, arguments.style.quiet);
  const bool needs_history = arguments.history || arguments.plot;
  arguments.run.recording = needs_history ? Recording::history : recording_of(outputs);
  const reports::ReportStyle style = style_of(arguments);
  auto checkpoint = opened_checkpoint(resume, [&] { return checkpointed_run(arguments.run); });
  return {std::move(arguments), std::move(outputs), style, std::move(checkpoint)};
}

}  // namespace ohm::cli
