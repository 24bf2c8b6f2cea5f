// ohm replay: a recorded history through the allocator, as it was and as it might have been.
#pragma once

#include "harness/cli/command.h"

namespace ohm::cli {

std::function<int()> setup_replay(const OptionParser& parser, const Environment& environment);

inline constexpr Command kReplayCommand = {
    "replay", "Replay a memory snapshot or a .trace through the allocator: verify, what if, limits",
    "ohm replay snapshot.pickle --verify\n"
    "ohm replay snapshot.pickle --capacity 24GiB --alloc-conf '' --alloc-conf "
    "expandable_segments:True\n"
    "ohm replay snapshot.pickle --min-capacity\n"
    "ohm replay job.pickle --limit 'peak_allocated_bytes < 20 GiB' --limit "
    "'growth_bytes_per_step == 0'\n"
    "ohm replay job.pickle --baseline main.pickle --tolerance 1\n"
    "ohm replay requests.trace --format golden | diff - requests.expected",
    setup_replay};

}  // namespace ohm::cli
