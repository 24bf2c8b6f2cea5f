#include "reports/history/diagnosis.h"

#include <optional>
#include <utility>

#include "reports/history/growth_finding.h"
#include "reports/history/imbalance_finding.h"
#include "reports/history/kept_graph_finding.h"
#include "reports/history/late_state_finding.h"
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
    if (!may_wait_for_backward(behind)) {
      add(growth_finding(behind, "passes of a loop behind the last step"));
    }
    const SteppedDevice stepped(history, device, devices[i], history.steps);
    if (!may_wait_for_backward(stepped)) {
      std::optional<FindingResult> growth = growth_finding(stepped, "steps");
      // What grows keeps its graphs anyway.
      add(growth ? std::move(growth) : kept_graph_finding(stepped));
    }
    add(late_state_finding(stepped));
    add(stranded_finding(stepped, oom_request_bytes));
  }
  add(imbalance_finding(history, devices));
  return findings;
}

}  // namespace ohm::reports
