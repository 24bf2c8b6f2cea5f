#include "reports/history/recorded_steps.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "reports/history/repeated_passes.h"
#include "reports/history/user_frames.h"

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
constexpr int kOfOptimizer = 1;
int rank_of(std::string_view name) {
  if (contains(name, "profilerstep")) return 3;
  if (contains(name, "optimizer")) return contains(name, ".step") ? kOfOptimizer : 0;
  return contains(name, "step") || contains(name, "iteration") ? 2 : 0;
}

/// When a name was marked.
struct MarkedName {
  std::int64_t first_us = 0;
  std::int64_t last_us = 0;
};

/// Of these names, and those that are as much a step's, which mark steps: of optimizers that step
/// side by side one does, and of one that another takes over from both do.
std::set<std::string> names_of_steps(const std::map<std::string, MarkedName>& marked,
                                     const std::string& chosen) {
  std::set<std::string> names = {chosen};
  if (rank_of(chosen) != kOfOptimizer) return names;
  for (const auto& [name, when] : marked) {
    if (rank_of(name) != kOfOptimizer) continue;
    const auto is_beside = [&, &when = when](const std::string& other) {
      const MarkedName& others = marked.at(other);
      return when.first_us <= others.last_us && others.first_us <= when.last_us;
    };
    if (std::none_of(names.begin(), names.end(), is_beside)) names.insert(name);
  }
  return names;
}

}  // namespace

std::vector<std::uint32_t> marked_steps(
    const Snapshot& snapshot, const std::function<std::uint32_t(std::int64_t)>& event_at) {
  std::string chosen;
  std::map<std::string, MarkedName> marked;
  for (const SnapshotAnnotation& annotation : snapshot.external_annotations) {
    if (is_user_folder_note(snapshot.tables.text(annotation.name))) continue;
    const std::string name = without_numbers(snapshot.tables.text(annotation.name));
    if (rank_of(name) > rank_of(chosen)) chosen = name;
    const std::int64_t time = annotation.time_us;
    MarkedName& when = marked.try_emplace(name, MarkedName{time, time}).first->second;
    when.first_us = std::min(when.first_us, time);
    when.last_us = std::max(when.last_us, time);
  }
  std::vector<std::uint32_t> events;
  if (chosen.empty()) return events;
  const std::set<std::string> names = names_of_steps(marked, chosen);
  for (const SnapshotAnnotation& annotation : snapshot.external_annotations) {
    const bool is_end = snapshot.tables.text(annotation.stage) == "END" &&
                        names.contains(without_numbers(snapshot.tables.text(annotation.name)));
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
    requests.push_back({static_cast<std::uint32_t>(i + 1), trace[i].stack, false});
  }
  return repeated_passes(snapshot.tables, requests, static_cast<std::uint32_t>(trace.size()));
}

std::int64_t left_out_steps(const Snapshot& snapshot) {
  /// As harness/record/ohm_job_recorder.py writes it.
  constexpr std::string_view kLeftOut = "ohm record left out ";
  for (const SnapshotAnnotation& annotation : snapshot.external_annotations) {
    const std::string_view name = snapshot.tables.text(annotation.name);
    if (!name.starts_with(kLeftOut)) continue;
    std::int64_t steps = 0;
    const char* const end = name.data() + name.size();
    const auto [rest, wrong] = std::from_chars(name.data() + kLeftOut.size(), end, steps);
    return wrong == std::errc() && rest == end && steps > 0 ? steps : 0;
  }
  return 0;
}

}  // namespace ohm::reports
