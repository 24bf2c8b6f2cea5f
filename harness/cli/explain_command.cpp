#include "harness/cli/explain_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/cli/option_values.h"
#include "harness/cli/run_options.h"
#include "harness/cli/run_progress.h"
#include "harness/cli/style_options.h"
#include "harness/cli/terminal.h"
#include "harness/cli/text_input.h"
#include "harness/cli/why_command.h"
#include "harness/run/runner.h"
#include "harness/scenario/opening_comment.h"
#include "harness/scenario/scenario_names.h"
#include "harness/scenario/scenario_program.h"
#include "harness/scenario/source_file.h"
#include "reports/console/explained_scenario.h"
#include "reports/console/oom_explanation.h"
#include "reports/console/why_text.h"
#include "reports/text/crash_log.h"
#include "reports/text/oom_message_parser.h"
#include "reports/text/text_layout.h"

namespace ohm::cli {

namespace {

namespace fs = std::filesystem;

struct ExplainArguments {
  engine::RunOptions run;
  std::vector<std::string> pitfalls;
  std::string message;
  bool has_message = false;  ///< which may be on standard input
  StyleOptions style;
  bool all = false;
  bool markdown = false;
};

// ---- a message ----------------------------------------------------------------------------------

int explain_message(const ExplainArguments& arguments) {
  const std::string text = read_text_input(arguments.message, "--message");
  const std::optional<reports::CrashLog> log = reports::parse_crash_log(text);
  if (log && !log->message) {
    print_text(reports::why_text(*log, terminal_columns()));
    return 0;
  }
  const reports::OomMessage message =
      parsed("--message", [&] { return log ? *log->message : reports::parse_oom_message(text); });
  const reports::Circumstances circumstances =
      log ? reports::circumstances_of(*log) : reports::Circumstances{};
  print_text(reports::explained_oom_message(message, circumstances, terminal_columns()));
  return 0;
}

// ---- pitfalls -----------------------------------------------------------------------------------

/// The file of the scenario; throws UsageError where no scenario has that name.
std::string file_of(const std::string& pitfall) {
  const std::string hint = why_hint(pitfall);
  if (!hint.empty()) throw UsageError(fmt::format("{} is not a pitfall{}", pitfall, hint));
  std::string file = engine::scenario_file(pitfall);
  const bool is_path = file != pitfall || !engine::is_scenario_name(pitfall);
  if (is_path || fs::exists(file)) return file;
  const std::string similar = engine::similar_scenario(pitfall);
  throw UsageError(
      fmt::format("unknown pitfall \"{}\"{}; ohm list prints them", pitfall,
                  similar.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", similar)));
}

reports::ExplainedScenario explained(const ScenarioResult& result) {
  reports::ExplainedScenario scenario;
  scenario.result = result;
  try {
    engine::OpeningComment comment = engine::opening_comment(engine::read_source_file(result.file));
    scenario.symptom = std::move(comment.symptom);
    scenario.cause = std::move(comment.cause);
    scenario.what_to_do = std::move(comment.what_to_do);
    scenario.chapter = std::move(comment.chapter);
    scenario.pytorch = std::move(comment.pytorch);
    scenario.keras = std::move(comment.keras);
  } catch (const engine::ScriptError&) {
    // The result says why the file could not be loaded.
  }
  return scenario;
}

void take_files(ExplainArguments& arguments) {
  if (arguments.all && !arguments.pitfalls.empty()) {
    throw UsageError("--all explains every pitfall: do not name any");
  }
  if (arguments.all) {
    arguments.run.files = engine::default_scenario_files();
    if (arguments.run.files.empty()) throw UsageError("there is no scenarios/*.lua here");
    return;
  }
  if (arguments.pitfalls.empty()) {
    throw UsageError("name a pitfall, as in ohm explain leaked_loss_graph; or --message, or --all");
  }
  for (const std::string& pitfall : arguments.pitfalls) {
    arguments.run.files.push_back(file_of(pitfall));
  }
}

int explain(ExplainArguments arguments, const Environment& environment) {
  if (arguments.has_message) {
    if (arguments.all || arguments.markdown || !arguments.pitfalls.empty()) {
      throw UsageError("--message takes neither pitfalls nor --all or --markdown");
    }
    return explain_message(arguments);
  }
  take_files(arguments);
  check_allocator_options(arguments.run);
  const reports::ReportStyle style = report_style(arguments.style);
  RunProgress progress(is_stderr_animated());
  const engine::RunOutcome outcome =
      engine::run_scenarios(arguments.run, environment.loader, progress);
  progress.erase();
  std::vector<reports::ExplainedScenario> scenarios;
  for (const ScenarioResult& result : outcome.result.scenarios) {
    scenarios.push_back(explained(result));
  }
  std::string text;
  if (arguments.markdown && arguments.all) {
    text = reports::handout(scenarios);
  } else {
    for (const reports::ExplainedScenario& scenario : scenarios) {
      if (!text.empty()) text += "\n";
      text += arguments.markdown ? reports::explained_markdown(scenario)
                                 : reports::explained_text(scenario, style);
    }
  }
  print_text(text);
  return outcome.exit_code();
}

}  // namespace

std::function<int()> setup_explain(const OptionParser& parser, const Environment& environment) {
  const auto arguments = std::make_shared<ExplainArguments>();
  parser.add_option("PITFALLS", arguments->pitfalls, "Names of scenarios, or their files")
      .type_name("")
      .completes(Completion::scenarios);
  parser
      .add_option(
          "--message", arguments->message,
          "Explain the first PyTorch out-of-memory message in this file, or on standard input")
      .type_name("[FILE]")
      .may_lack_value();
  parser.add_flag("--all", arguments->all, "Explain every scenario of the scenarios folder");
  parser.add_flag("--markdown", arguments->markdown, "Print Markdown: with --all, a handout");
  add_jobs_option(parser, arguments->run.jobs);
  add_color_option(parser, arguments->style);
  return [arguments, parser, &environment] {
    arguments->has_message = parser.count("--message") > 0;
    return explain(*arguments, environment);
  };
}

}  // namespace ohm::cli
