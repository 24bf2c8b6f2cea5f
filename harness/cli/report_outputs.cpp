#include "harness/cli/report_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "harness/cli/command.h"
#include "harness/cli/terminal.h"

namespace ohm::cli {

namespace {

constexpr const char* kStdout = "-";

}  // namespace

ReportOutputs::ReportOutputs(const std::vector<std::string>& reports) {
  for (const std::string& report : reports) add(report);
}

void ReportOutputs::add(const std::string& report) {
  const std::size_t equals = report.find('=');
  if (equals == std::string::npos) {
    throw UsageError(fmt::format("--report is NAME=PATH, not \"{}\"", report));
  }
  const std::string path = report.substr(equals + 1);
  try {
    const reports::Reporter& reporter = reports::find_reporter(report.substr(0, equals));
    if (path != kStdout) {
      outputs_.push_back({&reporter, reports::ReportFile(path)});
    } else if (on_stdout_ == nullptr) {
      on_stdout_ = &reporter;
    } else {
      throw UsageError("only one report can go to the standard output");
    }
  } catch (const UsageError&) {
    throw;
  } catch (const std::exception& error) {
    throw UsageError(error.what());
  }
}

Recording ReportOutputs::recording() const {
  Recording most = on_stdout_ == nullptr ? Recording::figures : on_stdout_->recording;
  for (const Output& output : outputs_) most = std::max(most, output.reporter->recording);
  return most;
}

std::string ReportOutputs::write(const RunResult& result, const reports::ReportStyle& style) {
  std::string errors;
  const auto attempt = [&errors](const auto& write_one) {
    try {
      write_one();
    } catch (const std::runtime_error& error) {
      errors += fmt::format("{}{}", errors.empty() ? "" : "\n", error.what());
    }
  };
  for (Output& output : outputs_) {
    attempt([&] { output.file.commit(output.reporter->render(result, {})); });
  }
  if (on_stdout_ != nullptr) attempt([&] { write_stdout(on_stdout_->render(result, style)); });
  return errors;
}

}  // namespace ohm::cli
