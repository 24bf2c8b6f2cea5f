// The result of ohm replay: plain data, from which all that is printed is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/model/exit_code.h"
#include "reports/model/fields.h"

namespace ohm {

/// What is recorded and what came out.
struct ReplayedFigure {
  std::uint64_t recorded = 0;
  std::uint64_t replayed = 0;

  static constexpr const char* kSchemaName = "figure";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = ReplayedFigure;
    visit("recorded", &T::recorded);
    visit("replayed", &T::replayed);
  }
};

/// Where a record and its replay part, or where the record contradicts itself.
struct ReplayMismatch {
  std::optional<std::uint64_t> event;  ///< index in device_traces[device]
  std::string summary;
  std::vector<std::string> details;

  static constexpr const char* kSchemaName = "mismatch";
  static constexpr const char* kSchemaDescription =
      "First difference between record and replay; null: none.";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = ReplayMismatch;
    visit("event", &T::event, "Index in device_traces[device].");
    visit("summary", &T::summary);
    visit("details", &T::details);
  }
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

  static constexpr const char* kSchemaName = "start";
  static constexpr const char* kSchemaDescription = "The state that the record begins in.";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = ReplayStart;
    visit("segments", &T::segments);
    visit("blocks", &T::blocks);
    visit("reserved_bytes", &T::reserved_bytes);
    visit("open_blocks", &T::open_blocks, "Blocks whose size the record does not show directly.");
    visit("known_blocks", &T::known_blocks, "Open blocks whose size later events showed.");
    visit("narrowed_blocks", &T::narrowed_blocks,
          "Open blocks for which later events left fewer sizes.");
    visit("skipped_events", &T::skipped_events,
          "Events of a request that began before the record.");
  }
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

  static bool agrees(const ReplayedDevice& of) { return !of.mismatch; }

  static constexpr const char* kSchemaName = "device";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = ReplayedDevice;
    visit("device", &T::device);
    visit("events", &T::events);
    visit("is_replayed", &T::is_replayed,
          "False: the record contradicts itself, and the figures are 0.");
    visit("start", &T::start);
    visit("allocations", &T::allocations);
    visit("allocations_at_recorded_address", &T::allocations_at_recorded_address);
    visit("segments", &T::segments, "Segments obtained from the device.");
    visit("segments_as_recorded", &T::segments_as_recorded);
    visit("frees", &T::frees);
    visit("ooms", &T::ooms);
    visit("flushes", &T::flushes, "Calls of empty_cache() that the record shows.");
    visit("retries", &T::retries, "Requests for which cached segments were given back.");
    visit("given_releases", &T::given_releases,
          "Segments whose release was taken from the record.");
    visit("peak_reserved_bytes", &T::peak_reserved_bytes);
    visit("peak_requested_bytes", &T::peak_requested_bytes);
    visit("mismatch", &T::mismatch);
    visit("notes", &T::notes);
    visit("agrees", &agrees);
  }
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

  static constexpr const char* kSchemaName = "trace";
  static constexpr const char* kSchemaDescription = "Of a .trace; otherwise null.";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = ReplayedTrace;
    visit("operations", &T::operations);
    visit("allocations", &T::allocations);
    visit("ooms", &T::ooms);
    visit("capacity_bytes", &T::capacity_bytes);
    visit("retries", &T::retries);
    visit("peak_allocated_bytes", &T::peak_allocated_bytes);
    visit("peak_reserved_bytes", &T::peak_reserved_bytes);
    visit("device_allocations", &T::device_allocations);
    visit("device_frees", &T::device_frees);
  }
};

/// The first request that is not served.
struct UnservedRequest {
  std::optional<std::uint64_t> request;
  std::uint64_t bytes = 0;
  std::string op;    ///< of a snapshot, where its stacks tell
  std::string file;  ///< of a snapshot: of the program's own line
  int line = 0;
  std::string message;

  static constexpr const char* kSchemaName = "failure";
  static constexpr const char* kSchemaDescription =
      "The first request that is not served; null when all are.";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = UnservedRequest;
    visit("request", &T::request,
          "Index in device_traces[device], or line of the .trace; null: the initial state does not "
          "fit.");
    visit("bytes", &T::bytes);
    visit("op", &T::op, Presence::optional);
    visit("file", &T::file, Presence::optional);
    visit("line", &T::line, Presence::optional);
    visit("message", &T::message);
  }
};

struct WhatIfRow {
  std::optional<int> device;                    ///< nullopt: of a .trace
  std::string settings;                         ///< "" for PyTorch's defaults
  std::optional<std::uint64_t> capacity_bytes;  ///< nullopt: without end
  std::string change;  ///< of the program, as options ask for it; "" as recorded
  std::optional<UnservedRequest> failure;  ///< nullopt: it fits
  std::uint64_t retries = 0;
  std::uint64_t peak_reserved_bytes = 0;
  std::uint64_t peak_allocated_bytes = 0;
  /// At the failure what was reserved but not active; otherwise the peak of inactive_split_bytes.
  std::uint64_t stranded_bytes = 0;
  std::uint64_t rescued = 0;  ///< requests that failed in the record and were served here

  bool fits() const { return !failure; }
  static bool is_fit(const WhatIfRow& of) { return of.fits(); }

  static constexpr const char* kSchemaName = "what_if";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = WhatIfRow;
    visit("device", &T::device, "Null for a .trace.");
    visit("settings", &T::settings);
    visit("capacity_bytes", &T::capacity_bytes, "Null: unlimited.");
    visit("change", &T::change, Presence::optional, "Change of the program that options ask for.");
    visit("fits", &is_fit);
    visit("retries", &T::retries);
    visit("peak_reserved_bytes", &T::peak_reserved_bytes);
    visit("peak_allocated_bytes", &T::peak_allocated_bytes);
    visit("stranded_bytes", &T::stranded_bytes,
          "At the failure what was reserved but not active; otherwise the peak of "
          "inactive_split_bytes.");
    visit("rescued", &T::rescued, "Requests that failed in the record and are served here.");
    visit("failure", &T::failure);
  }
};

struct MinCapacityRow {
  std::optional<int> device;
  std::string settings;
  std::string change;  ///< of the program, as options ask for it; "" as recorded
  std::optional<std::uint64_t> without_retry_bytes;
  std::optional<std::uint64_t> with_retries_bytes;
  std::optional<std::uint64_t> every_from_bytes;  ///< every larger one will do, too
  bool is_certified = false;                      ///< every smaller one fails
  std::uint64_t checked_down_to_bytes = 0;
  std::uint64_t runs = 0;

  static constexpr const char* kSchemaName = "min_capacity";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = MinCapacityRow;
    visit("device", &T::device);
    visit("settings", &T::settings);
    visit("change", &T::change, Presence::optional, "Change of the program that options ask for.");
    visit("without_retry_bytes", &T::without_retry_bytes);
    visit("with_retries_bytes", &T::with_retries_bytes);
    visit("every_from_bytes", &T::every_from_bytes,
          "Every capacity from this one on suffices; null: not known.");
    visit("is_certified", &T::is_certified, "Every capacity below with_retries_bytes fails.");
    visit("checked_down_to_bytes", &T::checked_down_to_bytes,
          "No capacity from this one on was skipped.");
    visit("runs", &T::runs);
  }
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

  static constexpr const char* kSchemaName = "replay";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = ReplayResult;
    visit("file", &T::file, "As given on the command line.");
    visit("rules", &T::rules, "Rule set of the allocator, such as pytorch-2.15.");
    visit("settings", &T::settings, "PYTORCH_CUDA_ALLOC_CONF as the file names it.");
    visit("devices", &T::devices, "Every device of a snapshot that has a history.");
    visit("trace", &T::trace);
    visit("what_ifs", &T::what_ifs, "Rows of each device, best first.");
    visit("min_capacities", &T::min_capacities);
    visit("exit_reason", &T::exit_reason);
  }
};

}  // namespace ohm
