// Recordings whose oldest events were not kept.
#pragma once

#include <string>
#include <string_view>

#include "allocator_shim/snapshot/snapshot.h"

namespace ohm::reports {

/// The annotation of a snapshot of ohm exec that is.
inline constexpr std::string_view kDroppedByExec = "ohm exec dropped events";

/// Whether ohm's recorder has dropped events at the beginning.
bool is_cut(const Snapshot& snapshot);

/// "1,000 events"; of a recording that was cut "the last 1,000 events".
std::string events_text(const Snapshot& snapshot, std::int64_t events);

/// "; earlier ones were not kept, ohm record --max-entries keeps more"; "" where none are missing.
std::string earlier_events_text(const Snapshot& snapshot);

}  // namespace ohm::reports
