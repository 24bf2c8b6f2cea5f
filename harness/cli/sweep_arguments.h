// The options of ohm sweep, for scenarios and for commands, and what is printed meanwhile.
#pragma once

#include <string>
#include <vector>

#include "harness/cli/launcher_option.h"
#include "harness/cli/progress_line.h"
#include "harness/cli/report_outputs.h"
#include "harness/cli/style_options.h"
#include "harness/exec/value_options.h"
#include "harness/sweep/sweep.h"
#include "reports/text/report_style.h"

namespace ohm::cli {

struct SweepArguments {
  engine::SweepOptions sweep;
  std::vector<std::string> roles;
  std::string points = "spread";
  std::string form;  ///< empty: as the points want it
  std::string level = "request";
  std::string engine;
  std::string shard;
  std::string resume;
  std::string plan;
  std::string plan_to_write;
  LauncherOptions launcher;
  std::vector<std::string> reports;
  StyleOptions style;
  bool bytes = false;
  bool json = false;
  // Of commands:
  std::string faults;  ///< device or rank, instead of failing requests for memory; empty: memory
  std::string memory;  ///< device or host; empty: as the command asks for it
  std::string check;
  bool in_scratch = false;
  std::vector<std::string> waivers;
  engine::ValueOptions values;
};

/// Reads which requests fail, and how: points, forms, level, engine, shard. Throws UsageError.
void take_faults(SweepArguments& arguments);

/// All of it by a job array: what they found is printed and reported as if this machine had,
/// or, of several types of cards, printed for each. Returns the exit code; throws as
/// launched_report().
int launched_sweep(const LauncherOptions& launcher, const LaunchedCommand& command,
                   ReportOutputs& outputs, const reports::ReportStyle& style);

/// Prints scenarios as they come, and a progress line where people wait.
class SweepPrinter final : public engine::SweepObserver {
 public:
  SweepPrinter(const reports::ReportStyle& style, bool prints, bool shows_progress)
      : style_(style), prints_(prints), progress_(shows_progress) {}

  void on_progress(std::size_t finished, std::size_t total) override;
  void on_scenario(const SweptScenario& scenario) override;
  void on_end(const SweepResult& result);

 private:
  const reports::ReportStyle& style_;
  bool prints_;
  ProgressLine progress_;
};

}  // namespace ohm::cli
