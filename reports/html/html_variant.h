// What a report says about one variant, in tables: complete without any script.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "reports/run_result.h"

namespace ohm::reports {

/// An <article>, with empty places for the charts.
std::string html_variant(const VariantResult& variant, const ScenarioResult& scenario);

/// Bytes at the peak by line of this file, of all devices.
std::map<int, std::int64_t> bytes_by_line(const VariantResult& variant, const std::string& file);

}  // namespace ohm::reports
