// Maps of ranges by their first address.
#pragma once

#include <cstddef>

#include "allocator_shim/device/device_memory.h"

namespace ohm::interpose {

inline std::size_t bytes_of(std::size_t bytes) { return bytes; }
template <typename Range>
std::size_t bytes_of(const Range& range) {
  return range.bytes;
}

/// The range that holds the address, or the end.
template <typename Map>
auto holder(Map& ranges, DeviceAddress address) {
  auto above = ranges.upper_bound(address);
  if (above == ranges.begin()) return ranges.end();
  --above;
  return address - above->first < bytes_of(above->second) ? above : ranges.end();
}

}  // namespace ohm::interpose
