#include "reports/history/recorded_steps.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "reports/history/repeated_passes.h"

namespace ohm::reports {

namespace {

/// "Iteration #12" and "iteration #13" are one name: "iteration #".
std::string without_numbers(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isdigit(byte) == 0) out += static_cast<char>(std::tolower(byte));
  }
  return out;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// How much a name is a step's; 0: not at all.
int rank_of(std::string_view name) {
  if (contains(name, "profilerstep")) return 3;
  if (contains(name, "optimizer")) return contains(name, ".step") ? 1 : 0;
  return contains(name, "step") || contains(name, "iteration") ? 2 : 0;
}

}  // namespace

std::vector<std::uint32_t> marked_steps(
    const Snapshot& snapshot, const std::function<std::uint32_t(std::int64_t)>& event_at) {
  std::string chosen;
  for (const SnapshotAnnotation& annotation : snapshot.external_annotations) {
    const std::string name = without_numbers(snapshot.tables.text(annotation.name));
    if (rank_of(name) > rank_of(chosen)) chosen = name;
  }
  std::vector<std::uint32_t> events;
  if (chosen.empty()) return events;
  for (const SnapshotAnnotation& annotation : snapshot.external_annotations) {
    const bool is_end = snapshot.tables.text(annotation.stage) == "END" &&
                        without_numbers(snapshot.tables.text(annotation.name)) == chosen;
    if (is_end) events.push_back(event_at(annotation.time_us));
  }
  std::sort(events.begin(), events.end());
  events.erase(std::unique(events.begin(), events.end()), events.end());
  return events;
}

std::vector<std::uint32_t> marked_step_ends(const Snapshot& snapshot, std::size_t device) {
  const std::vector<TraceEntry>& trace = snapshot.device_traces[device];
  return marked_steps(snapshot, [&trace](std::int64_t time_us) {
    const auto after = std::upper_bound(
        trace.begin(), trace.end(), time_us,
        [](std::int64_t time, const TraceEntry& entry) { return time < entry.time_us; });
    return static_cast<std::uint32_t>(after - trace.begin());
  });
}

std::vector<std::uint32_t> step_ends(const Snapshot& snapshot, std::size_t device) {
  std::vector<std::uint32_t> ends = marked_step_ends(snapshot, device);
  if (!ends.empty()) return ends;
  const std::vector<TraceEntry>& trace = snapshot.device_traces[device];
  std::vector<RecordedRequest> requests;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    if (trace[i].action != EventAction::alloc) continue;
    requests.push_back({static_cast<std::uint32_t>(i + 1), trace[i].stack});
  }
  return repeated_passes(snapshot.tables, requests, static_cast<std::uint32_t>(trace.size()));
}

}  // namespace ohm::reports
