// The limits of what fits of a command: the largest value of a number in it, or the smallest GPU.
//
// Every answer is a run of the command on virtual GPUs; which runs are made is told by replaying
// the requests that two of them recorded.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/checkpoint/checkpoint.h"
#include "harness/exec/value_options.h"
#include "harness/fit/fit.h"
#include "reports/model/fit_result.h"

namespace ohm::engine {

/// At least one GPU, of the table; what varies is a number in the command (varied_command.h).
struct CommandFitOptions : FitRules {
  std::vector<std::string> words;  ///< the command
  std::int64_t least = 1;
  std::int64_t most = 65536;
  double timeout_seconds = 0;        ///< of each run; 0: none
  ValueOptions values;               ///< of each run
  Checkpoint* checkpoint = nullptr;  ///< of checkpointed_work(); nullptr: nothing is kept
  /// Told before each run.
  std::function<void(std::int64_t runs, const std::string& what)> on_run;
};

/// What the rows of `options.shard` depend on.
CheckpointedWork checkpointed_work(const CommandFitOptions& options);

/// A row for each GPU of the shard, which does not depend on the others. A value for which the
/// command fails in any way does not fit. Throws std::invalid_argument for a command that cannot be
/// started or has no such number; GpuUnavailable.
FinishedFit fit_command(const CommandFitOptions& options);

}  // namespace ohm::engine
