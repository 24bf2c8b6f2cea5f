#include "reports/console/console_findings.h"

#include <fmt/format.h>

#include "reports/text/measured_text.h"
#include "reports/text/paint.h"
#include "reports/text/result_text.h"
#include "reports/text/text_layout.h"
#include "reports/text/unknown_values_text.h"

namespace ohm::reports {

namespace {

std::string evidence_line(const FindingEvidence& evidence) {
  return fmt::format(
      "{} in {} block{} of {}, {}, from event {}", short_bytes(evidence.bytes),
      grouped(evidence.count), evidence.count == 1 ? "" : "s",
      evidence.op.empty() ? "an unknown op" : evidence.op,
      full_place_text(evidence.file, evidence.line, evidence.library, evidence.module),
      grouped(evidence.event));
}

std::string title_line(const std::string& title, const ReportStyle& style) {
  return painted(indented(printable(title), 2, style.columns), Tone::warning, style.color);
}

std::string unknown_values(const VariantResult& variant, const ReportStyle& style) {
  std::string out = title_line(kUnknownValuesPitfall, style);
  for (const std::string& line : unknown_value_lines(variant)) {
    out += indented(printable(line), 4, style.columns);
  }
  return out + indented(unknown_values_advice(variant), 4, style.columns);
}

}  // namespace

std::string console_findings(const VariantResult& variant, const ReportStyle& style) {
  std::string out;
  for (const FindingResult& finding : variant.findings) {
    if (!out.empty()) out += "\n";
    if (finding.pitfall == kUnknownValuesPitfall) {
      out += unknown_values(variant, style);
      continue;
    }
    out += title_line(fmt::format("{} on {}", finding.pitfall, finding.device), style);
    out += indented(printable(finding.what), 4, style.columns);
    for (const FindingEvidence& evidence : finding.evidence) {
      out += indented(printable(evidence_line(evidence)), 6, style.columns);
    }
    const std::string scenario = explained_by(finding);
    if (!scenario.empty()) out += indented(printable(scenario), 4, style.columns);
  }
  return out;
}

}  // namespace ohm::reports
