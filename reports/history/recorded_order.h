// The order of all events of a snapshot: its traces are those of devices.
#pragma once

#include <cstdint>
#include <vector>

#include "allocator_shim/snapshot/snapshot.h"

namespace ohm::reports {

/// An event: its time, and its place in the trace of its device.
struct RecordedWhen {
  std::int64_t time_us;
  std::uint32_t device;
  std::uint32_t index;
};

/// All events in the order of their times; those of one device keep theirs.
std::vector<RecordedWhen> recorded_order(const Snapshot& snapshot);

/// Whether an event or a block has a stack.
bool has_recorded_stacks(const Snapshot& snapshot);

}  // namespace ohm::reports
