#include "harness/cli/run_command.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "allocator_shim/caching/settings.h"
#include "allocator_shim/fault/fault_plan.h"
#include "allocator_shim/observe/format_bytes.h"
#include "allocator_shim/observe/nearest_name.h"
#include "harness/cli/progress_line.h"
#include "harness/cli/report_outputs.h"
#include "harness/cli/terminal.h"
#include "harness/engine/runner.h"
#include "reports/console_report.h"
#include "reports/text_layout.h"

namespace ohm::cli {

namespace {

struct RunArguments {
  engine::RunOptions run;
  std::vector<std::string> reports;
  std::vector<std::string> settings;  ///< NAME=VALUE
  std::string color = "auto";
  std::string script_memory = "1GiB";
  std::optional<std::string> snapshot;
  bool json = false;
  bool history = false;
  bool quiet = false;
  bool verbose = false;
};

int usable_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  return ::sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
}

/// The parser takes -1 for the largest number that there is.
CLI::Validator not_negative() {
  return {[](const std::string& text) {
            return text.starts_with('-') ? fmt::format("\"{}\" is negative", text) : std::string();
          },
          "", "not negative"};
}

CLI::Validator not_empty() {
  return {[](const std::string& text) { return text.empty() ? "is empty" : std::string(); }, "",
          "not empty"};
}

/// Calls `parse`; what it finds wrong about an option is a usage error.
template <class Parse>
decltype(auto) parsed(const char* option, Parse&& parse) {
  try {
    return parse();
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("{}: {}", option, error.what()));
  }
}

/// PyTorch's own variables, the first one that is set; said aloud, for they change the figures.
void take_environment(engine::RunOptions& run, const RuleSet& rules) {
  for (const char* variable : {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"}) {
    const char* const text = std::getenv(variable);
    if (text == nullptr) continue;
    parsed(variable, [&] { return parse_settings(text, rules); });
    run.environment_alloc_conf = text;
    if (*text != '\0') fmt::print(stderr, "ohm: allocator settings from {}: {}\n", variable, text);
    return;
  }
}

/// NAME=VALUE. Throws std::invalid_argument.
std::pair<std::string, double> parse_setting(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const std::string number = equals == std::string::npos ? "" : text.substr(equals + 1);
  double value = 0;
  const char* const end = number.data() + number.size();
  const auto [rest, wrong] = std::from_chars(number.data(), end, value);
  if (name.empty() || number.empty() || wrong != std::errc() || rest != end ||
      !std::isfinite(value)) {
    throw std::invalid_argument(fmt::format("\"{}\" is not NAME=NUMBER, as in batch=64", text));
  }
  return {name, value};
}

void check(RunArguments& arguments) {
  engine::RunOptions& run = arguments.run;
  if (run.files.empty())
    throw UsageError("name the scenarios to run, as in ohm run scenarios/*.lua");
  if (!run.gpu_text.empty()) {
    run.gpu = parsed("--gpu", [&] { return parse_gpu_selection(run.gpu_text); });
  }
  const RuleSet& rules =
      parsed("--rules", [&]() -> const RuleSet& { return rule_set_or_default(run.rules); });
  if (run.alloc_conf) {
    parsed("--alloc-conf", [&] { return parse_settings(*run.alloc_conf, rules); });
  } else {
    take_environment(run, rules);
  }
  for (const std::string& text : arguments.settings) {
    const auto [name, value] = parsed("--set", [&] { return parse_setting(text); });
    run.parameters[name] = value;
  }
  if (!run.fault.empty()) parsed("--fault", [&] { return FaultPlan::parse(run.fault); });
  run.caps.memory_bytes =
      parsed("--script-memory", [&] { return parse_bytes(arguments.script_memory); });
  if (run.jobs < 1) throw UsageError("--jobs is at least 1");
  if (!(run.timeout_seconds >= 0)) throw UsageError("--timeout is a number of seconds, 0 for none");
  if (arguments.snapshot) {
    run.snapshots =
        parsed("--snapshot", [&] { return engine::SnapshotPaths(*arguments.snapshot, run.files); });
  }
  if (arguments.json) arguments.reports.emplace_back("json=-");
}

reports::ReportStyle style_of(const RunArguments& arguments) {
  reports::ReportStyle style;
  style.color = wants_color(arguments.color);
  style.columns = terminal_columns();
  if (arguments.quiet) style.detail = reports::Detail::quiet;
  if (arguments.verbose) style.detail = reports::Detail::verbose;
  return style;
}

/// What is written must not take the place of what is run, nor of what else is written.
class OutputPaths {
 public:
  explicit OutputPaths(std::vector<std::string> taken) : taken_(std::move(taken)) {}

  /// `option` is how the user said it.
  void add(const std::string& option, const std::string& path) {
    if (path.empty() || path == "-" || path.starts_with("/dev/")) return;
    for (const std::string& other : taken_) {
      std::error_code unknown;
      const auto mine = std::filesystem::weakly_canonical(path, unknown);
      if (unknown || mine != std::filesystem::weakly_canonical(other, unknown)) continue;
      throw UsageError(fmt::format("{}: this run reads or writes {} already", option, other));
    }
    taken_.push_back(path);
  }

 private:
  std::vector<std::string> taken_;
};

void check_output_paths(const RunArguments& arguments) {
  OutputPaths paths(arguments.run.files);
  for (const std::string& report : arguments.reports) {
    paths.add("--report " + report, report.substr(std::min(report.find('=') + 1, report.size())));
  }
  const engine::SnapshotPaths& snapshots = arguments.run.snapshots;
  if (snapshots.empty() || snapshots.tells_variants_apart()) return;
  for (const std::string& file : std::set(arguments.run.files.begin(), arguments.run.files.end())) {
    paths.add("--snapshot " + snapshots.text(), snapshots.path_for(file, ""));
  }
}

/// Prints scenarios as they come, and a progress line where people wait.
class TableObserver final : public engine::RunObserver {
 public:
  TableObserver(const reports::ReportStyle& style, bool prints_table, bool shows_progress)
      : style_(style), prints_table_(prints_table), progress_(shows_progress) {}

  void on_progress(std::size_t finished, std::size_t total) override {
    progress_.show(finished, total);
  }
  void on_scenario(const ScenarioResult& scenario) override {
    progress_.erase();
    print(reports::console_scenario(scenario, style_));
  }
  void on_end(const RunResult& result) {
    progress_.erase();
    print(reports::console_summary(result, style_));
  }

  /// Why the table could not be printed; empty when it was.
  const std::string& error() const { return error_; }

 private:
  /// A table that nobody can read must not end the run: there may be reports to write.
  void print(const std::string& text) {
    if (!prints_table_ || !error_.empty()) return;
    try {
      write_stdout(text);
    } catch (const UsageError& error) {
      error_ = error.what();
    }
  }

  const reports::ReportStyle& style_;
  bool prints_table_;
  ProgressLine progress_;
  std::string error_;
};

/// Why nothing ran: a case that no scenario has, with the name that may have been meant.
std::string nothing_selected_text(const RunArguments& arguments, const Environment& environment) {
  std::vector<std::string> known;
  for (const engine::ListedScenario& one :
       engine::list_scenarios(arguments.run, environment.loader)) {
    for (const engine::VariantDescription& variant : one.description.variants) {
      known.push_back(variant.name);
    }
  }
  for (const RoleName& role : kRoleNames) known.emplace_back(role.name);
  for (const std::string& name : arguments.run.selection.cases) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return fmt::format("no variant and no role is called \"{}\"{}", name,
                       did_you_mean(name, known));
  }
  return "nothing is selected; ohm list prints what there is to select";
}

int run(RunArguments arguments, const Environment& environment) {
  check(arguments);
  check_output_paths(arguments);
  ReportOutputs outputs(arguments.reports);
  arguments.run.recording = arguments.history ? Recording::history : outputs.recording();
  const reports::ReportStyle style = style_of(arguments);
  TableObserver observer(style, !outputs.uses_stdout(), !arguments.quiet && is_stderr_animated());
  const engine::RunOutcome outcome =
      engine::run_scenarios(arguments.run, environment.loader, observer);
  std::string errors = fmt::format("{}", fmt::join(outcome.errors, "\n"));
  const std::string report_errors = outputs.write(outcome.result, style);
  if (!errors.empty() && !report_errors.empty()) errors += '\n';
  errors += report_errors;
  observer.on_end(outcome.result);
  if (outcome.result.exit_reason == ExitReason::nothing_selected) {
    print_error(reports::printable(nothing_selected_text(arguments, environment)));
  }
  if (!errors.empty()) throw UsageError(errors);
  if (!observer.error().empty()) throw UsageError(observer.error());
  return outcome.exit_code();
}

void add_selection(CLI::App& app, RunArguments& arguments) {
  engine::RunOptions& run = arguments.run;
  app.add_option("FILES", run.files, "Scenario files")->type_name("");
  app.add_option("--case", run.selection.cases,
                 "Only this variant, or all of this role; repeatable")
      ->type_name("NAME|ROLE")
      ->allow_extra_args(false);
  app.add_option("--filter", run.selection.filter,
                 "Only scenario.variant that match, as GoogleTest's filters ('*leak*:-*.item')")
      ->type_name("PATTERN");
  app.add_flag("--fail-fast", run.fail_fast, "Stop after the first scenario that does not pass");
}

void add_execution(CLI::App& app, RunArguments& arguments) {
  engine::RunOptions& run = arguments.run;
  app.add_option("--gpu", run.gpu_text, "Run on these GPUs instead (ohm gpus lists them)")
      ->type_name("NAME[,capacity=SIZE][,count=N]");
  app.add_option("--alloc-conf", run.alloc_conf,
                 "Allocator settings instead, as PYTORCH_CUDA_ALLOC_CONF spells them")
      ->type_name("KEY:VALUE,...");
  app.add_option("--rules", run.rules, "Which PyTorch's allocator instead (pytorch-2.6)")
      ->type_name("NAME");
  app.add_flag("--size-only", run.size_only,
               "Keep sizes, not values: the same bytes in a fraction of the time");
  app.add_option("--set", arguments.settings,
                 "Give a number that the scenario declares another value; repeatable")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  app.add_option("--fault", run.fault, "Fail allocations as this plan says (ohm list --faults)")
      ->type_name("PLAN")
      ->check(not_empty());
  app.add_option("--seed", run.seed, "Of everything random; 0 unless given")
      ->type_name("N")
      ->check(not_negative());
  app.add_option("-j,--jobs", run.jobs, "Variants at once; as many as cores unless given")
      ->type_name("N");
  app.add_option("--timeout", run.timeout_seconds, "For each variant, 0 for none; 60 unless given")
      ->type_name("SECONDS");
  app.add_option("--instructions", run.caps.instructions,
                 "Instructions a script may execute; 1000000000 unless given")
      ->type_name("N")
      ->check(not_negative());
  app.add_option("--script-memory", arguments.script_memory,
                 "Memory of a script's own objects; 1GiB unless given")
      ->type_name("SIZE");
}

void add_output(CLI::App& app, RunArguments& arguments) {
  app.add_option("--report", arguments.reports,
                 "Write a report (ohm list --reporters), - for standard output; repeatable")
      ->type_name("NAME=PATH")
      ->allow_extra_args(false);
  app.add_flag("--json", arguments.json, "The same as --report json=-");
  app.add_flag("--history", arguments.history,
               "Put what every block did into the JSON, for ohm report to draw later");
  app.add_option("--snapshot", arguments.snapshot,
                 "Write what the GPUs hold at the end and did, for pytorch.org/memory_viz: a path, "
                 "with {scenario} and {variant} where there are several, or a folder")
      ->type_name("PATH");
  app.add_flag("--timestamps", arguments.run.timestamps,
               "Put wall times into the reports, which then differ from run to run");
  app.add_option("--color", arguments.color, "auto, always or never")->type_name("WHEN");
  CLI::Option* quiet =
      app.add_flag("-q,--quiet", arguments.quiet, "Only what failed, and the summary");
  app.add_flag("-v,--verbose", arguments.verbose, "Every limit and out-of-memory error")
      ->excludes(quiet);
}

}  // namespace

std::function<int()> setup_run(CLI::App& app, const Environment& environment) {
  const auto arguments = std::make_shared<RunArguments>();
  arguments->run.jobs = usable_cores();
  add_selection(app, *arguments);
  add_execution(app, *arguments);
  add_output(app, *arguments);
  return [arguments, &environment] { return run(*arguments, environment); };
}

}  // namespace ohm::cli
