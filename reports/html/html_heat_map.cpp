#include "reports/html/html_heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "reports/text/html_text.h"
#include "reports/text/measured_text.h"
#include "reports/text/result_text.h"

namespace ohm::reports {

namespace {

/// More rows are too many to read; those with bad verdicts come first then.
constexpr std::size_t kMostHeatMapRows = 400;

using Row = HeatMapRow;

std::int64_t bad_count(const Row& row) {
  return std::accumulate(row.counts.begin() + 1, row.counts.end(), std::int64_t{0});
}

std::string cell(std::int64_t count, std::size_t column, std::int64_t faults) {
  if (count == 0) return "<td class=\"cell\"></td>";
  const double share = static_cast<double>(count) / static_cast<double>(faults);
  return fmt::format("<td class=\"cell {}\" style=\"--heat:{:.0f}%\" data-count=\"{}\">{}</td>",
                     column == 0 ? "good" : "bad", 22 + 58 * share, count, grouped(count));
}

std::string row_text(const Row& row) {
  const std::int64_t faults =
      std::accumulate(row.counts.begin(), row.counts.end(), std::int64_t{0});
  std::string cells;
  for (std::size_t i = 0; i < row.counts.size(); ++i) cells += cell(row.counts[i], i, faults);
  return fmt::format(
      "<tr data-point=\"{0}\"><td class=\"mono\">{0}</td><td>{1}</td><td class=\"soft\">{2}</td>{3}"
      "</tr>\n",
      html(row.point), html(row.op), html(place_text(row.file, row.line)), cells);
}

std::string heat_map(const HeatMapResult& map) {
  std::vector<const Row*> rows;
  rows.reserve(map.rows.size());
  for (const Row& row : map.rows) rows.push_back(&row);
  if (rows.size() > kMostHeatMapRows) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row* a, const Row* b) { return bad_count(*a) > bad_count(*b); });
    rows.resize(kMostHeatMapRows);
  }
  std::string head;
  for (const std::string& column : map.columns) {
    std::string words = column;
    std::replace(words.begin(), words.end(), '_', ' ');
    head += fmt::format("<th class=\"cell\">{}", html(words));
  }
  std::string body;
  for (const Row* row : rows) body += row_text(*row);
  const std::string more =
      map.rows.size() == rows.size()
          ? ""
          : fmt::format("<p class=\"note\">and {} points more, all of them good or less bad</p>\n",
                        grouped(static_cast<std::int64_t>(map.rows.size() - rows.size())));
  return fmt::format(
      "<h4>{0}</h4>\n<div class=\"scroll\"><table class=\"heat\" data-variant=\"{0}\"><thead><tr>"
      "<th>point<th>op<th>line{1}</tr></thead><tbody>\n{2}</tbody></table></div>\n{3}",
      html(map.variant), head, body, more);
}

}  // namespace

std::string html_heat_maps(const ScenarioResult& scenario) {
  if (scenario.heat_maps.empty()) return "";
  std::string out =
      "<h3>Injected failures</h3>\n<p class=\"note\">Each row is a place that requests memory, "
      "each column an outcome; cells count failures.</p>\n";
  for (const HeatMapResult& map : scenario.heat_maps) out += heat_map(map);
  return out;
}

}  // namespace ohm::reports
