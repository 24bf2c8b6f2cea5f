#include "harness/cli/report_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "allocator_shim/snapshot/snapshot_reader.h"
#include "harness/cli/output_paths.h"
#include "harness/cli/report_outputs.h"
#include "harness/cli/style_options.h"
#include "harness/cli/terminal.h"
#include "reports/console/console_report.h"
#include "reports/console/verification_text.h"
#include "reports/history/heat_map.h"
#include "reports/json/result_input.h"
#include "reports/json/snapshot_columns.h"
#include "reports/json/sweep_reader.h"
#include "reports/json/verification_json.h"
#include "reports/text/report_file.h"
#include "reports/text/text_layout.h"

namespace ohm::cli {

namespace {

struct ReportArguments {
  std::string file;
  std::string sweep;
  std::string columns;
  std::vector<std::string> outputs;
  std::vector<std::string> reports;
  StyleOptions style;
  bool plot = false;
};

std::vector<std::string> requested(const ReportArguments& arguments) {
  std::vector<std::string> reports = arguments.reports;
  for (const std::string& path : arguments.outputs) {
    reports.push_back(format_of_file("-o", path) + "=" + path);
  }
  return reports;
}

reports::ReportStyle style_of(const ReportArguments& arguments) {
  reports::ReportStyle style = report_style(arguments.style);
  style.peaks = !arguments.style.quiet;
  style.plots = arguments.plot;
  return style;
}

bool has_history(const RunResult& result) {
  return std::any_of(
      result.scenarios.begin(), result.scenarios.end(), [](const ScenarioResult& scenario) {
        return std::any_of(
            scenario.variants.begin(), scenario.variants.end(),
            [](const VariantResult& variant) { return variant.history.has_value(); });
      });
}

/// JSON is the one other form that it has.
int report_verification(const VerificationResult& result, const ReportArguments& arguments) {
  if (!arguments.sweep.empty()) {
    throw UsageError(fmt::format("--sweep: {} is a verification, which has no heat map",
                                 reports::printable(arguments.file)));
  }
  OutputPaths paths({arguments.file});
  ReportOutputs outputs = json_outputs(requested(arguments), paths);
  outputs.write([&](std::string_view, bool) { return reports::verification_json(result); });
  if (outputs.is_empty()) print_text(reports::verification_text(result));
  return exit_code(ExitReason::passed).code;
}

int report_run(RunResult result, const ReportArguments& arguments) {
  const reports::ReportStyle style = style_of(arguments);
  if (!arguments.sweep.empty()) {
    reports::add_heat_maps(reports::read_sweep_file(arguments.sweep), result);
  }
  OutputPaths paths({arguments.file, arguments.sweep});
  ReportOutputs outputs = run_outputs(requested(arguments), paths);
  outputs.write(render_run(result, style));
  if (arguments.plot && !has_history(result)) {
    write_stderr(fmt::format(
        "ohm: {} has no memory history; ohm run --history --report json=PATH records it\n",
        reports::printable(arguments.file)));
  }
  if (outputs.is_empty()) print_text(reports::console_report(result, style));
  return exit_code(ExitReason::passed).code;
}

/// All that is said of the snapshot is in the file.
int write_columns(const ReportArguments& arguments) {
  if (!requested(arguments).empty() || !arguments.sweep.empty() || arguments.plot) {
    throw UsageError("--columns writes no other report: remove the other options");
  }
  OutputPaths paths({arguments.file});
  paths.add("--columns", arguments.columns);
  const Snapshot snapshot = read_snapshot_file(arguments.file);
  reports::ReportFile file(arguments.columns);
  reports::write_snapshot_columns(snapshot, file);
  file.commit();
  return exit_code(ExitReason::passed).code;
}

int report(const ReportArguments& arguments) {
  if (arguments.file.empty()) throw UsageError("name the file, as in ohm report result.json");
  if (!arguments.columns.empty()) return write_columns(arguments);
  // First the file: a report that is asked of nothing leaves what stands there.
  auto input = reports::read_report_input(arguments.file);
  if (const auto* verification = std::get_if<VerificationResult>(&input)) {
    return report_verification(*verification, arguments);
  }
  return report_run(std::move(std::get<RunResult>(input)), arguments);
}

}  // namespace

std::function<int()> setup_report(const OptionParser& parser, const Environment& /*environment*/) {
  const auto arguments = std::make_shared<ReportArguments>();
  parser
      .add_option(
          "FILE", arguments->file,
          "A result (written by --report json=PATH, of ohm verify-device, too), or a PyTorch "
          "memory snapshot")
      .type_name("");
  parser
      .add_option("-o,--output", arguments->outputs,
                  "Write a report in the format of the path's extension; repeatable")
      .type_name("PATH")
      .one_value_each();
  parser
      .add_option("--sweep", arguments->sweep,
                  "Add the heat maps of a sweep (written by ohm sweep --report json=PATH)")
      .type_name("FILE");
  parser
      .add_option("--report", arguments->reports,
                  "Write a report (ohm list --reporters), - for standard output; repeatable")
      .type_name("NAME=PATH")
      .one_value_each();
  parser
      .add_option(
          "--columns", arguments->columns,
          "Write the events of a snapshot as binary columns, which ohm.read_snapshot() of the "
          "Python package reads")
      .type_name("PATH");
  parser.add_flag("--plot", arguments->plot, "Plot memory over time, where the file has it");
  add_color_option(parser, arguments->style);
  Option quiet = add_quiet_option(parser, arguments->style, "Print only failures and the summary");
  add_verbose_option(parser, arguments->style, "Print every limit and out-of-memory error")
      .excludes(quiet);
  return [arguments] { return report(*arguments); };
}

}  // namespace ohm::cli
