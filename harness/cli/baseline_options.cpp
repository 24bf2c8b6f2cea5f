#include "harness/cli/baseline_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "harness/cli/command.h"

namespace ohm::cli {

void add_baseline_options(const OptionParser& parser, engine::RecordedBaselineOptions& baseline) {
  parser
      .add_option("--baseline", baseline.paths,
                  "Exit with 1 if a figure exceeds that of this file: a report json=FILE of the "
                  "same command, a snapshot, a .baseline (ohm baseline update SNAPSHOT). "
                  "Repeatable: their spread becomes the tolerance")
      .type_name("FILE")
      .one_value_each();
  parser
      .add_option("--measure", baseline.measures,
                  fmt::format("Measurement that must not exceed the baseline, the others are only "
                              "shown (default: {}); repeatable",
                              fmt::join(engine::default_measures(), ", ")))
      .type_name("NAME")
      .one_value_each();
  parser
      .add_option("--tolerance", baseline.tolerance_percent,
                  "Per cent by which figures may exceed the baseline (default: 0)")
      .type_name("PERCENT");
}

void check_baseline_options(const engine::RecordedBaselineOptions& baseline) {
  if (!(baseline.tolerance_percent >= 0) || !std::isfinite(baseline.tolerance_percent)) {
    throw UsageError("--tolerance must be a percentage, 0 or more");
  }
  if (!baseline.paths.empty()) return;
  if (baseline.tolerance_percent > 0) throw UsageError("--tolerance requires --baseline");
  if (!baseline.measures.empty()) throw UsageError("--measure requires --baseline");
}

}  // namespace ohm::cli
