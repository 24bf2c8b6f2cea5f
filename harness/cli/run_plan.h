// The plan of ohm run: its options, checked and with all outputs open, before anything runs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/checkpoint/checkpoint.h"
#include "harness/cli/command.h"
#include "harness/cli/launcher_option.h"
#include "harness/cli/report_outputs.h"
#include "harness/cli/style_options.h"
#include "harness/run/run_options.h"
#include "reports/text/report_style.h"

namespace ohm::cli {

/// As they were typed.
struct RunArguments {
  engine::RunOptions run;
  std::vector<std::string> reports;
  std::string shard;
  std::string resume;
  LauncherOptions launcher;
  StyleOptions style;
  std::optional<std::string> snapshot;
  bool json = false;
  bool history = false;
  bool watch = false;
  bool plot = false;
  bool tighten = false;
};

struct RunPlan {
  RunArguments arguments;  ///< with all that `arguments.run` takes from others of them
  ReportOutputs outputs;
  reports::ReportStyle style;
  std::unique_ptr<engine::Checkpoint> checkpoint;  ///< null: this process keeps nothing

  bool is_launched() const { return arguments.launcher.is_used(); }
};

/// All that the result depends on.
engine::CheckpointedWork checkpointed_run(const engine::RunOptions& run);

/// Says on stderr what the run leaves out. Throws UsageError.
RunPlan plan_run(RunArguments arguments, const Environment& environment);

}  // namespace ohm::cli
