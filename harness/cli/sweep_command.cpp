#include "harness/cli/sweep_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocator_shim/base/nearest_name.h"
#include "harness/cli/cuda_options.h"
#include "harness/cli/launcher_option.h"
#include "harness/cli/option_values.h"
#include "harness/cli/program_sweep.h"
#include "harness/cli/report_outputs.h"
#include "harness/cli/resume_option.h"
#include "harness/cli/run_options.h"
#include "harness/cli/shard_option.h"
#include "harness/cli/style_options.h"
#include "harness/cli/sweep_arguments.h"
#include "harness/cli/terminal.h"
#include "harness/run/input_files.h"
#include "harness/run/shard_work.h"
#include "harness/sweep/minimum_memory.h"
#include "harness/sweep/sweep.h"
#include "reports/console/minimum_text.h"
#include "reports/console/sweep_text.h"
#include "reports/json/minimum_json.h"
#include "reports/json/result_reader.h"
#include "reports/model/exit_code.h"

namespace ohm::cli {

namespace {

/// What is failed when nothing else is asked for: problems are meant to fail.
constexpr std::array<std::string_view, 2> kSweptRoles = {"mitigation", "control"};

template <class Value>
struct Choice {
  std::string_view name;
  Value value;
};

template <class Value, std::size_t Size>
Value chosen(const char* option, const std::string& text,
             const std::array<Choice<Value>, Size>& choices) {
  std::string names;
  for (const Choice<Value>& choice : choices) {
    if (choice.name == text) return choice.value;
    if (choice.name.empty()) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", choice.name);
  }
  throw UsageError(fmt::format("{} must be one of {}, not \"{}\"", option, names, text));
}

FaultLevel level_named(const std::string& text) {
  const auto* const known = std::find(kFaultLevelNames.begin(), kFaultLevelNames.end(), text);
  if (known == kFaultLevelNames.end()) {
    throw UsageError(fmt::format("--level must be one of {}, not \"{}\"",
                                 fmt::join(kFaultLevelNames, ", "), text));
  }
  return static_cast<FaultLevel>(known - kFaultLevelNames.begin());
}

/// Throws for a role that no variant can have.
void check_roles(const std::vector<std::string>& roles) {
  std::vector<std::string> known;
  for (const RoleName& role : kRoleNames) known.emplace_back(role.name);
  for (const std::string& text : roles) {
    if (is_role_name(text)) continue;
    throw UsageError(fmt::format("--role must be one of {}, not \"{}\"{}", fmt::join(known, ", "),
                                 text, did_you_mean(text, known)));
  }
}

/// Throws for what cannot be done on real cards.
void check_on_cuda(const SweepArguments& arguments) {
  if (arguments.sweep.trials.engine == engine::SweepEngine::fork) {
    throw UsageError(
        "--gpu cuda: a forked process cannot use the card's context: use --engine exec, the "
        "default on a card");
  }
  if (arguments.bytes) {
    throw UsageError(
        "--gpu cuda: --bytes searches virtual GPUs; ohm run --gpu cuda --limit SIZE tries one size "
        "on a card");
  }
}

void check(SweepArguments& arguments) {
  engine::SweepOptions& sweep = arguments.sweep;
  refuse_program_options(arguments);
  require_files(sweep.run);
  check_launcher(arguments.launcher, arguments.resume, arguments.shard);
  check_cuda_options(sweep.run, arguments.launcher.cards());
  check_run_options(sweep.run);
  const bool is_on_cuda = sweep.run.cuda.has_value();
  check_card_types(arguments.launcher, is_on_cuda);
  if (arguments.engine.empty() && is_on_cuda) arguments.engine = "exec";
  take_faults(arguments);
  if (is_on_cuda) check_on_cuda(arguments);
  check_roles(arguments.roles);
  std::vector<std::string>& cases = sweep.run.selection.cases;
  cases.insert(cases.end(), arguments.roles.begin(), arguments.roles.end());
  if (cases.empty()) cases.assign(kSweptRoles.begin(), kSweptRoles.end());
  if (arguments.json) arguments.reports.emplace_back("json=-");
  check_reports_of_card_types(arguments.launcher, arguments.reports);
}

/// Shards deal out their work by all of its lines.
void check_undamaged(const engine::Checkpoint& plan, const std::string& path) {
  const std::size_t damaged = plan.damaged_lines();
  if (damaged == 0) return;
  throw std::invalid_argument(
      fmt::format("{}: {} of its lines {} damaged: remove it, and write it again with --write-plan",
                  path, damaged, damaged == 1 ? "is" : "are"));
}

/// What was found without faults for all shards; null: nothing is known.
std::unique_ptr<const engine::Checkpoint> opened_plan(const SweepArguments& arguments) {
  if (arguments.plan.empty()) return nullptr;
  return parsed("--plan", [&] {
    auto plan = std::make_unique<engine::Checkpoint>(
        arguments.plan, engine::planned_work(arguments.sweep), engine::CheckpointUse::reads);
    check_undamaged(*plan, arguments.plan);
    if (engine::is_whole_plan(*plan)) return plan;
    throw std::invalid_argument(
        fmt::format("{} is not finished: run the same command with --write-plan to complete it",
                    arguments.plan));
  });
}

/// The signal that ended it; 0: none.
int write_plan(const std::string& path, const SweepArguments& arguments,
               const Environment& environment) {
  engine::Checkpoint plan(path, engine::planned_work(arguments.sweep));
  check_undamaged(plan, path);
  const int signal = engine::run_without_faults(arguments.sweep, environment.loader, plan);
  if (!plan.lack().empty()) throw std::invalid_argument(plan.lack());
  return signal;
}

int find_minimum(const SweepArguments& arguments, const Environment& environment,
                 const reports::ReportStyle& style) {
  const bool is_json = arguments.json;
  if (arguments.reports.size() > (is_json ? 1U : 0U)) {
    throw UsageError("--bytes prints its table, or JSON with --json; it has no other report");
  }
  const engine::MinimumOutcome outcome =
      engine::find_minimum_memory(arguments.sweep.run, environment.loader);
  const MinimumResult& result = outcome.result;
  if (is_json) {
    print_text(reports::minimum_json(result), reports::kAsJson);
  } else {
    print_text(reports::minimum_text(result, style));
  }
  return outcome.exit_code();
}

int launched_sweep_of_scenarios(const SweepArguments& arguments, const Environment& environment,
                                ReportOutputs& outputs, const reports::ReportStyle& style) {
  LaunchedCommand command{"sweep", environment.words, {}, arguments.resume, {}, {}};
  // Relative to the folder of the launcher, as all of its words are.
  const std::string plan = arguments.resume + "/plan";
  // What a card does without faults, this machine may not be able to find out.
  const bool is_planned = !arguments.sweep.run.cuda.has_value();
  if (is_planned) command.more = {"--plan", plan};
  command.described = [&](const engine::Shard& shard) {
    engine::SweepOptions of_shard = arguments.sweep;
    of_shard.shard = shard;
    return engine::checkpointed_work(of_shard);
  };
  command.prepare = [&] { return is_planned ? write_plan(plan, arguments, environment) : 0; };
  return launched_sweep(arguments.launcher, command, outputs, style);
}

int sweep(SweepArguments arguments, const Environment& environment) {
  check(arguments);
  check_cases_declared(arguments.sweep.run, environment);
  check_parameters_declared(arguments.sweep.run, environment);
  const reports::ReportStyle style = report_style(arguments.style);
  if (arguments.bytes) return find_minimum(arguments, environment, style);
  OutputPaths paths(engine::input_files(arguments.sweep.run));
  if (!arguments.plan_to_write.empty()) {
    const bool asks_for_more =
        !arguments.reports.empty() || !arguments.resume.empty() || arguments.launcher.is_used();
    if (asks_for_more) {
      throw UsageError(
          "--write-plan injects no faults: use reports, --resume and --launcher with the sweep "
          "that reads the plan (--plan)");
    }
    paths.add("--write-plan " + arguments.plan_to_write, arguments.plan_to_write);
    const int signal = parsed("--write-plan", [&] {
      return write_plan(arguments.plan_to_write, arguments, environment);
    });
    return process_code(signal == 0 ? ExitReason::passed : ExitReason::interrupted, signal);
  }
  if (!arguments.resume.empty() && !arguments.launcher.is_used())
    paths.add("--resume " + arguments.resume, arguments.resume);
  ReportOutputs outputs = sweep_outputs(arguments.reports, paths);
  if (arguments.launcher.is_used()) {
    return launched_sweep_of_scenarios(arguments, environment, outputs, style);
  }
  SweepPrinter printer(style, !outputs.uses_stdout(),
                       !arguments.style.quiet && is_stderr_animated());
  const auto checkpoint = opened_checkpoint(
      arguments.resume, [&] { return engine::checkpointed_work(arguments.sweep); });
  arguments.sweep.run.checkpoint = checkpoint.get();
  const auto plan = opened_plan(arguments);
  arguments.sweep.fault_free = plan.get();
  const engine::SweepOutcome outcome =
      engine::run_sweep(arguments.sweep, environment.loader, printer);
  const std::string errors = outputs.try_write(render_sweep(outcome.result));
  printer.on_end(outcome.result);
  tell_lack(checkpoint.get());
  if (!errors.empty()) throw UsageError(errors);
  return outcome.exit_code();
}

void add_faults(const OptionParser& parser, SweepArguments& arguments) {
  parser
      .add_option("--role", arguments.roles,
                  "Only variants of this role (default: mitigations and controls); repeatable")
      .type_name("ROLE")
      .one_value_each();
  Option plan = parser
                    .add_option("--plan", arguments.plan,
                                "Plan from --write-plan, shared by all shards: fault-free runs are "
                                "not repeated, and shards are balanced by cost")
                    .type_name("PATH");
  Option plan_to_write = parser
                             .add_option("--write-plan", arguments.plan_to_write,
                                         "Only do the fault-free runs, and write the plan that the "
                                         "shards of the same command share to this file")
                             .type_name("PATH")
                             .excludes(plan);
  // What --bytes fails are whole variants, by their memory.
  const std::initializer_list<Option> of_faults = {
      parser
          .add_option("--points", arguments.points,
                      "Calls to fail: spread (the first, a middle and the last one at each point "
                      "of the program, while the additional ones cost no more than the first ones; "
                      "default), unique (the first one at each), all, sample=N")
          .type_name("WHICH"),
      parser
          .add_option("--form", arguments.form,
                      "How they fail: transient (once), persistent (that call and all later ones), "
                      "both (default: both with spread, otherwise transient)")
          .type_name("FORM"),
      parser
          .add_option("--level", arguments.level,
                      "Kind of call: request, segment, map, pinned, workspace or collective")
          .type_name("LEVEL"),
      parser.add_flag("--host", arguments.sweep.filter.host,
                      "Fail the runtime's requests for host memory too"),
      parser
          .add_option("--depth", arguments.sweep.trials.depth,
                      "2: after a transient failure, a second one at every point that follows")
          .type_name("N"),
      parser
          .add_option(
              "--engine", arguments.engine,
              "fork (runs in turn, or copies of one run) or exec (a process for each fault) "
              "(default: fork; exec on real cards)")
          .type_name("NAME"),
      add_shard_option(parser, arguments.shard, "faults"),
      add_resume_option(parser, arguments.resume),
      plan};
  Option bytes = parser.add_flag(
      "--bytes", arguments.bytes,
      "Find the minimum memory with which each variant passes, and what fails below it");
  for (Option option : of_faults) bytes.excludes(option);
  plan_to_write.excludes(bytes);
}

void add_output(const OptionParser& parser, SweepArguments& arguments) {
  parser
      .add_option("--report", arguments.reports,
                  "Write a report: json=PATH, html=PATH (heat maps), or stacks=PATH (points under "
                  "no handler, collapsed "
                  "stacks for a flame graph); - for standard output; repeatable")
      .type_name("NAME=PATH")
      .one_value_each();
  parser.add_flag("--json", arguments.json, "The same as --report json=- (ohm.sweep/1)");
  add_color_option(parser, arguments.style);
  Option quiet =
      add_quiet_option(parser, arguments.style, "Print only bad verdicts and the summary");
  add_verbose_option(parser, arguments.style, "Print every point that no handler covers")
      .excludes(quiet);
}

}  // namespace

void take_faults(SweepArguments& arguments) {
  engine::SweepOptions& sweep = arguments.sweep;
  sweep.points = parsed("--points", [&] { return engine::parse_point_choice(arguments.points); });
  using Forms = std::vector<FaultForm>;
  sweep.forms =
      chosen("--form", arguments.form,
             std::array{Choice<Forms>{"transient", {FaultForm::transient}},
                        Choice<Forms>{"persistent", {FaultForm::persistent}},
                        Choice<Forms>{"both", {FaultForm::transient, FaultForm::persistent}},
                        Choice<Forms>{"", sweep.points.forms()}});
  using engine::SweepEngine;
  if (arguments.engine.empty()) arguments.engine = "fork";
  sweep.trials.engine = chosen("--engine", arguments.engine,
                               std::array{Choice<SweepEngine>{"fork", SweepEngine::fork},
                                          Choice<SweepEngine>{"exec", SweepEngine::exec}});
  sweep.filter.level = level_named(arguments.level);
  sweep.shard = chosen_shard(arguments.shard);
  if (sweep.trials.depth < 1 || sweep.trials.depth > 2) throw UsageError("--depth must be 1 or 2");
}

int launched_sweep(const LauncherOptions& launcher, const LaunchedCommand& command,
                   ReportOutputs& outputs, const reports::ReportStyle& style) {
  const LaunchedReport report = launched_report(launcher, command);
  if (report.signal != 0) return process_code(ExitReason::interrupted, report.signal);
  ExitReason worst = ExitReason::passed;
  std::string errors;
  for (const MergedShards& merged : report.merged) {
    const SweepResult result = reports::read_whole_sweep(merged.json);
    SweepPrinter printer(style, !outputs.uses_stdout(), /*shows_progress=*/false);
    if (report.merged.size() > 1) print_text(merged.card_type + "\n");
    for (const SweptScenario& scenario : result.scenarios) printer.on_scenario(scenario);
    // Of several types there are none but those in the folder.
    errors += outputs.try_write(render_sweep(result));
    printer.on_end(result);
    worst = worse_of(worst, result.exit_reason);
  }
  if (!errors.empty()) throw UsageError(errors);
  return process_code(worst, 0);
}

void SweepPrinter::on_progress(std::size_t finished, std::size_t total) {
  progress_.show(finished, total);
}

void SweepPrinter::on_scenario(const SweptScenario& scenario) {
  progress_.erase();
  if (prints_) print_text(reports::sweep_scenario_text(scenario, style_));
}

void SweepPrinter::on_end(const SweepResult& result) {
  progress_.erase();
  if (prints_) print_text(reports::sweep_summary_text(result, style_));
}

std::function<int()> setup_sweep(const OptionParser& parser, const Environment& environment) {
  const auto arguments = std::make_shared<SweepArguments>();
  add_selection_options(parser, arguments->sweep.run);
  add_faults(parser, *arguments);
  add_program_options(parser, *arguments);
  add_run_options(parser, arguments->sweep.run, engine::RunCommand::sweep);
  add_jobs_option(parser, arguments->sweep.run.jobs);
  add_launcher_options(parser, arguments->launcher);
  add_card_types_option(parser, arguments->launcher);
  add_cuda_footer(parser);
  add_output(parser, *arguments);
  return [arguments, parser, &environment] {
    if (environment.program.empty()) return sweep(*arguments, environment);
    return sweep_program(*arguments, parser, environment);
  };
}

}  // namespace ohm::cli
