// The comparison of a run with its baseline: what changed since that was approved.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/gate/baseline.h"
#include "reports/history/result_diff.h"
#include "reports/model/run_result.h"

namespace ohm::engine {

struct BaselineCheck {
  enum class State : std::uint8_t {
    equal,
    improved,
    regressed,
    incomparable,  ///< measured on something else
    missing,       ///< the baseline does not have this variant
    gone,          ///< the scenario does not have this variant any more
  };
  State state = State::equal;
  std::string variant;
  reports::VariantDiff diff;
  std::string limits_changed;  ///< a clause; empty: its limits are those of the baseline
  std::string reason;          ///< one line; empty when equal
};

/// Every variant of the scenario against its baseline, in the order of the scenario.
std::vector<BaselineCheck> check_baseline(const Baseline& baseline, const ScenarioResult& scenario,
                                          std::uint64_t seed);

/// The variants of a baseline that are none of these, those of its scenario: `gone`.
std::vector<BaselineCheck> gone_variants(const Baseline& baseline,
                                         const std::vector<std::string>& names);

/// Whether figures of `after` are above those of `before`, or the run took another course.
BaselineCheck::State compared_state(const reports::VariantDiff& diff);

/// That the limits are others than those of the baseline's variant; empty: they are the same.
std::string limits_change(const VariantResult& before, const std::vector<std::string>& limits);

/// The largest changes of the peak in one line; the whole list is in the diff.
std::string peak_attribution(const reports::VariantDiff& diff);

}  // namespace ohm::engine
