#include "reports/history/recorded_steps.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

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

}  // namespace ohm::reports
