// Verdicts on the measured variants of a scenario, by role.
//
// Pure functions: the same measurements give the same verdicts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/judge/measured_variant.h"
#include "harness/scenario/scenario.h"

namespace ohm::engine {

/// A validated scenario and what its processes measured, by variant name.
struct MeasuredScenario {
  ScenarioDescription description;
  std::map<std::string, MeasuredVariant> variants;
  /// Variants run for their values: without faults, on GPUs that are large enough. Those of role
  /// reference are here alone.
  std::map<std::string, MeasuredVariant> references;
  /// Whether the machine is what the scenario says: on another one a limit may well hold that its
  /// problems are to break.
  bool as_described = true;
};

/// The variant whose values count as right for this one; empty when there is none.
std::string reference_of(const ScenarioDescription& scenario, const VariantDescription& variant);

/// Whether one of the selected variants is judged by the values of this one.
bool gives_values(const ScenarioDescription& scenario, const std::vector<std::string>& selected,
                  const std::string& name);

/// Other variants that judging this one needs: its reference, those that its limits name, and the
/// problem that a partial improves on. In byte order, without the variant itself.
std::vector<std::string> needed_by(const ScenarioDescription& scenario,
                                   const VariantDescription& variant);

/// Which variants have to be run once more in `references` before the selected ones can be judged:
/// those that ran out of memory where the scenario put them, when their values are needed or when
/// running out of memory is what they have to do.
std::vector<std::string> missing_references(const MeasuredScenario& measured,
                                            const std::vector<std::string>& selected);

/// The verdict on one variant, all of VariantResult but `rerun`.
VariantResult judge(const MeasuredScenario& measured, const VariantDescription& variant);

/// A reference as the result lists it: measured, not judged.
VariantResult reference_result(const MeasuredScenario& measured, const std::string& name);

}  // namespace ohm::engine
