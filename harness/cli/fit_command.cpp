#include "harness/cli/fit_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "harness/cli/cuda_options.h"
#include "harness/cli/fit_arguments.h"
#include "harness/cli/gpu_option.h"
#include "harness/cli/option_values.h"
#include "harness/cli/program_fit.h"
#include "harness/cli/progress_line.h"
#include "harness/cli/report_outputs.h"
#include "harness/cli/resume_option.h"
#include "harness/cli/run_options.h"
#include "harness/cli/scenario_option.h"
#include "harness/cli/shard_option.h"
#include "harness/cli/terminal.h"
#include "harness/cli/value_option.h"
#include "harness/cli/varied_values.h"
#include "harness/fit/fit.h"
#include "harness/fit/recorded_fit.h"
#include "harness/run/input_files.h"
#include "reports/console/fit_text.h"
#include "reports/json/fit_json.h"
#include "reports/json/result_input.h"
#include "reports/text/text_layout.h"

namespace ohm::cli {

namespace {

ReportOutputs outputs_beside(const FitArguments& arguments, const std::vector<std::string>& read) {
  OutputPaths paths(read);
  return outputs_of(arguments, paths);
}

void check(FitArguments& arguments) {
  engine::RunOptions& run = arguments.fit.run;
  if (run.files.size() != 1) {
    throw UsageError("name one scenario, as in ohm fit scenarios/batch_size.lua --vary batch");
  }
  if (arguments.varied.empty()) {
    throw UsageError("name what to vary: --vary batch=1..65536, or --vary capacity");
  }
  take_range(arguments);
  take_gpus(arguments);
  check_run_options(run);
  check_launcher(arguments.launcher, arguments.resume, arguments.shard);
  arguments.fit.shard = chosen_shard(arguments.shard);
  if (run.parameters.count(arguments.fit.varied) != 0) {
    throw UsageError(fmt::format("--set {}: this parameter is varied", arguments.fit.varied));
  }
  arguments.fit.considers_limits = !arguments.ignores_limits;
}

void refuse_unrecorded_options(const OptionParser& parser) {
  constexpr std::array<std::string_view, 11> kOfRecordings = {
      "FILE",         "--vary", "--gpu",    "--limit", "--rules",  "--color",
      "--alloc-conf", "--json", "--report", "--help",  "--verbose"};
  refuse_options_but(kOfRecordings, parser, "applies to scenarios, not to recordings");
}

/// The cards of the table, where none was asked for: what was recorded is of no one card.
int fit_recorded(FitArguments arguments, const OptionParser& parser) {
  refuse_value_options(arguments.values);
  refuse_unrecorded_options(parser);
  const engine::RunOptions& run = arguments.fit.run;
  if (run.files.size() < 2) {
    throw UsageError(
        "one recording cannot show what grows: give two or more, as in ohm fit a.pickle b.pickle "
        "--vary batch=8,16");
  }
  if (arguments.gpus.empty()) arguments.gpus.emplace_back("all");
  take_gpus(arguments);
  engine::RecordedFitOptions fit;
  fit.files = run.files;
  std::tie(fit.varied, fit.values) =
      parsed("--vary", [&] { return parse_recorded_values(arguments.varied, run.files.size()); });
  // What was recorded need not be the most.
  const auto largest = std::max_element(fit.values.begin(), fit.values.end());
  constexpr std::int64_t kHalf = std::numeric_limits<std::int64_t>::max() / 2;
  fit.most = std::max(fit.most, 2 * std::min(*largest, kHalf));
  fit.gpus = arguments.fit.gpus;
  fit.limits = arguments.limits;
  fit.rules = run.rules;
  fit.alloc_conf = run.alloc_conf;
  ReportOutputs outputs = outputs_beside(arguments, run.files);
  const FitResult result = parsed("fit", [&] { return engine::fit_recordings(fit); });
  return print_fit(arguments, outputs, {result});
}

bool are_recordings(const std::vector<std::string>& files) {
  return std::any_of(files.begin(), files.end(), [](const std::string& file) {
    return file.ends_with(".pickle") || file.ends_with(".pkl") || reports::is_pickle(file);
  });
}

/// Values that the scenario does not allow were left out: that is said.
void say_what_was_left_out(const FitResult& result, const engine::FitOptions& asked) {
  const bool is_narrower =
      (asked.least && *asked.least != result.least) || (asked.most && *asked.most != result.most);
  if (result.error || !is_narrower) return;
  write_stderr(fmt::format("ohm: {} allows only {} from {} to {}\n",
                           reports::printable(result.file), result.varied, result.least,
                           result.most));
}

/// All of it by a job array: the rows that they found, put together by a search to which all
/// of them are known.
engine::FinishedFit launched_fit(const FitArguments& arguments, const Environment& environment) {
  const auto described = [&](const engine::Shard& shard) {
    engine::FitOptions of_shard = arguments.fit;
    of_shard.shard = shard;
    return engine::checkpointed_work(of_shard);
  };
  const LaunchedReport report = launched_report(
      arguments.launcher,
      {"fit", environment.words, {}, arguments.resume, described, [] { return 0; }});
  if (report.signal != 0) return interrupted_by(report.signal);
  engine::FitOptions all = arguments.fit;
  const auto known = opened_checkpoints(report.known, described);
  for (const auto& checkpoint : known) all.found.push_back(checkpoint.get());
  return engine::fit(all, environment.loader);
}

engine::FinishedFit fit_here(const FitArguments& arguments, const Environment& environment) {
  const auto checkpoint =
      opened_checkpoint(arguments.resume, [&] { return engine::checkpointed_work(arguments.fit); });
  engine::FitOptions options = arguments.fit;
  options.run.checkpoint = checkpoint.get();
  ProgressLine progress(is_stderr_animated());
  options.on_progress = [&progress](std::size_t finished, std::size_t total) {
    progress.show(finished, total);
  };
  engine::FinishedFit finished = engine::fit(options, environment.loader);
  progress.erase();
  tell_lack(checkpoint.get());
  return finished;
}

int fit(FitArguments arguments, const Environment& environment) {
  if (!arguments.limits.empty()) {
    throw UsageError("--limit is for recordings: a scenario has its own limits");
  }
  refuse_value_options(arguments.values);
  check(arguments);
  check_parameters_declared(arguments.fit.run, environment);
  const bool is_launched = arguments.launcher.is_used();
  OutputPaths paths(engine::input_files(arguments.fit.run));
  if (!arguments.resume.empty() && !is_launched) {
    paths.add("--resume " + arguments.resume, arguments.resume);
  }
  ReportOutputs outputs = outputs_of(arguments, paths);
  const engine::FinishedFit finished =
      is_launched ? launched_fit(arguments, environment) : fit_here(arguments, environment);
  if (is_launched && finished.signal != 0) return finished.exit_code();
  const FitResult& result = finished.result;
  say_what_was_left_out(result, arguments.fit);
  const int code = print_fit(arguments, outputs, finished);
  if (result.error) {
    print_error(result.error->message);
    print_hint(result.error->hint);
  }
  if (result.exit_reason == ExitReason::nothing_selected) {
    print_error("no variant matches; run ohm list to see them");
  }
  return code;
}

void add_question(const OptionParser& parser, FitArguments& arguments) {
  engine::RunOptions& run = arguments.fit.run;
  add_scenario_files(parser, run.files,
                     "A scenario, by name or file, or two or more recordings of one program",
                     "FILE");
  parser
      .add_option("--vary", arguments.varied,
                  "Parameter to maximize, in whole numbers; capacity: find the smallest GPU "
                  "instead. With recordings: the value of each, as in batch=8,16")
      .type_name("NAME[=LEAST..MOST]");
  parser
      .add_option("--gpu,--gpus", arguments.gpus,
                  "Use these GPUs instead (ohm gpus lists them), or all of them; repeatable")
      .type_name(std::string(engine::kGpuValueName))
      .completes(Completion::gpus)
      .one_value_each();
  parser
      .add_option("--limit", arguments.limits,
                  "With recordings: also find the largest value within this limit, as in "
                  "'peak_reserved_bytes < 20 GiB'; repeatable")
      .type_name("LIMIT")
      .one_value_each();
  parser
      .add_option("--case", run.selection.cases,
                  "Only this variant, or all of this role (default: all but checks); repeatable")
      .type_name("NAME|ROLE")
      .one_value_each();
  parser.add_flag("--no-limits", arguments.ignores_limits,
                  "Ignore the scenario's limits: a variant fits unless it runs out of memory");
}

void add_the_rest(const OptionParser& parser, FitArguments& arguments) {
  engine::RunOptions& run = arguments.fit.run;
  add_run_options(parser, run, engine::RunCommand::fit);
  add_jobs_option(parser, run.jobs);
  add_shard_option(parser, arguments.shard, "variants");
  add_resume_option(parser, arguments.resume);
  add_launcher_options(parser, arguments.launcher);
  add_value_options(parser, arguments.values, "For a command after --: ");
  parser
      .add_option("--report", arguments.reports,
                  "Write a report: json=PATH, - for standard output; repeatable")
      .type_name("NAME=PATH")
      .one_value_each();
  parser.add_flag("--json", arguments.json, "The same as --report json=- (ohm.fit/1)");
  add_color_option(parser, arguments.style);
  add_verbose_option(parser, arguments.style, "Print details of every variant on every GPU");
}

}  // namespace

ReportOutputs outputs_of(const FitArguments& arguments, OutputPaths& paths) {
  std::vector<std::string> reports = arguments.reports;
  if (arguments.json) reports.emplace_back("json=-");
  return json_outputs(reports, paths);
}

void take_range(FitArguments& arguments) {
  engine::FitOptions& fit = arguments.fit;
  const VariedRange range = parsed("--vary", [&] { return parse_varied_range(arguments.varied); });
  fit.varied = range.name;
  if (range.name == kFitCapacity && range.least) {
    throw UsageError("--vary capacity takes no range: every GPU that could hold it is tried");
  }
  fit.least = range.least;
  fit.most = range.most;
}

void take_gpus(FitArguments& arguments) {
  for (const std::string& text : arguments.gpus) {
    if (asks_for_cuda(text)) {
      throw UsageError(
          "--gpu cuda: ohm fit needs virtual GPUs, since it tries more memory than a card has. ohm "
          "verify-device FILES --write-profile card.json writes a profile of this computer's card, "
          "for --gpu card.json");
    }
    const std::vector<GpuSelection> selected = gpu_selections(text);
    arguments.fit.gpus.insert(arguments.fit.gpus.end(), selected.begin(), selected.end());
  }
}

int print_fit(const FitArguments& arguments, ReportOutputs& outputs,
              const engine::FinishedFit& finished) {
  const std::string errors =
      outputs.try_write([&](std::string_view /*format*/, bool /*on_stdout*/) {
        return reports::fit_json(finished.result);
      });
  if (!outputs.uses_stdout()) {
    print_text(reports::fit_text(finished.result, report_style(arguments.style)));
  }
  if (!errors.empty()) throw UsageError(errors);
  return finished.exit_code();
}

std::vector<std::unique_ptr<const engine::Checkpoint>> opened_checkpoints(
    const std::vector<std::string>& known,
    const std::function<engine::CheckpointedWork(const engine::Shard&)>& described) {
  std::vector<std::unique_ptr<const engine::Checkpoint>> checkpoints;
  for (std::size_t i = 0; i < known.size(); ++i) {
    checkpoints.push_back(parsed("--resume", [&] {
      return std::make_unique<const engine::Checkpoint>(known[i], described({i, known.size()}),
                                                        engine::CheckpointUse::reads);
    }));
  }
  return checkpoints;
}

engine::FinishedFit interrupted_by(int signal) {
  engine::FinishedFit interrupted;
  interrupted.signal = signal;
  interrupted.result.exit_reason = ExitReason::interrupted;
  return interrupted;
}

std::function<int()> setup_fit(const OptionParser& parser, const Environment& environment) {
  const auto arguments = std::make_shared<FitArguments>();
  add_question(parser, *arguments);
  add_the_rest(parser, *arguments);
  return [arguments, parser, &environment] {
    if (environment.program.empty()) {
      return are_recordings(arguments->fit.run.files) ? fit_recorded(*arguments, parser)
                                                      : fit(*arguments, environment);
    }
    return fit_program(*arguments, parser, environment);
  };
}

}  // namespace ohm::cli
