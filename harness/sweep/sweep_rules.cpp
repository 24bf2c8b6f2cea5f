#include "harness/sweep/sweep_rules.h"

#include <algorithm>

namespace ohm::engine {

SweepResult result_without_scenarios(const SweepRules& rules, FaultLevel level) {
  SweepResult result;
  result.points = rules.points.text();
  result.form = rules.forms.size() == 1 ? std::string(name_of(rules.forms[0])) : "both";
  result.level = name_of(level);
  return result;
}

std::map<std::string, std::string> settings_of(const SweepRules& rules, FaultLevel level) {
  const SweepResult described = result_without_scenarios(rules, level);
  return {{"command", "sweep"},
          {"points", described.points},
          {"form", described.form},
          {"level", described.level}};
}

ExitReason exit_reason_of(const SweptVariant& variant) {
  const bool is_excused_all = std::all_of(variant.failed.begin(), variant.failed.end(), is_excused);
  return is_excused_all ? ExitReason::passed : ExitReason::failed;
}

}  // namespace ohm::engine
