// The same requests on another device, with other settings: would they have been served?
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "allocator_shim/base/rule_set.h"
#include "allocator_shim/caching/settings.h"
#include "allocator_shim/caching/trace_file.h"
#include "allocator_shim/replay/verified_history.h"

namespace ohm {

struct WhatIf {
  /// No program ever filled a device of this size.
  static constexpr std::size_t kEndless = std::size_t{1} << 44U;

  /// What the allocator can get: the device's memory without contexts and other processes.
  std::size_t capacity_bytes = kEndless;
  AllocatorSettings settings;
  RuleSet rules = default_rule_set();
  /// set_per_process_memory_fraction() before everything else.
  std::optional<double> memory_fraction;
};

/// The program of a history, changed: what it asks for instead, what it frees earlier or later, and
/// what it asks for again. Lives are those of VerifiedHistory::lives(), events those of its
/// history.
struct ChangedProgram {
  /// A block that is freed before this event, where it is still there.
  struct EarlyFree {
    std::uint32_t event = 0;
    std::uint32_t life = 0;
  };

  /// Blocks that are requested again before this event, one after the other, and behind what is
  /// freed there.
  struct Repeat {
    enum class Kind : std::uint8_t {
      keep,  ///< the life's next end is as recorded
      take,  ///< until it is dropped, or the repeat ends
      drop,
    };
    struct Step {
      std::uint32_t life = 0;
      Kind kind = Kind::keep;
    };
    std::uint32_t event = 0;
    std::vector<Step> steps;
  };

  /// Bytes that are requested for each life, passed over of those that began before the history; 0:
  /// it is not requested at all. Empty: as recorded.
  std::vector<std::size_t> bytes;
  /// Of each life the bytes of a block that is requested just before it and freed just after it; 0:
  /// none. Empty: none at all.
  std::vector<std::size_t> companions;
  std::vector<EarlyFree> early_frees;  ///< ascending by event
  /// Of each life: before this event it is not freed where the record says so; 0: it is. Empty: all
  /// are.
  std::vector<std::uint32_t> kept_until;
  std::vector<Repeat> repeats;  ///< ascending by event
  /// The program ends before this event.
  std::size_t end = std::numeric_limits<std::size_t>::max();

  bool is_changed() const {
    return !bytes.empty() || !companions.empty() || !early_frees.empty() || !repeats.empty();
  }
};

struct WhatIfFailure {
  /// The request: index of the event in a history, line number in a trace; nullopt: what was there
  /// at the start does not fit.
  std::optional<std::size_t> request;
  std::size_t requested_bytes = 0;
  std::string message;  ///< PyTorch's
};

struct WhatIfOutcome {
  std::optional<WhatIfFailure> failure;  ///< the first one: nothing was run after it
  std::int64_t retries = 0;              ///< num_alloc_retries
  std::size_t peak_allocated_bytes = 0;
  std::size_t peak_requested_bytes = 0;
  std::size_t peak_reserved_bytes = 0;
  /// Free memory that could not be used: at the failure what was reserved but not active, otherwise
  /// the peak of inactive_split_bytes.
  std::size_t stranded_bytes = 0;
  /// Requests that failed in the record and were served here: they are given back at once, since
  /// what would have followed is in no record.
  std::size_t rescued = 0;

  /// Times that the device had no room.
  std::size_t refusals = 0;
  /// With any capacity from this one up to the one that was tried, everything would have been the
  /// same; nullopt: a memory fraction makes every capacity another one.
  std::optional<std::size_t> same_from_bytes;

  bool fits() const { return !failure; }
};

/// Runs from the state that the history began in. Segments of the recorded program lie at their
/// recorded addresses, those of a changed one in the lowest gap.
WhatIfOutcome run_elsewhere(const VerifiedHistory& history, const WhatIf& what_if,
                            const ChangedProgram& program = {});

/// Runs from nothing. Throws std::invalid_argument for a trace that uses ids wrongly.
WhatIfOutcome run_elsewhere(const Trace& trace, const WhatIf& what_if);

}  // namespace ohm
