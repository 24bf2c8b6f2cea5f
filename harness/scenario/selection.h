// The variants that a run selects: `--case` and `--filter`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/scenario/scenario.h"

namespace ohm::engine {

struct Selection {
  std::vector<std::string> cases;  ///< names or roles ("item", "mitigation", "mitigations")
  std::string filter;              ///< of "scenario.variant", as GoogleTest's; empty: everything
};

/// GoogleTest's patterns: `*` and `?`, several separated by `:`, after a `-` those to leave out.
bool matches_filter(std::string_view filter, std::string_view name);

/// Names of the variants that both ask for, in the scenario's order; all without either. A
/// reference is never selected: it is run when a selected variant needs it.
std::vector<std::string> selected_variants(const ScenarioDescription& scenario,
                                           const Selection& selection);

}  // namespace ohm::engine
