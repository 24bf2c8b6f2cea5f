#include "reports/console/sweep_coverage.h"

#include <fmt/format.h>

#include <algorithm>

#include "allocator_shim/base/format_bytes.h"
#include "reports/text/text_layout.h"

namespace ohm::reports {

namespace {

std::string points_text(const RecoveryCoverage& coverage) {
  return fmt::format("{} of {}", coverage.recovered, coverage.points);
}

std::string covered_bytes(std::int64_t bytes) {
  return human_bytes(static_cast<std::size_t>(bytes));
}

std::string pair_text(const SweptVariant& before, const SweptVariant& after) {
  const RecoveryCoverage coverage = coverage_of(after);
  return fmt::format(
      "  {} -> {}\n      points under a handler: {} -> {}; peak: {} -> {}; requests made again: "
      "{:.1f} %\n",
      printable(before.name), printable(after.name), points_text(coverage_of(before)),
      points_text(coverage), covered_bytes(before.peak_bytes),
      covered_bytes(std::max(after.peak_bytes, after.peak_after_faults_bytes)),
      100 * coverage.repeated_share);
}

}  // namespace

RecoveryCoverage coverage_of(const SweptVariant& variant) {
  RecoveryCoverage coverage;
  for (const SweepPoint& point : variant.points) {
    if (point.faults == 0) continue;
    ++coverage.points;
    if (point.unhandled == 0) ++coverage.recovered;
  }
  const std::int64_t recoveries = variant.handled - variant.benign;
  if (recoveries > 0 && variant.calls > 0) {
    coverage.repeated_share =
        static_cast<double>(variant.repeated_calls) /
        (static_cast<double>(recoveries) * static_cast<double>(variant.calls));
  }
  return coverage;
}

std::string sweep_coverage_text(const SweptScenario& scenario) {
  std::string text;
  for (const SweptVariant& after : scenario.variants) {
    const auto before = std::find_if(
        scenario.variants.begin(), scenario.variants.end(), [&](const SweptVariant& one) {
          return one.role == Role::problem && one.name == after.of && !one.error;
        });
    if (before != scenario.variants.end() && !after.error) text += pair_text(*before, after);
  }
  return text;
}

}  // namespace ohm::reports
