#include "harness/cli/report_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "harness/cli/command.h"
#include "harness/cli/terminal.h"
#include "reports/reporter.h"

namespace ohm::cli {

namespace {

constexpr std::string_view kStdout = "-";
constexpr std::string_view kJson = "json";

void print_report(std::string_view format, const std::string& report) {
  if (const reports::CommandSpelling* spelling = reports::command_spelling(format)) {
    print_text(report, *spelling);
  } else {
    write_stdout(report);
  }
}

}  // namespace

ReportOutputs::ReportOutputs(const std::vector<std::string>& reports,
                             const CheckFormat& check_format, OutputPaths& paths) {
  for (const std::string& report : reports) add(report, check_format, paths);
}

void ReportOutputs::add(const std::string& report, const CheckFormat& check_format,
                        OutputPaths& paths) {
  const std::size_t equals = report.find('=');
  if (equals == std::string::npos) {
    throw UsageError(fmt::format("--report is NAME=PATH, not \"{}\"", report));
  }
  const std::string format = report.substr(0, equals);
  const std::string path = report.substr(equals + 1);
  try {
    check_format(format);
    if (path == kStdout) {
      if (uses_stdout()) throw UsageError("only one report can go to standard output");
      on_stdout_ = format;
      return;
    }
    paths.add("--report " + report, path);
    outputs_.push_back({format, reports::ReportFile(path)});
  } catch (const UsageError&) {
    throw;
  } catch (const std::exception& error) {
    throw UsageError(error.what());
  }
}

std::vector<std::string> ReportOutputs::formats() const {
  std::vector<std::string> formats;
  for (const Output& output : outputs_) formats.push_back(output.format);
  if (uses_stdout()) formats.push_back(on_stdout_);
  return formats;
}

std::string ReportOutputs::try_write(const Render& render) {
  std::string errors;
  const auto attempt = [&errors](const auto& write_one) {
    try {
      write_one();
    } catch (const std::runtime_error& error) {
      errors += fmt::format("{}{}", errors.empty() ? "" : "\n", error.what());
    }
  };
  std::vector<reports::ReportFile*> files;
  for (Output& output : outputs_) {
    files.push_back(&output.file);
    attempt([&] {
      output.file.write(render(output.format, /*on_stdout=*/false));
      output.file.finish();
    });
  }
  if (errors.empty()) attempt([&] { reports::ReportFile::commit_all(files); });
  if (!errors.empty() && files.size() > 1) errors += "\nthe other reports are not written either";
  if (uses_stdout())
    attempt([&] { print_report(on_stdout_, render(on_stdout_, /*on_stdout=*/true)); });
  return errors;
}

void ReportOutputs::write(const Render& render) {
  const std::string errors = try_write(render);
  if (!errors.empty()) throw UsageError(errors);
}

ReportOutputs run_outputs(const std::vector<std::string>& reports, OutputPaths& paths) {
  return {reports, [](std::string_view format) { reports::find_reporter(format); }, paths};
}

Recording recording_of(const ReportOutputs& outputs) {
  Recording most = Recording::figures;
  for (const std::string& format : outputs.formats()) {
    most = std::max(most, reports::find_reporter(format).recording);
  }
  return most;
}

ReportOutputs::Render render_run(const RunResult& result, const reports::ReportStyle& style) {
  return [&](std::string_view format, bool on_stdout) {
    return reports::find_reporter(format).render(result,
                                                 on_stdout ? style : reports::ReportStyle());
  };
}

ReportOutputs sweep_outputs(const std::vector<std::string>& reports, OutputPaths& paths) {
  return {reports, [](std::string_view format) { reports::find_sweep_reporter(format); }, paths};
}

ReportOutputs::Render render_sweep(const SweepResult& result) {
  return [&](std::string_view format, bool /*on_stdout*/) {
    return reports::find_sweep_reporter(format).render(result);
  };
}

ReportOutputs json_outputs(const std::vector<std::string>& reports, OutputPaths& paths) {
  const auto check_format = [](std::string_view format) {
    if (format == kJson) return;
    throw std::invalid_argument(
        fmt::format("unknown report format \"{}\"; known: {}", format, kJson));
  };
  return {reports, check_format, paths};
}

std::string format_of_file(const std::string& option, const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  const reports::Reporter* reporter = reports::reporter_of_extension(extension);
  if (reporter != nullptr) return std::string(reporter->name);
  throw UsageError(
      fmt::format("{} {}: unknown extension (known: {}); --report NAME=PATH names the format",
                  option, path, reports::known_extensions()));
}

}  // namespace ohm::cli
