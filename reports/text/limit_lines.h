// Limits, peaks and lines of a scenario, as a chart of allocated bytes shows them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reports/model/run_result.h"

namespace ohm::reports {

/// A limit that can be drawn where bytes allocated are.
struct LimitLine {
  std::int64_t bytes = 0;
  std::string label;
  bool is_capacity = false;  ///< the device's own
};

/// The capacity, and the bounds that the scenario's variants have on peak_allocated_bytes, each
/// once.
std::vector<LimitLine> limit_lines(const ScenarioResult& scenario);

/// The largest of the variant's devices.
std::int64_t peak_bytes(const VariantResult& variant);

/// Which variant to look at first: of the problems, or else of all, the one with the highest peak.
/// There must be one.
std::size_t lead_variant(const ScenarioResult& scenario);

/// Bytes at the peak by line of this file, of all devices.
std::map<int, std::int64_t> bytes_by_line(const VariantResult& variant, const std::string& file);

}  // namespace ohm::reports
