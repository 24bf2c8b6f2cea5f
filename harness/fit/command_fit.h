// The limits of what fits of a command: the largest value of a number in it, or the smallest GPU.
//
// Every answer is a run of the command on virtual GPUs; which runs are made is told by replaying
// the requests that two of them recorded.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/fit/fit.h"
#include "reports/model/fit_result.h"

namespace ohm::engine {

struct CommandFitOptions {
  std::vector<std::string> words;  ///< the command
  std::string varied;              ///< a number in it (varied_command.h), or kFitCapacity
  std::int64_t least = 1;
  std::int64_t most = 65536;
  std::vector<GpuSelection> gpus;  ///< at least one, of the table
  double timeout_seconds = 0;      ///< of each run; 0: none
  /// Told before each run.
  std::function<void(std::int64_t runs, const std::string& what)> on_run;
};

/// A row for each GPU. A value for which the command fails in any way does not fit. Throws
/// std::invalid_argument for a command that cannot be started or has no such number;
/// GpuUnavailable.
FinishedFit fit_command(const CommandFitOptions& options);

}  // namespace ohm::engine
