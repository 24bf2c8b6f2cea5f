#include "reports/json/snapshot_columns.h"

#include <bit>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "allocator_shim/observe/event_record.h"

namespace ohm::reports {

namespace {

using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little, "rows are written as they lie in memory");

constexpr std::size_t kAlignment = sizeof(TraceEntry);

/// The stacks of events and blocks, each once. Ids are below the number of words in the table's
/// arena.
class UsedStacks {
 public:
  void add(StackId id) {
    if (id >= is_used_.size()) is_used_.resize(id + std::size_t{1});
    is_used_[id] = true;
  }

  /// [id, frame, frame, …], the innermost frame first.
  Json rows(const StackTable& tables) const {
    Json rows = Json::array();
    for (std::size_t id = 0; id < is_used_.size(); ++id) {
      if (!is_used_[id] || id == kNoStack) continue;
      Json row = {id};
      for (const FrameId frame : tables.stack(static_cast<StackId>(id))) row.push_back(frame);
      rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  std::vector<bool> is_used_;
};

Json frames(const StackTable& tables) {
  Json rows = Json::array();
  for (std::size_t id = 0; id < tables.frame_count(); ++id) {
    const StackFrame& frame = tables.frame(static_cast<FrameId>(id));
    rows.push_back({tables.text(frame.filename), frame.line, tables.text(frame.name)});
  }
  return rows;
}

Json details(const Snapshot& snapshot) {
  Json rows = Json::array();
  for (const TraceDetail& detail : snapshot.details) {
    rows.push_back({detail.stream, snapshot.tables.text(detail.category)});
  }
  return rows;
}

Json actions() {
  Json names = Json::array();
  for (auto action = EventAction::alloc; action <= EventAction::oom;
       action = static_cast<EventAction>(static_cast<int>(action) + 1)) {
    names.push_back(name_of(action));
  }
  return names;
}

Json segments(const Snapshot& snapshot) {
  Json rows = Json::array();
  for (const SnapshotSegment& segment : snapshot.segments) {
    rows.push_back({segment.device, segment.address, segment.bytes, segment.stream,
                    segment.is_small, segment.is_expandable});
  }
  return rows;
}

Json blocks(const Snapshot& snapshot) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < snapshot.segments.size(); ++i) {
    for (const SnapshotBlock& block : snapshot.segments[i].blocks) {
      rows.push_back({i, block.address, block.bytes, block.requested_bytes,
                      static_cast<int>(block.state), block.stack,
                      snapshot.tables.text(block.category)});
    }
  }
  return rows;
}

UsedStacks used_stacks(const Snapshot& snapshot) {
  UsedStacks used;
  for (const auto& trace : snapshot.device_traces) {
    for (const TraceEntry& entry : trace) used.add(entry.stack);
  }
  for (const SnapshotSegment& segment : snapshot.segments) {
    for (const SnapshotBlock& block : segment.blocks) used.add(block.stack);
  }
  return used;
}

std::string header(const Snapshot& snapshot) {
  Json counts = Json::array();
  for (const auto& trace : snapshot.device_traces) counts.push_back(trace.size());
  const Json json = {{"schema", "ohm.columns/1"},
                     {"events", counts},
                     {"actions", actions()},
                     {"details", details(snapshot)},
                     {"frames", frames(snapshot.tables)},
                     {"stacks", used_stacks(snapshot).rows(snapshot.tables)},
                     {"segments", segments(snapshot)},
                     {"blocks", blocks(snapshot)}};
  // Names of files may hold bytes that are no text.
  std::string text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
  const std::size_t end = (text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  text.resize(end - 1, ' ');
  return text += '\n';
}

}  // namespace

void write_snapshot_columns(const Snapshot& snapshot, ReportFile& file) {
  file.write(header(snapshot));
  for (const auto& trace : snapshot.device_traces) {
    const auto* const bytes = reinterpret_cast<const char*>(trace.data());
    file.write(std::string_view(bytes, trace.size() * sizeof(TraceEntry)));
  }
}

}  // namespace ohm::reports
