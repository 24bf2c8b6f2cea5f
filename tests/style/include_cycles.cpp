#include "tests/style/include_cycles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <string_view>

namespace ohm::style {
namespace {

/// The units that each unit includes, by name.
using Graph = std::map<std::string, std::set<std::string>>;

std::string unit_of(std::string_view path) { return std::string(path.substr(0, path.rfind('.'))); }

Graph unit_graph(const std::vector<SourceFile>& sources) {
  Graph graph;
  for (const SourceFile& source : sources) graph[unit_of(source.path)];
  for (const SourceFile& source : sources) {
    const std::string from = unit_of(source.path);
    for (const Include& include : source.includes) {
      const std::string to = unit_of(include.path);
      if (to != from && graph.contains(to)) graph[from].insert(to);
    }
  }
  return graph;
}

/// The shortest way from a unit back to it, both ends included; empty when there is none.
std::vector<std::string> way_around(const Graph& graph, const std::string& start) {
  std::map<std::string, std::string> reached_from;
  std::deque<std::string> open = {start};
  while (!open.empty() && !reached_from.contains(start)) {
    const std::string unit = open.front();
    open.pop_front();
    for (const std::string& next : graph.at(unit)) {
      if (reached_from.try_emplace(next, unit).second) open.push_back(next);
    }
  }
  if (!reached_from.contains(start)) return {};
  std::vector<std::string> way = {start};
  do {
    way.push_back(reached_from.at(way.back()));
  } while (way.back() != start);
  std::reverse(way.begin(), way.end());
  return way;
}

std::string first_file_of(const std::vector<SourceFile>& sources, const std::string& unit) {
  const auto found = std::find_if(sources.begin(), sources.end(), [&](const SourceFile& source) {
    return unit_of(source.path) == unit;
  });
  return found->path;
}

}  // namespace

std::vector<Breach> find_include_cycles(const std::vector<SourceFile>& sources) {
  const Graph graph = unit_graph(sources);
  std::vector<Breach> breaches;
  std::set<std::string> told;
  for (const auto& [unit, included] : graph) {
    if (told.contains(unit)) continue;
    const std::vector<std::string> way = way_around(graph, unit);
    if (way.empty()) continue;
    told.insert(way.begin(), way.end());
    breaches.push_back({first_file_of(sources, unit), 0,
                        fmt::format("a cycle of includes: {}", fmt::join(way, " > "))});
  }
  return breaches;
}

}  // namespace ohm::style
