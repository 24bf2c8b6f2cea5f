// The options of ohm replay.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

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
  bool is_fused = false;  ///< the same of its optimizer, were it fused
  /// The same of modules ("GPT.blocks.*"), were they checkpointed.
  std::vector<std::string> checkpoints;
  std::string dtype;  ///< that the job would compute in: refused, with the reason; empty: its own
  bool finds_min_capacity = false;
  bool verifies = false;  ///< a record that the allocator does not agree with is a failure
  /// Called after each run of the events that asks what if, for people who wait; may be empty.
  std::function<void()> on_run;

  bool changes_program() const {
    return !free_at.empty() || is_fused || !checkpoints.empty() || !dtype.empty();
  }
};

}  // namespace ohm::engine
