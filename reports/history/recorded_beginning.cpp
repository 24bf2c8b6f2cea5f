#include "reports/history/recorded_beginning.h"

#include <vector>

namespace ohm::reports {

RecordedBeginning::RecordedBeginning(const Snapshot& snapshot, std::size_t device) {
  for (const SnapshotSegment& segment : snapshot.segments) {
    if (static_cast<std::size_t>(segment.device) != device) continue;
    ranges_.map(segment.address, segment.bytes);
    for (const SnapshotBlock& block : segment.blocks) {
      if (block.state == BlockView::State::inactive) continue;
      blocks_[block.address] = {block.bytes, block.stack, block.category, true};
    }
  }
  if (device >= snapshot.device_traces.size()) return;
  const std::vector<TraceEntry>& trace = snapshot.device_traces[device];
  for (std::size_t i = trace.size(); i-- > 0;) undo(i, trace[i], snapshot);
}

void RecordedBeginning::undo(std::size_t index, const TraceEntry& entry, const Snapshot& snapshot) {
  switch (entry.action) {
    case EventAction::alloc:
      return undo_alloc(index, entry);
    case EventAction::free_completed:
      // The stack is that of who freed it, which tells nothing about who made it.
      blocks_[entry.address] = {entry.bytes, kNoStack, snapshot.detail(entry).category, false};
      return;
    case EventAction::segment_alloc:
    case EventAction::segment_map:
      return ranges_.unmap(entry.address, entry.bytes);
    case EventAction::segment_free:
    case EventAction::segment_unmap:
      return ranges_.map(entry.address, entry.bytes);
    default:
      return;
  }
}

void RecordedBeginning::undo_alloc(std::size_t index, const TraceEntry& entry) {
  const auto found = blocks_.find(entry.address);
  if (found == blocks_.end()) return;
  if (found->second.is_at_end) bytes_at_end_[index] = found->second.bytes;
  blocks_.erase(found);
}

}  // namespace ohm::reports
