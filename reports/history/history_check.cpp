#include "reports/history/history_check.h"

#include <fmt/format.h>

#include <cstddef>
#include <stdexcept>
#include <string_view>

namespace ohm::reports {

namespace {

[[noreturn]] void refuse(std::string_view what) {
  throw std::invalid_argument(fmt::format("a memory history whose {}", what));
}

void check_device(const DeviceMemoryHistory& device, std::size_t sites, std::size_t buckets) {
  for (const auto* curve : {&device.allocated_high, &device.allocated_low, &device.reserved_high}) {
    if (curve->size() != buckets) refuse("curves have another length");
  }
  for (const auto& curve : device.by_category) {
    if (!curve.empty() && curve.size() != buckets) refuse("curves have another length");
  }
  for (const HistoryBlock& block : device.blocks) {
    if (block.site >= sites) refuse("blocks have a site that is not in its table");
  }
}

void check_calls(const MemoryHistory& history) {
  for (std::size_t i = 0; i < history.calls.size(); ++i) {
    const HistoryCall& call = history.calls[i];
    if (call.line >= history.lines.size()) refuse("calls have a line that is not in its table");
    // So that every stack comes to an end.
    if (call.caller > i) refuse("calls have a caller that does not stand before them");
  }
  for (const HistorySite& site : history.sites) {
    if (site.call > history.calls.size()) refuse("sites have a call that is not in its table");
  }
}

}  // namespace

void check_history(const MemoryHistory& history) {
  if (history.events_per_bucket == 0) refuse("buckets have no events");
  const std::size_t buckets =
      (std::size_t{history.events} + history.events_per_bucket - 1) / history.events_per_bucket;
  check_calls(history);
  for (const DeviceMemoryHistory& device : history.devices) {
    check_device(device, history.sites.size(), buckets);
  }
}

}  // namespace ohm::reports
