#include "harness/machine/memory_recording.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "harness/machine/holder_table.h"
#include "reports/history/history_builder.h"
#include "reports/history/live_memory.h"

namespace ohm::engine {

namespace {

/// The events of one GPU that first reached the largest sum of blocks.
class PeakFinder {
 public:
  void add(const MemoryEvent& event, std::size_t time) {
    const auto bytes = static_cast<std::int64_t>(event.block_bytes());
    if (event.action == EventAction::free_requested) allocated_ -= bytes;
    if (event.action != EventAction::alloc) return;
    allocated_ += bytes;
    if (allocated_ <= peak_) return;
    peak_ = allocated_;
    event_ = time;
  }
  std::size_t event() const { return event_; }

 private:
  std::int64_t allocated_ = 0;
  std::int64_t peak_ = 0;
  std::size_t event_ = 0;
};

std::vector<std::size_t> peak_events(const EventRecord& events, std::size_t gpus) {
  std::vector<PeakFinder> finders(gpus);
  for (std::size_t i = 0; i < events.size(); ++i) {
    const MemoryEvent& event = events[i];
    if (event.device >= 0) finders[static_cast<std::size_t>(event.device)].add(event, i);
  }
  std::vector<std::size_t> peaks;
  for (const PeakFinder& finder : finders) peaks.push_back(finder.event());
  return peaks;
}

std::int64_t step_of(std::size_t event, const RecordedMarks& marks) {
  const auto finished = std::upper_bound(marks.steps.begin(), marks.steps.end(), event);
  return 1 + (finished - marks.steps.begin());
}

PeakResult peak_of(const reports::LiveMemory& memory, std::size_t event, const Machine& machine,
                   const RecordedMarks& marks) {
  HolderTable holders;
  memory.for_each_allocated([&](const reports::BlockSpan& block) {
    holders.add(block.site, block.category, block.bytes);
  });
  return {static_cast<std::int64_t>(event), step_of(event, marks), holders.sorted(machine.sites())};
}

std::uint32_t last_event_of(std::uint64_t events_before) {
  return static_cast<std::uint32_t>(events_before == 0 ? 0 : events_before - 1);
}

}  // namespace

void fill_peaks(std::vector<DeviceResult>& devices, const Machine& machine,
                const RecordedMarks& marks) {
  const EventRecord& events = machine.events();
  const std::vector<std::size_t> peaks = peak_events(events, devices.size());
  std::vector<reports::LiveMemory> memory(devices.size());
  const std::size_t last = peaks.empty() ? 0 : *std::max_element(peaks.begin(), peaks.end());
  for (std::size_t i = 0; i < events.size() && i <= last; ++i) {
    const MemoryEvent& event = events[i];
    if (event.device < 0) continue;
    const auto gpu = static_cast<std::size_t>(event.device);
    if (i > peaks[gpu]) continue;
    memory[gpu].add(event, static_cast<std::uint32_t>(i));
  }
  for (std::size_t gpu = 0; gpu < devices.size(); ++gpu) {
    devices[gpu].peak = peak_of(memory[gpu], peaks[gpu], machine, marks);
  }
}

MemoryHistory memory_history(const Machine& machine, const RecordedMarks& marks,
                             const CallNotes& notes) {
  const EventRecord& events = machine.events();
  const auto gpus = static_cast<std::size_t>(machine.gpu_count());
  const std::size_t count = std::min<std::size_t>(events.size(), UINT32_MAX - 1);
  reports::HistoryBuilder builder(gpus, static_cast<std::uint32_t>(count));
  for (std::size_t i = 0; i < count; ++i) builder.add(events[i], static_cast<std::uint32_t>(i));
  MemoryHistory history = builder.finish();
  for (const std::uint64_t mark : marks.steps) history.steps.push_back(last_event_of(mark));
  if (marks.oom) history.oom_event = last_event_of(*marks.oom);
  for (std::size_t id = 0; id < machine.sites().size(); ++id) {
    const Site& site = machine.sites().at(static_cast<SiteId>(id));
    history.sites.push_back({site.file, site.line, site.op, "", 0});
  }
  for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
    history.devices[gpu].device = Device::cuda(static_cast<int>(gpu)).str();
  }
  notes.add_to(history);
  reports::reduce(history, {});
  return history;
}

}  // namespace ohm::engine
