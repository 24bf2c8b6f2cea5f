// The table of ohm run, printed scenario by scenario, and what is shown while people wait.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "harness/cli/live_view.h"
#include "harness/cli/progress_line.h"
#include "harness/process/live_board.h"
#include "harness/run/runner.h"
#include "reports/text/report_style.h"

namespace ohm::cli {

class RunTable final : public engine::RunObserver {
 public:
  /// `style` outlives it. `board` is drawn instead of the progress line; nullptr: it is not shown.
  RunTable(const reports::ReportStyle& style, bool prints_table, bool shows_progress,
           const engine::LiveBoard* board);

  void on_progress(std::size_t finished, std::size_t total) override;
  void on_scenario(const ScenarioResult& scenario) override;
  void on_end(const RunResult& result);

  /// A table that cannot be printed must not end the run: there may be reports to write.
  void print(const std::string& text);
  /// Why the table could not be printed; empty when it was.
  const std::string& error() const { return error_; }

 private:
  void erase();

  const reports::ReportStyle& style_;
  bool prints_table_;
  ProgressLine progress_;
  std::optional<LiveView> live_;
  std::string error_;
};

}  // namespace ohm::cli
