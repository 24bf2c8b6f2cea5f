// The rules that a scenario has to keep, and what follows from them.
#pragma once

#include <string>
#include <vector>

#include "harness/judge/limit.h"
#include "harness/scenario/scenario.h"

namespace ohm::engine {

/// The scenario with its defaults filled in (`of`) and its variants ordered by role, line and
/// name. Throws ScriptError with the file and line of what breaks a rule.
ScenarioDescription validated(ScenarioDescription scenario);

/// The limits that a variant of a validated scenario is held to: the scenario's, its problem's and
/// its own; a check's own only; none for a reference. A limit relative to the variant itself is
/// left out.
std::vector<Limit> limits_of(const ScenarioDescription& scenario,
                             const VariantDescription& variant);

/// The variant that a name in a bound stands for: `problem` is the one in `of`.
std::string resolved_name(const VariantDescription& variant, const std::string& name);

/// Of a validated scenario. nullptr when there is none.
const VariantDescription* find_variant(const ScenarioDescription& scenario,
                                       const std::string& name);

}  // namespace ohm::engine
