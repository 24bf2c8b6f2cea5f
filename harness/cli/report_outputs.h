// Where reports go: `--report NAME=PATH`, checked before the run, written after it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/reporter.h"
#include "reports/text/report_file.h"

namespace ohm::cli {

class ReportOutputs {
 public:
  /// Of `NAME=PATH` each; the path `-` is the standard output. Throws UsageError for an unknown
  /// format, a path that cannot be written, or two reports on the standard output.
  explicit ReportOutputs(const std::vector<std::string>& reports);

  /// Then nothing else may be printed there.
  bool uses_stdout() const { return on_stdout_ != nullptr; }
  bool is_empty() const { return outputs_.empty() && !uses_stdout(); }

  /// The most that any of the reports shows.
  Recording recording() const;

  /// Writes all of them, whatever becomes of one; the errors, one a line, empty when there is none.
  std::string write(const RunResult& result, const reports::ReportStyle& style);

 private:
  struct Output {
    const reports::Reporter* reporter;
    reports::ReportFile file;
  };

  void add(const std::string& report);

  const reports::Reporter* on_stdout_ = nullptr;
  std::vector<Output> outputs_;
};

}  // namespace ohm::cli
