// Steps of a recorded program, as its annotations mark them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "allocator_shim/snapshot/snapshot.h"

namespace ohm::reports {

/// The last event of each step. The profiler's steps ("ProfilerStep#5") come first; without them
/// ranges that are named as steps are ("train_step", "iteration 7", what an optimizer marks); of
/// several names the one that comes first, and of optimizers also those that take over from it.
/// Empty where there are none.
///
/// `event_at` finds the last event that is not later than a time.
std::vector<std::uint32_t> marked_steps(const Snapshot& snapshot,
                                        const std::function<std::uint32_t(std::int64_t)>& event_at);

/// Of one device the number of events up to the end of each marked step, ascending.
std::vector<std::uint32_t> marked_step_ends(const Snapshot& snapshot, std::size_t device);

/// The same where without marks the passes of the program's outermost loop (repeated_passes.h) are
/// its steps.
std::vector<std::uint32_t> step_ends(const Snapshot& snapshot, std::size_t device);

/// How many steps came behind those that are recorded, needed no more memory, and were left out by
/// ohm record; 0: none.
std::int64_t left_out_steps(const Snapshot& snapshot);

/// What to tell whose record has none.
inline constexpr const char* kHowToMarkSteps =
    "put torch.profiler.record_function(\"train_step\") around each step, of which three are "
    "needed";

}  // namespace ohm::reports
