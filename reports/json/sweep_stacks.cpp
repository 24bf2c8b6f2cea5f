#include "reports/json/sweep_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/text/text_layout.h"

namespace ohm::reports {

std::string sweep_stacks(const SweepResult& result) {
  std::map<std::string, std::int64_t> stacks;
  for (const SweptScenario& scenario : result.scenarios) {
    for (const SweptVariant& variant : scenario.variants) {
      for (const SweepPoint& point : variant.points) {
        if (point.unhandled == 0) continue;
        std::string stack = fmt::format("{};{}", scenario.name, variant.name);
        for (const std::string& frame : point.stack) stack += ";" + frame;
        stack += ";" + (point.op.empty() ? "outside any op" : point.op);
        // A blank ends the stack.
        std::replace(stack.begin(), stack.end(), ' ', '_');
        stacks[printable(stack)] += point.passes;
      }
    }
  }
  std::string text;
  for (const auto& [stack, passes] : stacks) text += fmt::format("{} {}\n", stack, passes);
  return text;
}

}  // namespace ohm::reports
