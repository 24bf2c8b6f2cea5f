// One device's part of a history, divided by steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "reports/history/finding_places.h"
#include "reports/model/memory_history.h"
#include "reports/model/run_result.h"

namespace ohm::reports {

/// A part that is less than this share of the whole is not worth a word.
inline constexpr double kShare = 0.1;

inline bool is_share(std::int64_t part, std::int64_t whole) {
  return static_cast<double>(part) >= kShare * static_cast<double>(whole);
}

inline bool is_alive(const HistoryBlock& block, std::uint32_t event) {
  return block.begin <= event && event < block.end;
}

/// Refers to what it is made of.
class SteppedDevice {
 public:
  /// `steps`: the last event of each, ascending. Those of the history, or passes of a loop.
  SteppedDevice(const MemoryHistory& history, const DeviceMemoryHistory& device,
                const DeviceResult& result, const std::vector<std::uint32_t>& steps);

  const MemoryHistory& history() const { return history_; }
  const std::vector<HistoryBlock>& blocks() const { return device_.blocks; }
  const std::vector<HistorySegment>& segments() const { return device_.segments; }
  const DeviceResult& result() const { return result_; }
  const std::vector<std::uint32_t>& steps() const { return steps_; }

  /// The out-of-memory error of this device, or else its peak.
  std::uint32_t moment_that_counts() const {
    const bool ran_out = history_.oom_event && result_.num_ooms > 0;
    return ran_out ? *history_.oom_event : device_.peak_event;
  }

  /// In which step, counted from 0, an event was; the number of steps: behind the last.
  std::size_t step_of(std::uint32_t event) const;

  /// Allocated at the end of a step.
  std::int64_t bytes_at_end(std::size_t step) const { return bytes_[step]; }

  /// The step that the others are compared with. A record that goes on to the end of its program
  /// has a last step after which all is freed: then it is the one before.
  std::size_t last() const { return last_; }

  /// Whether there are two steps of warming up, and two that can be compared.
  bool has_steps_to_compare() const { return steps_.size() >= kFewestSteps && last_ >= 3; }

  /// Of each of these steps the event at which most was allocated. `first` is not 0.
  std::vector<std::uint32_t> fullest_events(std::size_t first, std::size_t last) const;

  FindingResult finding(std::string pitfall, std::string scenario, std::string what,
                        const FindingPlaces& places) const;

 private:
  static constexpr std::size_t kFewestSteps = 4;

  void count_at_ends();

  const MemoryHistory& history_;
  const DeviceMemoryHistory& device_;
  const DeviceResult& result_;
  const std::vector<std::uint32_t>& steps_;
  std::vector<std::int64_t> bytes_;  ///< allocated at the end of each step
  std::size_t last_ = 0;
};

}  // namespace ohm::reports
