#include "reports/html/sweep_page.h"

#include <algorithm>

#include "reports/history/heat_map.h"
#include "reports/html/html_report.h"

namespace ohm::reports {

std::string sweep_html(const SweepResult& result) {
  RunResult page;
  add_heat_maps(result, page);
  for (ScenarioResult& scenario : page.scenarios) {
    const bool is_failed = std::any_of(result.scenarios.begin(), result.scenarios.end(),
                                       [&](const SweptScenario& swept) {
                                         return swept.name == scenario.name && !is_clean(swept);
                                       });
    if (is_failed) scenario.verdict = Verdict::failed;
  }
  return html_report(page, {});
}

}  // namespace ohm::reports
