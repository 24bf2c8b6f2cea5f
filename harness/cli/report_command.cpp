#include "harness/cli/report_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "allocator_shim/snapshot/pickle_reader.h"
#include "harness/cli/report_outputs.h"
#include "harness/cli/terminal.h"
#include "reports/console/console_report.h"
#include "reports/html/sweep_heat_maps.h"
#include "reports/json/result_input.h"
#include "reports/json/result_reader.h"
#include "reports/text/text_layout.h"

namespace ohm::cli {

namespace {

struct ReportArguments {
  std::string file;
  std::string sweep;
  std::vector<std::string> outputs;
  std::vector<std::string> reports;
  std::string color = "auto";
  bool quiet = false;
  bool verbose = false;
  bool plot = false;
};

struct Extension {
  std::string_view extension;
  std::string_view format;
};

/// What a path says about the format of its file.
constexpr std::array<Extension, 5> kExtensions = {{{".html", "html"},
                                                   {".htm", "html"},
                                                   {".json", "json"},
                                                   {".xml", "junit"},
                                                   {".txt", "console"}}};

std::string format_of(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  std::string known;
  for (const Extension& one : kExtensions) {
    if (one.extension == extension) return std::string(one.format);
    known += fmt::format("{}{}", known.empty() ? "" : ", ", one.extension);
  }
  throw UsageError(fmt::format("-o {}: its end tells no format ({}); --report NAME=PATH says which",
                               path, known));
}

std::vector<std::string> requested(const ReportArguments& arguments) {
  std::vector<std::string> reports = arguments.reports;
  for (const std::string& path : arguments.outputs) {
    reports.push_back(format_of(path) + "=" + path);
  }
  for (const std::string& report : reports) {
    const std::string path = report.substr(std::min(report.find('=') + 1, report.size()));
    std::error_code unknown;
    if (std::filesystem::equivalent(path, arguments.file, unknown)) {
      throw UsageError(fmt::format("{} is the file that is read", path));
    }
  }
  return reports;
}

reports::ReportStyle style_of(const ReportArguments& arguments) {
  reports::ReportStyle style;
  style.color = wants_color(arguments.color);
  style.columns = terminal_columns();
  if (arguments.quiet) style.detail = reports::Detail::quiet;
  if (arguments.verbose) style.detail = reports::Detail::verbose;
  style.peaks = !arguments.quiet;
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

int report(const ReportArguments& arguments) {
  if (arguments.file.empty()) throw UsageError("name the file, as in ohm report result.json");
  const reports::ReportStyle style = style_of(arguments);
  try {
    // First the file: a report that is asked of nothing leaves what stands there.
    RunResult result = reports::read_result_or_snapshot(arguments.file);
    if (!arguments.sweep.empty()) reports::add_heat_maps_of_file(arguments.sweep, result);
    ReportOutputs outputs(requested(arguments));
    const std::string errors = outputs.write(result, style);
    if (!errors.empty()) throw UsageError(errors);
    if (arguments.plot && !has_history(result)) {
      write_stderr(fmt::format(
          "ohm: {} holds no memory over time; ohm run --history --report json=PATH writes it\n",
          reports::printable(arguments.file)));
    }
    if (outputs.is_empty()) write_stdout(reports::console_report(result, style));
    return exit_code(ExitReason::passed).code;
  } catch (const reports::ResultError& error) {
    print_error(reports::printable(error.what()));
  } catch (const PickleError& error) {
    print_error(reports::printable(error.what()));
  }
  return exit_code(ExitReason::script_error).code;
}

}  // namespace

std::function<int()> setup_report(CLI::App& app, const Environment& /*environment*/) {
  const auto arguments = std::make_shared<ReportArguments>();
  app.add_option("FILE", arguments->file,
                 "A result (what --report json=PATH wrote), or a memory snapshot of PyTorch's")
      ->type_name("");
  app.add_option("-o,--output", arguments->outputs,
                 "Write a report of the format that the end of the path names; repeatable")
      ->type_name("PATH")
      ->allow_extra_args(false);
  app.add_option("--sweep", arguments->sweep,
                 "Show the heat maps of a sweep as well (what ohm sweep --report json=PATH wrote)")
      ->type_name("FILE");
  app.add_option("--report", arguments->reports,
                 "Write a report (ohm list --reporters), - for standard output; repeatable")
      ->type_name("NAME=PATH")
      ->allow_extra_args(false);
  app.add_flag("--plot", arguments->plot, "Draw memory over time, where the file has it");
  app.add_option("--color", arguments->color, "auto, always or never")->type_name("WHEN");
  CLI::Option* quiet =
      app.add_flag("-q,--quiet", arguments->quiet, "Only what failed, and the summary");
  app.add_flag("-v,--verbose", arguments->verbose, "Every limit and out-of-memory error")
      ->excludes(quiet);
  return [arguments] { return report(*arguments); };
}

}  // namespace ohm::cli
