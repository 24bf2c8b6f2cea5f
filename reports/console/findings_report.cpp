#include "reports/console/findings_report.h"

#include <fmt/format.h>

#include "reports/console/console_breakdown.h"
#include "reports/html/html_text.h"
#include "reports/text/measured_text.h"
#include "reports/text/paint.h"
#include "reports/text/text_layout.h"

namespace ohm::reports {

namespace {

std::string evidence_line(const FindingEvidence& evidence) {
  return fmt::format("{} in {} block{} of {}, {}, from event {}",
                     short_figure(static_cast<double>(evidence.bytes), Unit::bytes),
                     grouped(evidence.count), evidence.count == 1 ? "" : "s",
                     evidence.op.empty() ? "an unknown op" : evidence.op,
                     place_text(evidence.file, evidence.line), grouped(evidence.event));
}

std::string explained_by(const FindingResult& finding) {
  return fmt::format("explained by scenarios/{}.lua", finding.scenario);
}

}  // namespace

std::string console_findings(const VariantResult& variant, const ReportStyle& style) {
  std::string out;
  for (const FindingResult& finding : variant.findings) {
    if (!out.empty()) out += "\n";
    out += painted(indented(printable(fmt::format("{} on {}", finding.pitfall, finding.device)), 2,
                            style.columns),
                   Tone::warning, style.color);
    out += indented(printable(finding.what), 4, style.columns);
    for (const FindingEvidence& evidence : finding.evidence) {
      out += indented(printable(evidence_line(evidence)), 6, style.columns);
    }
    out += indented(printable(explained_by(finding)), 4, style.columns);
  }
  return out;
}

std::string html_findings(const VariantResult& variant) {
  if (variant.findings.empty()) return "";
  std::string out = "<h3>What it shows</h3>\n";
  for (const FindingResult& finding : variant.findings) {
    std::string rows;
    for (const FindingEvidence& evidence : finding.evidence) {
      rows += fmt::format(
          "<tr data-event=\"{}\" data-bytes=\"{}\"><td class=\"n\">{}</td><td "
          "class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"tight\">{}</td><td "
          "class=\"soft\">{}</td></tr>\n",
          evidence.event, evidence.bytes, html_bytes(evidence.bytes), grouped(evidence.count),
          grouped(evidence.event), html(evidence.op),
          html(place_text(evidence.file, evidence.line)));
    }
    out += fmt::format(
        "<div class=\"finding\" data-pitfall=\"{0}\"><p><b>{0}</b> on {1}: {2}.</p>\n<div "
        "class=\"scroll\"><table><thead><tr><th class=\"n\">bytes<th class=\"n\">blocks<th "
        "class=\"n\">from event<th>op<th>line</tr></thead><tbody>\n{3}</tbody></table></div>\n<p "
        "class=\"note\">{4}</p></div>\n",
        html(finding.pitfall), html(finding.device), html(finding.what), rows,
        html(explained_by(finding)));
  }
  return out;
}

}  // namespace ohm::reports
