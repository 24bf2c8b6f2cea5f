// The truth check: one variant on virtual GPUs and on shares of real cards, event by event and
// value by value.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "harness/machine/machine.h"
#include "harness/run/run_options.h"
#include "harness/scenario/scenario_program.h"
#include "runtime/tensor/cuda_backend.h"

namespace ohm::engine {

/// One event that the other side does not have at its place.
struct EventDifference {
  bool is_on_cuda = false;    ///< false: on the virtual GPU alone
  std::uint64_t ordinal = 0;  ///< among the events of its side
  std::string event;  ///< "segment_alloc cuda:0 20.00 MiB (20,971,520 bytes) for matmul …"
  std::int64_t bytes = 0;
};

/// Memory that a library took on the card and that is not modelled: no difference of the allocator.
struct LibraryWorkspace {
  std::string op;  ///< that it was for
  std::int64_t largest_bytes = 0;
  std::uint64_t calls = 0;
};

/// What became of one variant on both.
struct VariantVerification {
  std::string variant;  ///< "scenario.variant"
  std::uint64_t virtual_events = 0;
  std::uint64_t cuda_events = 0;
  std::int64_t virtual_peak_bytes = 0;  ///< allocated, the largest of all GPUs
  std::int64_t cuda_peak_bytes = 0;
  std::vector<EventDifference> differences;  ///< the first kMaxDifferences
  std::uint64_t other_differences = 0;       ///< that are not listed
  /// What ops without a kernel made the card give to the host, by op.
  std::vector<std::pair<std::string, MovedValues>> to_host;
  std::vector<LibraryWorkspace> workspaces;  ///< on the card alone, by op
  /// The first returned value that the card computed otherwise, within the tolerance of its dtype;
  /// empty: none, or nothing was computed.
  std::string value_difference;
  std::string error;  ///< why there is no comparison; empty: there is one

  static constexpr std::size_t kMaxDifferences = 20;

  bool has_same_events() const { return error.empty() && differences.empty(); }
  bool agrees() const { return has_same_events() && value_difference.empty(); }
};

/// Those of all variants, by op.
std::vector<LibraryWorkspace> all_workspaces(const std::vector<VariantVerification>& variants);

/// Runs what is selected, each variant in a process of its own, on both. Addresses are the
/// driver's own and not compared. `run.cuda` says where the cards are.
std::vector<VariantVerification> verify_device(const RunOptions& run, const ScenarioLoader& loader);

}  // namespace ohm::engine
