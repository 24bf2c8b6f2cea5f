// The options of ohm fit, for scenarios, recordings and commands, and what its kinds share.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/checkpoint/checkpoint.h"
#include "harness/cli/launcher_option.h"
#include "harness/cli/output_paths.h"
#include "harness/cli/report_outputs.h"
#include "harness/cli/style_options.h"
#include "harness/exec/value_options.h"
#include "harness/fit/fit.h"
#include "harness/scenario/shard.h"

namespace ohm::cli {

struct FitArguments {
  engine::FitOptions fit;
  std::string varied;
  std::vector<std::string> limits;
  std::vector<std::string> gpus;
  std::vector<std::string> reports;
  std::string shard;
  std::string resume;
  LauncherOptions launcher;
  StyleOptions style;
  engine::ValueOptions values;  ///< of commands
  bool ignores_limits = false;
  bool json = false;
};

/// Opened before the work.
ReportOutputs outputs_of(const FitArguments& arguments, OutputPaths& paths);

/// Reads --vary and --gpu into `arguments.fit`. Throws UsageError.
void take_range(FitArguments& arguments);
void take_gpus(FitArguments& arguments);

/// Prints the result and writes its reports. The exit code; throws UsageError for reports.
int print_fit(const FitArguments& arguments, ReportOutputs& outputs,
              const engine::FinishedFit& finished);

/// Of what the shards of a job array know.
std::vector<std::unique_ptr<const engine::Checkpoint>> opened_checkpoints(
    const std::vector<std::string>& known,
    const std::function<engine::CheckpointedWork(const engine::Shard&)>& described);

engine::FinishedFit interrupted_by(int signal);

}  // namespace ohm::cli
