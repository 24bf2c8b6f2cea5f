// A variant in tables: complete without any script.
#pragma once

#include <cstddef>
#include <string>

#include "reports/model/run_result.h"

namespace ohm::reports {

/// An <article>, with empty places for the charts; its table of blocks has at most so many rows.
std::string html_variant(const VariantResult& variant, const ScenarioResult& scenario,
                         std::size_t block_rows);

}  // namespace ohm::reports
