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
#include "harness/cli/option_values.h"
#include "harness/cli/progress_line.h"
#include "harness/cli/report_outputs.h"
#include "harness/cli/run_options.h"
#include "harness/cli/shard_option.h"
#include "harness/cli/style_options.h"
#include "harness/cli/terminal.h"
#include "harness/run/input_files.h"
#include "harness/sweep/minimum_memory.h"
#include "harness/sweep/sweep.h"
#include "reports/console/minimum_text.h"
#include "reports/console/sweep_text.h"
#include "reports/json/minimum_json.h"

namespace ohm::cli {

namespace {

struct SweepArguments {
  engine::SweepOptions sweep;
  std::vector<std::string> roles;
  std::string points = "spread";
  std::string form;  ///< empty: as the points want it
  std::string level = "request";
  std::string engine;
  std::string shard;
  std::vector<std::string> reports;
  StyleOptions style;
  bool bytes = false;
  bool json = false;
};

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
  require_files(sweep.run);
  check_cuda_options(sweep.run);
  check_run_options(sweep.run);
  sweep.points = parsed("--points", [&] { return engine::parse_point_choice(arguments.points); });
  using Forms = std::vector<FaultForm>;
  sweep.forms =
      chosen("--form", arguments.form,
             std::array{Choice<Forms>{"transient", {FaultForm::transient}},
                        Choice<Forms>{"persistent", {FaultForm::persistent}},
                        Choice<Forms>{"both", {FaultForm::transient, FaultForm::persistent}},
                        Choice<Forms>{"", sweep.points.forms()}});
  using engine::SweepEngine;
  const bool is_on_cuda = sweep.run.cuda.has_value();
  if (arguments.engine.empty()) arguments.engine = is_on_cuda ? "exec" : "fork";
  sweep.trials.engine = chosen("--engine", arguments.engine,
                               std::array{Choice<SweepEngine>{"fork", SweepEngine::fork},
                                          Choice<SweepEngine>{"exec", SweepEngine::exec}});
  if (is_on_cuda) check_on_cuda(arguments);
  sweep.filter.level = level_named(arguments.level);
  sweep.shard = chosen_shard(arguments.shard);
  if (sweep.trials.depth < 1 || sweep.trials.depth > 2) throw UsageError("--depth must be 1 or 2");
  check_roles(arguments.roles);
  std::vector<std::string>& cases = sweep.run.selection.cases;
  cases.insert(cases.end(), arguments.roles.begin(), arguments.roles.end());
  if (cases.empty()) cases.assign(kSweptRoles.begin(), kSweptRoles.end());
  if (arguments.json) arguments.reports.emplace_back("json=-");
}

/// Prints scenarios as they come, and a progress line where people wait.
class SweepPrinter final : public engine::SweepObserver {
 public:
  SweepPrinter(const reports::ReportStyle& style, bool prints, bool shows_progress)
      : style_(style), prints_(prints), progress_(shows_progress) {}

  void on_progress(std::size_t finished, std::size_t total) override {
    progress_.show(finished, total);
  }
  void on_scenario(const SweptScenario& scenario) override {
    progress_.erase();
    if (prints_) print_text(reports::sweep_scenario_text(scenario, style_));
  }
  void on_end(const SweepResult& result) {
    progress_.erase();
    if (prints_) print_text(reports::sweep_summary_text(result, style_));
  }

 private:
  const reports::ReportStyle& style_;
  bool prints_;
  ProgressLine progress_;
};

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

int sweep(SweepArguments arguments, const Environment& environment) {
  check(arguments);
  check_cases_declared(arguments.sweep.run, environment);
  check_parameters_declared(arguments.sweep.run, environment);
  const reports::ReportStyle style = report_style(arguments.style);
  if (arguments.bytes) return find_minimum(arguments, environment, style);
  OutputPaths paths(engine::input_files(arguments.sweep.run));
  ReportOutputs outputs = sweep_outputs(arguments.reports, paths);
  SweepPrinter printer(style, !outputs.uses_stdout(),
                       !arguments.style.quiet && is_stderr_animated());
  const engine::SweepOutcome outcome =
      engine::run_sweep(arguments.sweep, environment.loader, printer);
  const std::string errors = outputs.try_write(render_sweep(outcome.result));
  printer.on_end(outcome.result);
  if (!errors.empty()) throw UsageError(errors);
  return outcome.exit_code();
}

void add_faults(CLI::App& app, SweepArguments& arguments) {
  app.add_option("--role", arguments.roles,
                 "Only variants of this role (default: mitigations and controls); repeatable")
      ->type_name("ROLE")
      ->allow_extra_args(false);
  // What --bytes fails are whole variants, by their memory.
  const std::initializer_list<CLI::Option*> of_faults = {
      app.add_option(
             "--points", arguments.points,
             "Calls to fail: spread (the first, a middle and the last one at each point of the "
             "program, as far as that costs no more than the first ones do; the default), unique "
             "(the "
             "first one at each), all, sample=N")
          ->type_name("WHICH"),
      app.add_option(
             "--form", arguments.form,
             "How they fail: transient (once), persistent (that call and all after it), both "
             "(default: both with spread, otherwise transient)")
          ->type_name("FORM"),
      app.add_option("--level", arguments.level,
                     "Kind of call: request, segment, map, pinned, workspace or collective")
          ->type_name("LEVEL"),
      app.add_flag("--host", arguments.sweep.filter.host,
                   "Fail the runtime's requests for host memory too"),
      app.add_option("--depth", arguments.sweep.trials.depth,
                     "2: after a transient failure, a second one at every point that follows")
          ->type_name("N"),
      app.add_option("--engine", arguments.engine,
                     "fork (runs in turn, or copies of one run) or exec (a process for each fault) "
                     "(default: fork; exec on real cards)")
          ->type_name("NAME"),
      add_shard_option(app, arguments.shard, "faults")};
  CLI::Option* bytes = app.add_flag(
      "--bytes", arguments.bytes,
      "Find the least memory with which each variant passes, and what fails with less");
  for (CLI::Option* option : of_faults) bytes->excludes(option);
}

void add_output(CLI::App& app, SweepArguments& arguments) {
  app.add_option("--report", arguments.reports,
                 "Write a report: json=PATH, html=PATH (heat maps), or stacks=PATH (points under "
                 "no handler, collapsed "
                 "stacks for a flame graph); - for standard output; repeatable")
      ->type_name("NAME=PATH")
      ->allow_extra_args(false);
  app.add_flag("--json", arguments.json, "The same as --report json=- (ohm.sweep/1)");
  add_color_option(app, arguments.style);
  CLI::Option* quiet =
      add_quiet_option(app, arguments.style, "Print only bad verdicts and the summary");
  add_verbose_option(app, arguments.style, "Print every point that no handler covers")
      ->excludes(quiet);
}

}  // namespace

std::function<int()> setup_sweep(CLI::App& app, const Environment& environment) {
  const auto arguments = std::make_shared<SweepArguments>();
  add_selection_options(app, arguments->sweep.run);
  add_faults(app, *arguments);
  add_run_options(app, arguments->sweep.run, engine::RunCommand::sweep);
  add_jobs_option(app, arguments->sweep.run.jobs);
  add_cuda_footer(app);
  add_output(app, *arguments);
  return [arguments, &environment] { return sweep(*arguments, environment); };
}

}  // namespace ohm::cli
