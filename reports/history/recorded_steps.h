// Steps of a recorded program, as its annotations mark them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "allocator_shim/snapshot/snapshot.h"

namespace ohm::reports {

/// The last event of each step. The profiler's steps ("ProfilerStep#5") come first; without them
/// ranges that are named as steps are ("train_step", "iteration 7", what an optimizer marks); of
/// several names the one that comes first. Empty where there are none.
///
/// `event_at` finds the last event that is not later than a time.
std::vector<std::uint32_t> marked_steps(const Snapshot& snapshot,
                                        const std::function<std::uint32_t(std::int64_t)>& event_at);

/// Whether these stacks are of one call of a module's forward or backward: what repeats there are
/// its layers, not the steps of a program.
bool is_inside_of_a_module(const StackTable& tables, const std::vector<StackId>& stacks);

}  // namespace ohm::reports
