#include "reports/html/html_card.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "allocator_shim/base/format_bytes.h"
#include "reports/html/html_findings.h"
#include "reports/text/html_text.h"
#include "reports/text/limit_lines.h"
#include "reports/text/measured_text.h"
#include "reports/text/result_text.h"

namespace ohm::reports {

namespace {

constexpr std::array<const char*, kVerdictNames.size()> kVerdictMarks = {"✓", "✗", "!", "–", "·"};

/// With several problems, each followed by what belongs to it; the rest comes last.
std::vector<std::size_t> indices_by_problem(const ScenarioResult& scenario) {
  std::vector<std::string> problems;
  for (const VariantResult& variant : scenario.variants) {
    if (variant.role == Role::problem) problems.push_back(variant.name);
  }
  const auto place = [&](std::size_t i) {
    const VariantResult& variant = scenario.variants[i];
    const std::string& problem = variant.role == Role::problem ? variant.name : variant.of;
    return std::find(problems.begin(), problems.end(), problem);
  };
  std::vector<std::size_t> order(scenario.variants.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  return order;
}

/// What the right end of the bars stands for.
std::int64_t scale_of(const ScenarioResult& scenario, const std::vector<LimitLine>& lines) {
  std::int64_t largest = 1;
  for (const VariantResult& variant : scenario.variants) {
    largest = std::max(largest, peak_bytes(variant));
  }
  const std::int64_t peaks = largest;
  for (const LimitLine& line : lines) {
    // A capacity far away would leave no room for the bars.
    if (line.bytes <= 4 * peaks) largest = std::max(largest, line.bytes);
  }
  return largest + largest / 25;
}

std::string limit_marks(const std::vector<LimitLine>& lines, std::int64_t scale) {
  std::string out;
  for (const LimitLine& line : lines) {
    if (line.bytes > scale) continue;
    out += fmt::format("<i class=\"limit{}\" style=\"left:{:.3f}%\" title=\"{}\"></i>",
                       line.is_capacity ? " capacity" : "",
                       100 * static_cast<double>(line.bytes) / static_cast<double>(scale),
                       html(line.label));
  }
  return out;
}

std::string axis(std::int64_t scale) {
  return fmt::format(
      "<div class=\"axis\"><span class=\"first\" style=\"left:0\">0</span><span "
      "style=\"left:50%\">{}</span><span class=\"last\" style=\"left:100%\">{}</span></div>",
      short_bytes(scale / 2), short_bytes(scale));
}

std::string equivalence_text(const VariantResult& variant) {
  switch (variant.equivalence) {
    case Equivalence::same:
      return " · same values";
    case Equivalence::different:
      return " · other values";
    case Equivalence::trade:
      return " · trades " + html(variant.trades);
    case Equivalence::not_checked:
      break;
  }
  return "";
}

std::string row(const VariantResult& variant, std::size_t index,
                const std::vector<LimitLine>& lines, std::int64_t scale) {
  const std::int64_t peak = peak_bytes(variant);
  const bool is_bad = variant.verdict == Verdict::failed || variant.verdict == Verdict::error;
  return fmt::format(
      "<tr class=\"{}\" data-variant=\"{}\"><td><div class=\"who {}\"><span class=\"mark\" "
      "title=\"{}\">{}</span><span class=\"name\"><a href=\"#\" data-pick=\"{}\">{}</a><span "
      "class=\"role\">{}{}</span></span></div></td><td class=\"n\" data-peak=\"{}\" "
      "title=\"{} bytes\">{}</td><td><div class=\"bar\"><i class=\"fill r-{}\" "
      "style=\"width:{:.3f}%\"></i>{}</div></td><td class=\"found\">{}{}</td></tr>\n",
      is_bad ? "bad" : "", html(variant.name), name_of(variant.verdict), name_of(variant.verdict),
      kVerdictMarks[static_cast<std::size_t>(variant.verdict)], index, html(variant.name),
      role_text(variant), variant.of.empty() ? "" : " of " + html(variant.of), peak, grouped(peak),
      short_bytes(peak), name_of(variant.role),
      100 * static_cast<double>(peak) / static_cast<double>(scale), limit_marks(lines, scale),
      html(variant.reason), equivalence_text(variant));
}

std::string legend(const std::vector<LimitLine>& lines, std::int64_t scale) {
  std::string out;
  for (const LimitLine& line : lines) {
    out += fmt::format("<span class=\"key\"><i class=\"{}\"></i>{}{}</span>",
                       line.is_capacity ? "solid" : "line", html(line.label),
                       line.bytes > scale ? " (beyond the right end)" : "");
  }
  return "<div class=\"legend\">" + out + "</div>\n";
}

}  // namespace

bool has_conclusion_on_card(const ScenarioResult& scenario) {
  return scenario.variants.size() == 1;
}

std::string html_card(const ScenarioResult& scenario) {
  if (scenario.variants.empty()) return "";
  const std::vector<LimitLine> lines = limit_lines(scenario);
  const std::int64_t scale = scale_of(scenario, lines);
  std::string out =
      "<table class=\"card\"><thead><tr><th class=\"c-variant\">variant<th class=\"n c-peak\">peak"
      "<th>" +
      axis(scale) + "<th class=\"c-found\">what was found</tr></thead><tbody>\n";
  for (const std::size_t i : indices_by_problem(scenario)) {
    out += row(scenario.variants[i], i, lines, scale);
  }
  out += "</tbody></table>\n";
  if (has_conclusion_on_card(scenario)) out += html_conclusion(scenario.variants.front());
  out += legend(lines, scale);
  for (const std::string& note : {card_text(scenario), modelled_text(scenario)}) {
    if (!note.empty()) out += fmt::format("<p class=\"note\">{}</p>\n", html(note));
  }
  return out;
}

}  // namespace ohm::reports
