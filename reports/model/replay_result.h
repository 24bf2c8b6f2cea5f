// The result of ohm replay: plain data, from which all that is printed is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/model/exit_code.h"

namespace ohm {

/// What is recorded and what came out.
struct ReplayedFigure {
  std::uint64_t recorded = 0;
  std::uint64_t replayed = 0;
};

/// Where a record and its replay part, or where the record contradicts itself.
struct ReplayMismatch {
  std::optional<std::uint64_t> event;  ///< index in device_traces[device]
  std::string summary;
  std::vector<std::string> details;
};

/// The state that a record begins in.
struct ReplayStart {
  std::uint64_t segments = 0;
  std::uint64_t blocks = 0;
  std::uint64_t reserved_bytes = 0;
  std::uint64_t open_blocks = 0;      ///< of a size that the record does not tell at once
  std::uint64_t known_blocks = 0;     ///< of them: later events told
  std::uint64_t narrowed_blocks = 0;  ///< of them: later events left fewer sizes
  std::uint64_t skipped_events = 0;   ///< of a request that began before the record
};

struct ReplayedDevice {
  int device = 0;
  std::uint64_t events = 0;
  bool is_replayed = false;  ///< false: the record contradicts itself; no figures then
  ReplayStart start;
  std::uint64_t allocations = 0;
  std::uint64_t allocations_at_recorded_address = 0;
  std::uint64_t segments = 0;  ///< obtained from the device
  std::uint64_t segments_as_recorded = 0;
  std::uint64_t frees = 0;
  std::uint64_t ooms = 0;
  std::uint64_t flushes = 0;         ///< calls of empty_cache()
  std::uint64_t retries = 0;         ///< requests for which cached segments were given back
  std::uint64_t given_releases = 0;  ///< segments whose release was taken from the record
  ReplayedFigure peak_reserved_bytes;
  ReplayedFigure peak_requested_bytes;  ///< of active blocks
  std::optional<ReplayMismatch> mismatch;
  std::vector<std::string> notes;
};

/// A .trace: requests without a record of what came of them.
struct ReplayedTrace {
  std::uint64_t operations = 0;
  std::uint64_t allocations = 0;
  std::uint64_t ooms = 0;
  std::uint64_t capacity_bytes = 0;
  std::uint64_t retries = 0;
  std::uint64_t peak_allocated_bytes = 0;
  std::uint64_t peak_reserved_bytes = 0;
  std::uint64_t device_allocations = 0;  ///< num_device_alloc
  std::uint64_t device_frees = 0;
};

struct WhatIfRow {
  std::optional<int> device;                    ///< nullopt: of a .trace
  std::string settings;                         ///< "" for PyTorch's defaults
  std::optional<std::uint64_t> capacity_bytes;  ///< nullopt: without end
  bool fits = false;
  std::optional<std::uint64_t> failed_request;  ///< event, or line of the .trace
  std::uint64_t failed_bytes = 0;
  std::string message;  ///< of the failure
  std::uint64_t retries = 0;
  std::uint64_t peak_reserved_bytes = 0;
  std::uint64_t peak_allocated_bytes = 0;
  /// At the failure what was reserved but not active; otherwise the peak of inactive_split_bytes.
  std::uint64_t stranded_bytes = 0;
  std::uint64_t rescued = 0;  ///< requests that failed in the record and were served here
};

struct MinCapacityRow {
  std::optional<int> device;
  std::string settings;
  std::optional<std::uint64_t> without_retry_bytes;
  std::optional<std::uint64_t> with_retries_bytes;
  std::optional<std::uint64_t> every_from_bytes;  ///< every larger one will do, too
  bool is_certified = false;                      ///< every smaller one fails
  std::uint64_t checked_down_to_bytes = 0;
  std::uint64_t runs = 0;
};

struct ReplayResult {
  std::string file;
  std::string rules;
  std::string settings;  ///< that the file names
  std::vector<ReplayedDevice> devices;
  std::optional<ReplayedTrace> trace;
  std::vector<WhatIfRow> what_ifs;  ///< of each device the best first
  std::vector<MinCapacityRow> min_capacities;
  ExitReason exit_reason = ExitReason::passed;
};

}  // namespace ohm
