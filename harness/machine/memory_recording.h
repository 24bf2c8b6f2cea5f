// Memory over time, from a machine's event record. Nothing is recorded for it: the
// events are there in any case, and are read once the variant has ended.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/machine/call_notes.h"
#include "harness/machine/machine.h"
#include "reports/history/history_detail.h"
#include "reports/model/run_result.h"

namespace ohm::engine {

/// When things happened, as ordinals of the events: after `steps[i]` events step i had ended.
struct RecordedMarks {
  std::vector<std::uint64_t> steps;
  std::optional<std::uint64_t> oom;  ///< events before the error that ended the variant
};

/// Fills in `peak` of each device.
void fill_peaks(std::vector<DeviceResult>& devices, const Machine& machine,
                const RecordedMarks& marks);

/// The whole history, reduced to what a report has room for.
MemoryHistory memory_history(const Machine& machine, const RecordedMarks& marks,
                             const CallNotes& notes);

}  // namespace ohm::engine
