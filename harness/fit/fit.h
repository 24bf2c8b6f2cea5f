// The limits of what fits: the largest value of a parameter, or the smallest GPU, for each variant.
//
// Runs are size-only and in worker processes, one for each variant on each kind of GPU: a search
// that crashes or takes too long is one failed row.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "allocator_shim/device/gpu_profile.h"
#include "harness/checkpoint/checkpoint.h"
#include "harness/run/run_options.h"
#include "harness/scenario/shard.h"
#include "reports/model/fit_result.h"

namespace ohm::engine {

/// What is searched, of scenarios and of commands.
struct FitRules {
  std::string varied;                    ///< name of what varies, or kFitCapacity
  std::vector<GpuSelection> gpus;        ///< of a scenario: empty for its own
  Shard shard;                           ///< which of the variants, or of the GPUs of a command
  std::vector<const Checkpoint*> found;  ///< by shards that others searched
};

/// What is kept of a row of this name, by the search that goes on or by another shard.
std::optional<std::string> known_row(const FitRules& rules, const Checkpoint* checkpoint,
                                     const std::string& piece);

struct FitOptions : FitRules {
  /// The file (one), what is selected, settings of the allocator, caps, jobs, timeout and the
  /// checkpoint.
  RunOptions run;
  std::optional<std::int64_t> least;  ///< absent: the parameter's own, or 1
  std::optional<std::int64_t> most;   ///< absent: the parameter's own, or 65536
  bool considers_limits = true;       ///< false: it fits where nothing is out of memory
  /// Told how many searches of how many have ended, now and then.
  std::function<void(std::size_t finished, std::size_t total)> on_progress;
};

struct FinishedFit {
  FitResult result;
  int signal = 0;  ///< that ended the search; 0: none

  /// The code of the process.
  int exit_code() const;
};

/// What the rows of `options.shard` depend on.
CheckpointedWork checkpointed_work(const FitOptions& options);

/// Without a selection: every variant but checks and references.
FinishedFit fit(const FitOptions& options, const ScenarioLoader& loader);

}  // namespace ohm::engine
