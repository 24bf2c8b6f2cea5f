#include "reports/html/html_findings.h"

#include <fmt/format.h>

#include "reports/text/conclusion_text.h"
#include "reports/text/html_text.h"
#include "reports/text/measured_text.h"
#include "reports/text/result_text.h"
#include "reports/text/unknown_values_text.h"

namespace ohm::reports {

namespace {

std::string unknown_values(const VariantResult& variant) {
  std::string rows;
  for (const UnknownValueResult& read : variant.unknown_values) {
    rows += fmt::format(
        "<tr><td class=\"tight\">{}</td><td class=\"soft\">{}</td><td "
        "class=\"n\">{}</td><td>{}</td>"
        "</tr>\n",
        name_of(read.kind), html(place_text(read.file, read.line)), grouped(read.count),
        html(read.detail));
  }
  std::string lines;
  for (const std::string& line : unknown_value_lines(variant)) {
    lines += fmt::format("{}{}", lines.empty() ? "" : "<br>", html(line));
  }
  return fmt::format(
      "<div class=\"finding\" data-pitfall=\"{0}\"><p><b>{0}</b>: the figures may be those of "
      "another path of the program.</p>\n<p>{1}</p>\n<div class=\"scroll\"><table><thead><tr>"
      "<th>decides<th>line<th class=\"n\">reads<th>what was read</tr></thead><tbody>\n{2}</tbody>"
      "</table></div>\n<p class=\"note\">{3}</p></div>\n",
      html(kUnknownValuesPitfall), lines, rows, html(unknown_values_advice(variant)));
}

std::string scenario_note(const FindingResult& finding) {
  const std::string scenario = explained_by(finding);
  return scenario.empty() ? "" : fmt::format("<p class=\"note\">{}</p>", html(scenario));
}

}  // namespace

std::string html_conclusion(const VariantResult& variant) {
  if (!variant.conclusion) return "";
  std::string out = fmt::format("<div class=\"finding conclusion\" data-cause=\"{}\">\n",
                                html(variant.conclusion->cause));
  for (const std::string& line : conclusion_lines(*variant.conclusion)) {
    const std::size_t colon = line.find(':');
    out +=
        fmt::format("<p><b>{}</b>{}</p>\n", html(line.substr(0, colon)), html(line.substr(colon)));
  }
  return out + "</div>\n";
}

std::string html_findings(const VariantResult& variant) {
  if (variant.findings.empty()) return "";
  std::string out = "<h3>What it shows</h3>\n";
  for (const FindingResult& finding : variant.findings) {
    if (finding.pitfall == kUnknownValuesPitfall) {
      out += unknown_values(variant);
      continue;
    }
    std::string rows;
    for (const FindingEvidence& evidence : finding.evidence) {
      rows += fmt::format(
          "<tr data-event=\"{}\" data-bytes=\"{}\"><td class=\"n\">{}</td><td "
          "class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"tight\">{}</td><td "
          "class=\"soft\">{}</td></tr>\n",
          evidence.event, evidence.bytes, html_bytes(evidence.bytes), grouped(evidence.count),
          grouped(evidence.event), html(evidence.op),
          html(full_place_text(evidence.file, evidence.line, evidence.library, evidence.module)));
    }
    out += fmt::format(
        "<div class=\"finding\" data-pitfall=\"{0}\"><p><b>{0}</b> on {1}: {2}.</p>\n<div "
        "class=\"scroll\"><table class=\"evidence\"><thead><tr><th class=\"n\">bytes<th "
        "class=\"n\">blocks<th "
        "class=\"n\">from event<th>op<th>line</tr></thead><tbody>\n{3}</tbody></table></div>\n{4}"
        "</div>\n",
        html(finding.pitfall), html(finding.device), html(finding.what), rows,
        scenario_note(finding));
  }
  return out;
}

}  // namespace ohm::reports
