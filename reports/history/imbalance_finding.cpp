#include "reports/history/imbalance_finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "reports/history/finding_places.h"
#include "reports/text/measured_text.h"

namespace ohm::reports {

namespace {

constexpr double kImbalance = 1.25;

/// By line and size, of which a block is one.
using Requests = std::map<std::pair<std::uint32_t, std::uint64_t>, std::int64_t>;

Requests requests_of(const DeviceMemoryHistory& device) {
  Requests requests;
  for (const HistoryBlock& block : device.blocks) ++requests[{block.site, block.bytes}];
  return requests;
}

/// Whether two GPUs do the same: most of what the one with less was asked for, by line and size,
/// the other was asked for, too, and not much more often: layers that a loop puts on several GPUs
/// are of one line and size, too.
bool are_replicas(const DeviceMemoryHistory& most, const DeviceMemoryHistory& least) {
  constexpr double kMostTimes = 1.5;
  const Requests asked = requests_of(most);
  std::int64_t all = 0;
  std::int64_t common = 0;
  std::int64_t common_of_most = 0;
  for (const auto& [request, count] : requests_of(least)) {
    const auto bytes = static_cast<std::int64_t>(request.second);
    const auto same = asked.find(request);
    all += count * bytes;
    if (same == asked.end()) continue;
    common += std::min(count, same->second) * bytes;
    common_of_most += same->second * bytes;
  }
  return all > 0 && 2 * common >= all &&
         static_cast<double>(common_of_most) <= kMostTimes * static_cast<double>(common);
}

}  // namespace

std::optional<FindingResult> imbalance_finding(const MemoryHistory& history,
                                               const std::vector<DeviceResult>& devices) {
  if (devices.size() < 2 || history.devices.size() < devices.size()) return std::nullopt;
  const auto by_peak = [](const DeviceResult& a, const DeviceResult& b) {
    return a.peak_allocated_bytes < b.peak_allocated_bytes;
  };
  const DeviceResult& most = *std::max_element(devices.begin(), devices.end(), by_peak);
  const DeviceResult& least = *std::min_element(devices.begin(), devices.end(), by_peak);
  if (least.peak_allocated_bytes == 0) return std::nullopt;
  const double ratio = static_cast<double>(most.peak_allocated_bytes) /
                       static_cast<double>(least.peak_allocated_bytes);
  const auto history_of = [&](const DeviceResult& device) -> const DeviceMemoryHistory& {
    return history.devices[static_cast<std::size_t>(&device - devices.data())];
  };
  if (ratio < kImbalance || !are_replicas(history_of(most), history_of(least))) return std::nullopt;
  FindingResult finding;
  finding.pitfall = "imbalance";
  finding.scenario = "unbalanced_data_parallel";
  finding.device = most.device;
  finding.what = fmt::format("{} reaches {}, {} {}: {:.2f} times as much", most.device,
                             short_bytes(most.peak_allocated_bytes), least.device,
                             short_bytes(least.peak_allocated_bytes), ratio);
  if (most.peak) {
    for (const HolderResult& holder : most.peak->holders) {
      if (finding.evidence.size() == kMostEvidence) break;
      finding.evidence.push_back({most.peak->event, holder.bytes, holder.count, holder.op,
                                  holder.file, holder.line, holder.library, holder.module});
    }
  }
  return finding;
}

}  // namespace ohm::reports
