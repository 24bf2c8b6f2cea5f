// A variant in tables: complete without any script.
#pragma once

#include <string>

#include "reports/model/run_result.h"

namespace ohm::reports {

/// An <article>, with empty places for the charts.
std::string html_variant(const VariantResult& variant, const ScenarioResult& scenario);

}  // namespace ohm::reports
