#include "reports/history/stepped_device.h"

#include <algorithm>
#include <utility>

namespace ohm::reports {

SteppedDevice::SteppedDevice(const MemoryHistory& history, const DeviceMemoryHistory& device,
                             const DeviceResult& result, const std::vector<std::uint32_t>& steps)
    : history_(history), device_(device), result_(result), steps_(steps) {
  count_at_ends();
}

std::size_t SteppedDevice::step_of(std::uint32_t event) const {
  return static_cast<std::size_t>(std::lower_bound(steps_.begin(), steps_.end(), event) -
                                  steps_.begin());
}

void SteppedDevice::count_at_ends() {
  bytes_.assign(steps_.size() + 1, 0);
  for (const HistoryBlock& block : device_.blocks) {
    const std::size_t first = step_of(block.begin);
    const std::size_t behind = step_of(block.end);
    if (first >= behind) continue;
    bytes_[first] += static_cast<std::int64_t>(block.bytes);
    bytes_[behind] -= static_cast<std::int64_t>(block.bytes);
  }
  for (std::size_t i = 1; i < bytes_.size(); ++i) bytes_[i] += bytes_[i - 1];
  if (steps_.size() < 2) return;
  last_ = steps_.size() - 1;
  if (bytes_[last_] < bytes_[last_ - 1]) --last_;
}

std::vector<std::uint32_t> SteppedDevice::fullest_events(std::size_t first,
                                                         std::size_t last) const {
  const std::uint32_t begin = steps_[first - 1] + 1;
  const std::uint32_t end = steps_[last] + 1;
  std::vector<std::int64_t> change(end - begin + 1, 0);
  for (const HistoryBlock& block : device_.blocks) {
    if (block.end <= begin || block.begin >= end) continue;
    change[std::max(block.begin, begin) - begin] += static_cast<std::int64_t>(block.bytes);
    change[std::min(block.end, end) - begin] -= static_cast<std::int64_t>(block.bytes);
  }
  std::vector<std::uint32_t> fullest;
  std::int64_t bytes = 0;
  std::uint32_t event = begin;
  for (std::size_t step = first; step <= last; ++step) {
    fullest.push_back(event);
    std::int64_t most = -1;
    for (; event <= steps_[step]; ++event) {
      bytes += change[event - begin];
      if (bytes <= most) continue;
      most = bytes;
      fullest.back() = event;
    }
  }
  return fullest;
}

FindingResult SteppedDevice::finding(std::string pitfall, std::string scenario, std::string what,
                                     const FindingPlaces& places) const {
  return {std::move(pitfall), std::move(scenario), result_.device, std::move(what),
          places.evidence(history_)};
}

}  // namespace ohm::reports
