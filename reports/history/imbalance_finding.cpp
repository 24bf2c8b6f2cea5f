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

/// Whether two GPUs do the same: most of what the one with less was asked for, by line and size,
/// the other was asked for, too.
bool are_replicas(const DeviceMemoryHistory& most, const DeviceMemoryHistory& least) {
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::int64_t> asked;
  for (const HistoryBlock& block : most.blocks) ++asked[{block.site, block.bytes}];
  std::int64_t all = 0;
  std::int64_t common = 0;
  for (const HistoryBlock& block : least.blocks) {
    all += static_cast<std::int64_t>(block.bytes);
    const auto same = asked.find({block.site, block.bytes});
    if (same != asked.end() && same->second-- > 0) common += static_cast<std::int64_t>(block.bytes);
  }
  return all > 0 && 2 * common >= all;
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
