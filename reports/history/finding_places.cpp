#include "reports/history/finding_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "reports/history/call_tree.h"
#include "reports/history/shown_place.h"

namespace ohm::reports {

void FindingPlaces::add(const HistoryBlock& block) {
  const auto [place, is_new] = places_.try_emplace(block.site);
  FindingEvidence& evidence = place->second;
  evidence.event = is_new ? block.begin : std::min<std::int64_t>(evidence.event, block.begin);
  evidence.bytes += static_cast<std::int64_t>(block.bytes);
  ++evidence.count;
  bytes_ += static_cast<std::int64_t>(block.bytes);
}

std::vector<std::uint32_t> FindingPlaces::sites() const {
  std::vector<std::uint32_t> sites;
  for (const auto& [id, part] : places_) sites.push_back(id);
  return sites;
}

std::size_t FindingPlaces::lines(const MemoryHistory& history) const {
  std::set<std::pair<std::string_view, int>> lines;
  for (const auto& [id, part] : places_) {
    lines.emplace(history.sites[id].file, history.sites[id].line);
  }
  return lines.size();
}

std::size_t FindingPlaces::ops(const MemoryHistory& history) const {
  std::set<ShownPlace> ops;
  for (const auto& [id, part] : places_) ops.insert(shown_op(history.sites[id]));
  return ops.size();
}

std::vector<FindingEvidence> FindingPlaces::evidence(const MemoryHistory& history) const {
  std::map<ShownPlace, FindingEvidence> by_place;
  for (const auto& [id, part] : places_) {
    const HistorySite& site = history.sites[id];
    FindingEvidence& row = by_place[shown_place(site)];
    const bool is_first = row.count == 0;
    name_row(row, site, is_first);
    row.event = is_first ? part.event : std::min(row.event, part.event);
    row.bytes += part.bytes;
    row.count += part.count;
  }
  std::vector<FindingEvidence> rows;
  for (auto& [place, row] : by_place) rows.push_back(std::move(row));
  std::stable_sort(
      rows.begin(), rows.end(),
      [](const FindingEvidence& a, const FindingEvidence& b) { return a.bytes > b.bytes; });
  if (rows.size() > kMostEvidence) rows.resize(kMostEvidence);
  return rows;
}

std::string FindingPlaces::common_caller(const MemoryHistory& history) const {
  std::vector<std::uint32_t> calls;
  for (const auto& [id, part] : places_) calls.push_back(history.sites[id].call);
  const HistoryLine* const line = common_own_line(history, calls);
  if (line == nullptr) return "";
  const auto is_made_there = [&](const auto& place) {
    const HistorySite& site = history.sites[place.first];
    return site.file == line->file && site.line == line->line;
  };
  if (std::all_of(places_.begin(), places_.end(), is_made_there)) return "";
  const bool has_function = !line->function.empty() && !line->function.starts_with('<');
  return fmt::format(", all called from {}:{}{},", line->file, line->line,
                     has_function ? " in " + line->function : "");
}

}  // namespace ohm::reports
