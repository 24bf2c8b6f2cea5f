// The prediction of what the allocator does when a recorded program runs with another value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocator_shim/caching/settings.h"
#include "allocator_shim/replay/what_if.h"
#include "harness/fit/compared_recordings.h"
#include "harness/fit/fit_search.h"
#include "harness/judge/limit.h"

namespace ohm::engine {

/// Which of the sizes that are possible are replayed.
using SizeChoice = std::int64_t SizeRange::*;

struct PredictionTrial {
  std::size_t available_bytes = WhatIf::kEndless;  ///< for segments
  SizeChoice choice = &SizeRange::likely;
  std::size_t recording = 0;  ///< whose order of requests and frees is taken
};

class ValuePrediction {
 public:
  /// `compared` outlives this. `alloc_conf`: of the allocator; absent: as recorded at the largest
  /// value. Throws std::invalid_argument for limits on what no replay tells, and for settings.
  ValuePrediction(const ComparedRecordings& compared, const std::vector<std::string>& limits,
                  const std::optional<std::string>& alloc_conf);

  const AllocatorSettings& settings() const { return settings_; }

  /// The recording of the largest value: its order is taken where only one is.
  std::size_t largest() const { return compared_.recordings().size() - 1; }

  /// Over all GPUs of the program: what stops it first, or the largest peaks.
  Probe probe(std::int64_t value, const PredictionTrial& trial) const;

  /// Whether it fits with the most, or the least, of all that is uncertain, in the order of every
  /// recording, or of any.
  bool surely_fits(std::int64_t value, std::int64_t available_bytes) const;
  bool may_fit(std::int64_t value, std::int64_t available_bytes) const;

  /// What is requested for a life of a recording.
  std::size_t bytes_of(std::size_t recording, std::size_t gpu, std::uint32_t life,
                       std::int64_t value, SizeChoice choice) const;

 private:
  std::vector<std::size_t> orders() const;
  bool fits(std::int64_t value, std::int64_t available_bytes, SizeChoice choice,
            std::size_t recording) const;
  WhatIfOutcome replayed(std::int64_t value, const PredictionTrial& trial, std::size_t gpu) const;
  DeviceResult device_of(const WhatIfOutcome& outcome, std::size_t gpu) const;
  std::optional<FitStop> broken_limit(std::int64_t value, const MeasuredVariant& measured) const;
  FitStop stop_of(std::int64_t value, std::size_t recording, std::size_t gpu,
                  const WhatIfFailure& failure) const;

  const ComparedRecordings& compared_;
  std::vector<Limit> limits_;
  AllocatorSettings settings_;
};

}  // namespace ohm::engine
