// The diagnosis of a record of memory: which pitfalls of the catalogue it shows.
#pragma once

#include <vector>

#include "reports/model/memory_history.h"
#include "reports/model/run_result.h"

namespace ohm::reports {

/// `history` with all of its blocks; `devices` are those of the history, in its order, with their
/// peaks. What is about steps needs marks of them.
///
/// Found are: growth per step, a graph that is kept alive across steps, free memory stranded in
/// segments that are partly in use, optimizer state that appears late, and an imbalance. Each only
/// where its evidence lasts: what grows is there at the end, of every step; what is kept is kept in
/// every step; what is stranded would have served the request that ran out of memory, of
/// `oom_request_bytes` (0: the record has none). `passes_behind_steps` are the last events of those
/// of a loop that no step is part of, as of an evaluation that ran out of memory.
std::vector<FindingResult> diagnose(const MemoryHistory& history,
                                    const std::vector<DeviceResult>& devices,
                                    std::int64_t oom_request_bytes = 0,
                                    const std::vector<std::uint32_t>& passes_behind_steps = {});

}  // namespace ohm::reports
