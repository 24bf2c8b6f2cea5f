// ohm replay: a recorded history or a list of requests through the caching allocator, as it was and
// as it might have been.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "allocator_shim/caching/golden_format.h"
#include "harness/replay/replay_error.h"
#include "reports/model/replay_result.h"

namespace ohm::engine {

struct ReplayOptions {
  std::string file;
  std::string rules;  ///< name of a rule set; empty: the default one
  /// What if: every pair of these; with settings alone the capacity is endless, with capacities
  /// alone the settings are those of the file.
  std::vector<std::string> settings;
  std::vector<std::size_t> capacities;
  std::optional<double> memory_fraction;
  /// Lines ("train.py:12") of which is asked what it would be like if the memory that they make
  /// were freed at the end of its step: beside the program as it was recorded.
  std::vector<std::string> free_at;
  bool finds_min_capacity = false;
  bool verifies = false;  ///< a record that the allocator does not agree with is a failure
  /// Called after each run of the events that asks what if, for people who wait; may be empty.
  std::function<void()> on_run;
};

/// Snapshots and .trace files. Throws ReplayError; std::invalid_argument for settings and options
/// that do not fit the file.
ReplayResult replay_file(const ReplayOptions& options);

/// A .trace in the words of the recordings made of PyTorch's allocator; at most one of settings and
/// one of capacities. Throws as replay_file() does.
GoldenOutput replay_in_golden_format(const ReplayOptions& options);

}  // namespace ohm::engine
