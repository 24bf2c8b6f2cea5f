// One search of ohm fit, inside a worker process: a variant on one kind of GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocator_shim/device/gpu_profile.h"
#include "harness/fit/fit_forecast.h"
#include "harness/scenario/scenario_program.h"
#include "reports/model/fit_result.h"

namespace ohm::engine {

struct FitQuestion {
  LoadRequest load;
  std::string variant;
  std::string varied;  ///< name of a parameter, or kFitCapacity
  std::int64_t least = 1;
  std::int64_t most = 1;
  GpuSpec gpu;  ///< size-only
  GpuProfile profile;
  std::string fault;  ///< the variant's own plan; empty: none
  bool considers_limits = true;
  /// What other GPUs said about the same variant, to begin with.
  std::vector<FitPoint> known_elsewhere;
  std::optional<std::int64_t> within_limits_elsewhere;
  RequestForecast forecast;
};

/// What a search found: the row, and what other searches go on with.
struct FitAnswer {
  FitRow row;
  RequestForecast forecast;  ///< of a variant, with what this search learnt
  std::string name;          ///< that a command has told of itself
  std::string summary;       ///< likewise
};

/// Every run loads the scenario again on a fresh machine. Errors of the script become the row's.
FitAnswer fit_row(const ScenarioLoader& loader, const FitQuestion& question);

}  // namespace ohm::engine
