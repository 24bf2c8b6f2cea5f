#include "reports/history/diagnosis.h"

#include <optional>
#include <utility>

#include "reports/history/growth_finding.h"
#include "reports/history/imbalance_finding.h"
#include "reports/history/inference_graph_finding.h"
#include "reports/history/kept_graph_finding.h"
#include "reports/history/late_state_finding.h"
#include "reports/history/repeated_data_finding.h"
#include "reports/history/stepped_device.h"
#include "reports/history/stranded_finding.h"

namespace ohm::reports {

std::vector<FindingResult> diagnose(const MemoryHistory& history,
                                    const std::vector<DeviceResult>& devices,
                                    std::int64_t oom_request_bytes,
                                    const std::vector<std::uint32_t>& passes_behind_steps) {
  std::vector<FindingResult> findings;
  const auto add = [&findings](std::optional<FindingResult> finding) {
    if (finding) findings.push_back(std::move(*finding));
  };
  for (std::size_t i = 0; i < history.devices.size() && i < devices.size(); ++i) {
    const DeviceMemoryHistory& device = history.devices[i];
    const SteppedDevice behind(history, device, devices[i], passes_behind_steps);
    add(growth_of(behind, "passes of a loop behind the last step").finding);
    const SteppedDevice stepped(history, device, devices[i], history.steps);
    Growth growth = growth_of(stepped, "steps");
    // What grows keeps its graphs anyway.
    const bool may_keep_graph = !growth.finding && !growth.may_wait_for_backward;
    add(may_keep_graph ? kept_graph_finding(stepped) : std::move(growth.finding));
    add(inference_graph_finding(stepped));
    add(repeated_data_finding(stepped));
    add(late_state_finding(stepped));
    add(stranded_finding(stepped, oom_request_bytes));
  }
  add(imbalance_finding(history, devices));
  return findings;
}

}  // namespace ohm::reports
