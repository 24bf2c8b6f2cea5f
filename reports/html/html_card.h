// The verdict card of a scenario: a bar for each variant, and the limits drawn through them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/run_result.h"

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

std::string html_card(const ScenarioResult& scenario);

}  // namespace ohm::reports
