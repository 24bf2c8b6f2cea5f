#include "allocator_shim/device/capacity_tracker.h"

#include <algorithm>
#include <iterator>

#include "allocator_shim/device/address_space.h"

namespace ohm {

void CapacityTracker::note(bool is_granted, std::size_t bytes) {
  if (!is_granted) {
    ++refusals_;
    return;
  }
  held_bytes_ += bytes;
  same_from_ = std::max(same_from_, held_bytes_);
}

std::optional<DeviceAddress> CapacityTracker::allocate_segment(std::size_t bytes) {
  const auto address = upstream().allocate_segment(bytes);
  note(address.has_value(), bytes);
  return address;
}

void CapacityTracker::free_segment(DeviceAddress address, std::size_t bytes) {
  held_bytes_ -= bytes;
  upstream().free_segment(address, bytes);
}

DeviceAddress CapacityTracker::reserve_range(std::size_t bytes) {
  const DeviceAddress address = upstream().reserve_range(bytes);
  ranges_[address] = bytes;
  return address;
}

void CapacityTracker::release_range(DeviceAddress address, std::size_t bytes) {
  ranges_.erase(address);
  upstream().release_range(address, bytes);
}

/// An allocator reserves an eighth more than the device has. How far it uses a range limits how
/// small the device could be: in a smaller one it would go on elsewhere.
bool CapacityTracker::map(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) {
  const auto above = ranges_.upper_bound(address);
  if (above != ranges_.begin()) {
    const std::size_t used = address + bytes - std::prev(above)->first;
    const std::size_t wanted = AddressSpace::round_up(used / 9 * 8);
    same_from_ = std::max(same_from_, std::min(wanted, info().total_bytes));
  }
  const bool is_granted = upstream().map(address, bytes, chunk_bytes);
  note(is_granted, bytes);
  return is_granted;
}

void CapacityTracker::unmap(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) {
  held_bytes_ -= bytes;
  upstream().unmap(address, bytes, chunk_bytes);
}

}  // namespace ohm
