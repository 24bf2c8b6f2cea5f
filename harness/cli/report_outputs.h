// The sink of reports: `--report NAME=PATH`, checked and opened before the work, written after it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cli/output_paths.h"
#include "reports/model/recording.h"
#include "reports/model/run_result.h"
#include "reports/model/sweep_result.h"
#include "reports/text/report_file.h"
#include "reports/text/report_style.h"

namespace ohm::cli {

class ReportOutputs {
 public:
  /// Throws std::invalid_argument for a format that the command does not write.
  using CheckFormat = std::function<void(std::string_view format)>;
  /// The report in this format.
  using Render = std::function<std::string(std::string_view format, bool on_stdout)>;

  /// Of `NAME=PATH` each; the path `-` is the standard output. Throws UsageError for an unknown
  /// format, a path that cannot be written or is taken, or two reports on the standard output.
  ReportOutputs(const std::vector<std::string>& reports, const CheckFormat& check_format,
                OutputPaths& paths);

  /// Then nothing else may be printed there.
  bool uses_stdout() const { return !on_stdout_.empty(); }
  bool is_empty() const { return outputs_.empty() && !uses_stdout(); }
  std::vector<std::string> formats() const;

  /// Writes all files or, where one cannot be written, none; what goes to the standard output is
  /// written in any case. Throws UsageError with the errors, one a line.
  void write(const Render& render);
  /// The same; the errors, empty when there is none.
  std::string try_write(const Render& render);

 private:
  struct Output {
    std::string format;
    reports::ReportFile file;
  };

  void add(const std::string& report, const CheckFormat& check_format, OutputPaths& paths);

  std::string on_stdout_;  ///< a format; empty: none
  std::vector<Output> outputs_;
};

/// In the formats of reports::reporters().
ReportOutputs run_outputs(const std::vector<std::string>& reports, OutputPaths& paths);
/// The most that any of these reports shows.
Recording recording_of(const ReportOutputs& outputs);
/// `style` is that of a report on the standard output.
ReportOutputs::Render render_run(const RunResult& result, const reports::ReportStyle& style);

/// In the formats of reports::sweep_reporters().
ReportOutputs sweep_outputs(const std::vector<std::string>& reports, OutputPaths& paths);
ReportOutputs::Render render_sweep(const SweepResult& result);

/// JSON alone, which is there already when it is written.
ReportOutputs json_outputs(const std::vector<std::string>& reports, OutputPaths& paths);

/// The format of files that end like this one. Throws UsageError.
std::string format_of_file(const std::string& option, const std::string& path);

}  // namespace ohm::cli
