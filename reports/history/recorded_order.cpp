#include "reports/history/recorded_order.h"

#include <algorithm>
#include <cstddef>

namespace ohm::reports {

std::vector<RecordedWhen> recorded_order(const Snapshot& snapshot) {
  std::vector<RecordedWhen> order;
  for (std::size_t device = 0; device < snapshot.device_traces.size(); ++device) {
    const std::vector<TraceEntry>& trace = snapshot.device_traces[device];
    for (std::size_t i = 0; i < trace.size(); ++i) {
      order.push_back(
          {trace[i].time_us, static_cast<std::uint32_t>(device), static_cast<std::uint32_t>(i)});
    }
  }
  // One device's are in their order; sorting millions takes its time all the same.
  const auto earlier = [](const RecordedWhen& a, const RecordedWhen& b) {
    return a.time_us < b.time_us;
  };
  if (!std::is_sorted(order.begin(), order.end(), earlier)) {
    std::stable_sort(order.begin(), order.end(), earlier);
  }
  return order;
}

bool has_recorded_stacks(const Snapshot& snapshot) {
  const auto has_one = [](const TraceEntry& entry) { return entry.stack != kNoStack; };
  const auto has_block = [](const SnapshotSegment& segment) {
    return std::any_of(segment.blocks.begin(), segment.blocks.end(),
                       [](const SnapshotBlock& block) { return block.stack != kNoStack; });
  };
  return std::any_of(
             snapshot.device_traces.begin(), snapshot.device_traces.end(),
             [&](const auto& trace) { return std::any_of(trace.begin(), trace.end(), has_one); }) ||
         std::any_of(snapshot.segments.begin(), snapshot.segments.end(), has_block);
}

}  // namespace ohm::reports
