#include "harness/cli/run_table.h"

#include "harness/cli/command.h"
#include "harness/cli/terminal.h"
#include "reports/console/console_report.h"

namespace ohm::cli {

RunTable::RunTable(const reports::ReportStyle& style, bool prints_table, bool shows_progress,
                   const engine::LiveBoard* board)
    : style_(style), prints_table_(prints_table), progress_(shows_progress) {
  if (board != nullptr) live_.emplace(*board);
}

void RunTable::on_progress(std::size_t finished, std::size_t total) {
  if (live_) {
    live_->show(finished, total);
  } else {
    progress_.show(finished, total);
  }
}

void RunTable::on_scenario(const ScenarioResult& scenario) {
  erase();
  print(reports::console_scenario(scenario, style_));
}

void RunTable::on_end(const RunResult& result) {
  erase();
  print(reports::console_summary(result, style_));
}

void RunTable::print(const std::string& text) {
  if (!prints_table_ || !error_.empty()) return;
  try {
    print_text(text);
  } catch (const UsageError& error) {
    error_ = error.what();
  }
}

void RunTable::erase() {
  progress_.erase();
  if (live_) live_->erase();
}

}  // namespace ohm::cli
