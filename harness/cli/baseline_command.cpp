#include "harness/cli/baseline_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "allocator_shim/base/input_file.h"
#include "harness/cli/option_values.h"
#include "harness/cli/run_options.h"
#include "harness/cli/run_progress.h"
#include "harness/cli/scenario_option.h"
#include "harness/cli/style_options.h"
#include "harness/cli/terminal.h"
#include "harness/gate/baseline_check.h"
#include "harness/process/git_revision.h"
#include "harness/process/shell_quote.h"
#include "harness/run/runner.h"
#include "reports/console/result_diff_text.h"
#include "reports/json/result_input.h"
#include "reports/text/paint.h"
#include "reports/text/text_layout.h"

namespace ohm::cli {

namespace {

namespace fs = std::filesystem;
using engine::Baseline;
using engine::BaselineCheck;
using State = engine::BaselineCheck::State;

struct BaselineArguments {
  std::string action;
  std::vector<std::string> files;
  std::string against;
  StyleOptions style;
  engine::RunOptions run;  ///< of which the command has some rows, and the jobs
  bool ratchet = false;
  bool force = false;
};

bool begins_as_json(const std::string& file) {
  try {
    InputFile input(file);
    return input.bytes() && input.beginning(1) == "{";
  } catch (const std::system_error&) {
    return false;  // what reads it says why
  }
}

/// The command that writes this report, made of the one that repeats it.
std::string report_command(const RunResult& result, const std::string& file) {
  std::string command = "ohm exec -- " + result.command->command;
  const bool has_variant = !result.scenarios.empty() && !result.scenarios.front().variants.empty();
  if (has_variant) command = result.scenarios.front().variants.front().rerun;
  const std::size_t end = std::min(command.find(" -- "), command.size());
  return command.insert(end, " --report json=" + engine::shell_quoted(file));
}

/// A report is a baseline as it is: there is nothing to update it from but its command.
void refuse_report(const std::string& file) {
  if (!begins_as_json(file)) return;
  const RunResult result = reports::read_result_or_snapshot(file);
  if (result.command) {
    throw UsageError(
        fmt::format("{}: is a report of ohm exec, which ohm exec --baseline {} takes as it is; to "
                    "update it, run: {}",
                    file, engine::shell_quoted(file), report_command(result, file)));
  }
  const std::string scenario =
      result.scenarios.empty() ? "scenarios/x.lua" : result.scenarios.front().file;
  throw UsageError(
      fmt::format("{}: is the result of ohm run; name the scenario: ohm baseline update {}", file,
                  engine::shell_quoted(scenario)));
}

engine::RunOutcome measured(const std::vector<std::string>& files,
                            const BaselineArguments& arguments, const Environment& environment) {
  engine::RunOptions options = arguments.run;
  // A snapshot has been measured.
  std::vector<std::string> snapshots;
  for (const std::string& file : files) {
    refuse_report(file);
    (reports::is_pickle(file) ? snapshots : options.files).push_back(file);
  }
  options.recording = Recording::peaks;
  engine::RunOutcome outcome;
  if (!options.files.empty()) {
    RunProgress progress(is_stderr_animated());
    outcome = engine::run_scenarios(options, environment.loader, progress);
  }
  for (const std::string& file : snapshots) {
    RunResult one = reports::read_result_or_snapshot(file);
    outcome.result.scenarios.push_back(std::move(one.scenarios.front()));
  }
  return outcome;
}

/// Did not come to an end of its own: its figures are those of the moment when it was ended.
bool is_cut_short(const VariantResult& variant) {
  return variant.outcome == Outcome::timeout || variant.outcome == Outcome::crashed;
}

/// Says what could not run, or not to its end: what that means for the command is what it means for
/// `ohm run`. What a variant should have done is none of a baseline's business.
ExitReason print_errors(const RunResult& result) {
  for (const ScenarioResult& scenario : result.scenarios) {
    if (scenario.error) print_error(reports::printable(scenario.error->message));
    for (const VariantResult& variant : scenario.variants) {
      if (variant.verdict != Verdict::error && !is_cut_short(variant)) continue;
      print_error(reports::printable(
          fmt::format("{}.{}: {}", scenario.name, variant.name, variant.reason)));
    }
  }
  return result.exit_reason == ExitReason::failed ? ExitReason::passed : result.exit_reason;
}

// ---- update -------------------------------------------------------------------------------------

bool is_ci() {
  const char* value = std::getenv("CI");
  return value != nullptr && *value != '\0' && std::string_view(value) != "false";
}

std::string old_text(const std::string& path, const ScenarioResult& scenario, bool color) {
  std::error_code unknown;
  if (!fs::exists(path, unknown)) return "";
  try {
    std::string out;
    for (const BaselineCheck& check :
         engine::check_baseline(engine::read_baseline(path), scenario, 0)) {
      if (check.state == State::equal) continue;
      if (check.diff.is_equal()) {
        out += fmt::format("{}.{}: {}\n", scenario.name, check.variant, check.reason);
        continue;
      }
      out += reports::diff_text(check.diff, color);
      if (!check.limits_changed.empty()) out += "  " + check.limits_changed + "\n";
    }
    return out;
  } catch (const engine::BaselineError& error) {
    return fmt::format("{}; it is rewritten\n", error.what());
  }
}

/// Not of a scenario with a variant that was cut short.
void write_baseline(const ScenarioResult& scenario, bool color) {
  const std::string path = engine::baseline_path(scenario.file);
  if (std::any_of(scenario.variants.begin(), scenario.variants.end(), is_cut_short)) {
    print_text(fmt::format("{}: not written\n", path));
    return;
  }
  const Baseline baseline = engine::baseline_of(scenario, 0);
  print_text(old_text(path, scenario, color));
  write_file(path, engine::baseline_text(baseline, scenario.file));
  print_text(fmt::format("{}: {} variants\n", path, baseline.variants.size()));
}

int update(const BaselineArguments& arguments, const Environment& environment) {
  if (is_ci() && !arguments.force) {
    throw UsageError(
        "CI is set: a baseline written by a job has not been reviewed; --force writes it anyway");
  }
  const bool color = wants_color(arguments.style.color);
  const engine::RunOutcome outcome = measured(arguments.files, arguments, environment);
  // What was not run to its end says nothing: the baselines that there are stay.
  if (outcome.signal != 0) return process_code(ExitReason::interrupted, outcome.signal);
  const ExitReason reason = print_errors(outcome.result);
  for (const ScenarioResult& scenario : outcome.result.scenarios) {
    if (!scenario.error) write_baseline(scenario, color);
  }
  return exit_code(reason).code;
}

// ---- check --------------------------------------------------------------------------------------

struct Look {
  const char* word;
  reports::Tone tone;
};

Look look_of(State state, bool ratchet) {
  switch (state) {
    case State::equal:
      return {"equal", reports::Tone::good};
    case State::improved:
      return {"improved", ratchet ? reports::Tone::bad : reports::Tone::good};
    case State::regressed:
      return {"regressed", reports::Tone::bad};
    case State::incomparable:
      return {"incomparable", reports::Tone::bad};
    case State::missing:
      return {"no baseline", reports::Tone::bad};
    case State::gone:
      return {"gone", reports::Tone::bad};
  }
  return {"", reports::Tone::plain};
}

/// Prints what differs; whether the gate holds.
bool print_checks(const ScenarioResult& scenario, const std::vector<BaselineCheck>& checks,
                  const std::string& source_change, const BaselineArguments& arguments) {
  const bool color = wants_color(arguments.style.color);
  bool holds = true;
  std::size_t equal = 0;
  std::string out;
  for (const BaselineCheck& check : checks) {
    const bool passes =
        check.state == State::equal || (check.state == State::improved && !arguments.ratchet);
    holds = holds && passes;
    equal += check.state == State::equal;
    if (check.state == State::equal) continue;
    const Look look = look_of(check.state, arguments.ratchet);
    out += reports::painted(look.word, look.tone, color) + "  ";
    if (check.diff.is_equal()) {
      out += fmt::format("{}.{}: {}\n", scenario.name, check.variant, check.reason);
    } else {
      out += reports::diff_text(check.diff, color);
      if (!check.limits_changed.empty()) out += "  " + check.limits_changed + "\n";
    }
    if (check.state == State::improved && arguments.ratchet) {
      out += "  keep it: run ohm baseline update\n";
    }
  }
  if (!holds && !source_change.empty()) out += reports::printable(source_change) + "\n";
  out += fmt::format("{}: {} of {} variants equal\n", scenario.file, equal, checks.size());
  print_text(out);
  return holds;
}

Baseline baseline_beside(const ScenarioResult& scenario) {
  const std::string path = engine::baseline_path(scenario.file);
  std::error_code unknown;
  return fs::exists(path, unknown) ? engine::read_baseline(path) : Baseline();
}

std::vector<BaselineCheck> checks_of(const ScenarioResult& scenario, const Baseline& baseline) {
  std::vector<BaselineCheck> checks = engine::check_baseline(baseline, scenario, 0);
  std::vector<std::string> names;
  for (const VariantResult& variant : scenario.variants) names.push_back(variant.name);
  for (BaselineCheck& gone : engine::gone_variants(baseline, names)) {
    checks.push_back(std::move(gone));
  }
  return checks;
}

int check_files(const BaselineArguments& arguments, const Environment& environment) {
  const engine::RunOutcome outcome = measured(arguments.files, arguments, environment);
  if (outcome.signal != 0) return process_code(ExitReason::interrupted, outcome.signal);
  ExitReason reason = print_errors(outcome.result);
  for (const ScenarioResult& scenario : outcome.result.scenarios) {
    if (scenario.error) continue;
    const Baseline baseline = baseline_beside(scenario);
    const std::string change = engine::source_change(baseline, scenario.file);
    if (!print_checks(scenario, checks_of(scenario, baseline), change, arguments)) {
      reason = worse_of(reason, ExitReason::failed);
    }
  }
  return exit_code(reason).code;
}

/// Throws RevisionError.
engine::RevisionFolder folder_at(const std::string& folder, const std::string& revision) {
  try {
    return {folder, revision};
  } catch (const engine::RevisionError& error) {
    throw engine::RevisionError(fmt::format("--against {}: {}", revision, error.what()));
  }
}

/// The scenarios of the revision are run by this program: what changed is what the scripts do.
int check_against(const BaselineArguments& arguments, const Environment& environment) {
  ExitReason reason = ExitReason::passed;
  std::map<std::string, std::vector<std::string>> by_folder;
  for (const std::string& file : arguments.files) {
    by_folder[fs::path(file).parent_path().string()].push_back(file);
  }
  for (const auto& [folder, files] : by_folder) {
    const engine::RevisionFolder old = folder_at(folder, arguments.against);
    std::vector<std::string> old_files;
    for (const std::string& file : files) {
      const fs::path path = fs::path(old.path()) / fs::path(file).filename();
      if (fs::exists(path)) old_files.push_back(path.string());
    }
    const engine::RunOutcome before = measured(old_files, arguments, environment);
    if (before.signal != 0) return process_code(ExitReason::interrupted, before.signal);
    const engine::RunOutcome after = measured(files, arguments, environment);
    if (after.signal != 0) return process_code(ExitReason::interrupted, after.signal);
    reason = worse_of(reason, worse_of(print_errors(before.result), print_errors(after.result)));
    for (const ScenarioResult& scenario : after.result.scenarios) {
      Baseline baseline;
      for (const ScenarioResult& one : before.result.scenarios) {
        if (one.name == scenario.name) baseline = engine::baseline_of(one, 0);
      }
      if (baseline.variants.empty()) {
        print_text(fmt::format("{}: not in {}\n", scenario.file, arguments.against));
        continue;
      }
      const auto checks = engine::check_baseline(baseline, scenario, 0);
      if (!print_checks(scenario, checks, "", arguments))
        reason = worse_of(reason, ExitReason::failed);
    }
  }
  return exit_code(reason).code;
}

// ---- show ---------------------------------------------------------------------------------------

int show(const BaselineArguments& arguments) {
  for (const std::string& file : arguments.files) {
    const std::string path = engine::baseline_path(file);
    const Baseline baseline = engine::read_baseline(path);
    std::string out = path + "\n";
    for (const auto& [name, variant] : baseline.variants) {
      for (const DeviceResult& device : variant.figures.devices) {
        out += fmt::format(
            "  {}  {}  peak {} B, reserved {} B, at the end {} B, {} segments, {} OOMs\n",
            reports::pad_right(name, 24), device.device, device.peak_allocated_bytes,
            device.peak_reserved_bytes, device.allocated_at_end_bytes, device.num_device_alloc,
            device.num_ooms);
      }
    }
    print_text(out);
  }
  return exit_code(ExitReason::passed).code;
}

int baseline(const BaselineArguments& arguments, const Environment& environment) {
  if (arguments.files.empty()) {
    throw UsageError("name the scenarios, as in ohm baseline check scenarios/*.lua");
  }
  check_run_values(arguments.run);
  if (!arguments.against.empty() && arguments.action != "check") {
    throw UsageError("--against is an option of ohm baseline check");
  }
  if (arguments.action == "update") return update(arguments, environment);
  if (arguments.action == "show") return show(arguments);
  if (arguments.action != "check") {
    throw UsageError(
        fmt::format("ohm baseline takes check, update or show, not \"{}\"", arguments.action));
  }
  return arguments.against.empty() ? check_files(arguments, environment)
                                   : check_against(arguments, environment);
}

}  // namespace

std::function<int()> setup_baseline(const OptionParser& parser, const Environment& environment) {
  const auto arguments = std::make_shared<BaselineArguments>();
  parser.add_option("ACTION", arguments->action, "check, update or show")
      .type_name("")
      .offers({"check", "update", "show"});
  add_scenario_files(parser, arguments->files,
                     "Scenarios, by name or file, or PyTorch memory snapshots");
  parser
      .add_option(
          "--against", arguments->against,
          "Compare with the scenarios at the merge base of HEAD and this git revision, run now")
      .type_name("REVISION");
  parser.add_flag("--ratchet", arguments->ratchet,
                  "Fail improvements too, until the baseline is updated");
  parser.add_flag("--force", arguments->force, "Update even though CI is set");
  add_run_options(parser, arguments->run, engine::RunCommand::baseline);
  add_jobs_option(parser, arguments->run.jobs);
  add_color_option(parser, arguments->style);
  return [arguments, &environment] { return baseline(*arguments, environment); };
}

}  // namespace ohm::cli
