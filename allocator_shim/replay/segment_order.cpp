#include "allocator_shim/replay/segment_order.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>

namespace ohm {

std::optional<std::vector<DeviceAddress>> SegmentOrder::oldest_first(
    const std::vector<SegmentView>& segments) const {
  struct Place {
    std::size_t earlier_ones = 0;
    std::vector<DeviceAddress> later_ones;
  };
  std::map<DeviceAddress, Place> places;
  for (const SegmentView& segment : segments) places[segment.reservation_address];
  for (const auto& [earlier, later] : facts_) {
    const auto from = places.find(earlier);
    const auto to = places.find(later);
    if (from == places.end() || to == places.end()) continue;
    from->second.later_ones.push_back(later);
    ++to->second.earlier_ones;
  }
  std::set<DeviceAddress> next;
  for (const auto& [address, place] : places) {
    if (place.earlier_ones == 0) next.insert(address);
  }
  std::vector<DeviceAddress> order;
  while (!next.empty()) {
    const DeviceAddress address = *next.begin();
    next.erase(next.begin());
    order.push_back(address);
    for (const DeviceAddress later : places[address].later_ones) {
      if (--places[later].earlier_ones == 0) next.insert(later);
    }
  }
  if (order.size() < places.size()) return std::nullopt;
  return order;
}

std::optional<DeviceAddress> segment_holding(const std::vector<SegmentView>& segments,
                                             DeviceAddress address) {
  const auto holds = [address](const SegmentView& segment) {
    return address >= segment.address && address < segment.address + segment.bytes;
  };
  const auto found = std::find_if(segments.begin(), segments.end(), holds);
  if (found == segments.end()) return std::nullopt;
  return found->reservation_address;
}

}  // namespace ohm
