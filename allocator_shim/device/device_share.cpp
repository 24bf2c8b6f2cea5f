#include "allocator_shim/device/device_share.h"

#include <algorithm>
#include <iterator>

#include "allocator_shim/base/assert.h"

namespace ohm {

DeviceAddress DeviceShare::in_share(DeviceAddress address) const {
  const auto after = in_share_.upper_bound(address);
  OHM_ASSERT(after != in_share_.begin(), "an address that was handed out here");
  const auto& [begin, begin_in_share] = *std::prev(after);
  return begin_in_share + (address - begin);
}

DeviceAddress DeviceShare::forget(DeviceAddress address) {
  const auto found = in_share_.find(address);
  OHM_ASSERT(found != in_share_.end(), "what is given back was handed out here");
  const DeviceAddress in_share = found->second;
  in_share_.erase(found);
  return in_share;
}

std::optional<DeviceAddress> DeviceShare::allocate_segment(std::size_t bytes) {
  const std::optional<DeviceAddress> granted = share_.allocate_segment(bytes);
  if (!granted) return std::nullopt;
  std::optional<DeviceAddress> address;
  try {
    address = upstream().allocate_segment(bytes);
  } catch (...) {
    share_.free_segment(*granted, bytes);
    throw;
  }
  if (address) {
    in_share_.emplace(*address, *granted);
  } else {
    share_.free_segment(*granted, bytes);
  }
  return address;
}

void DeviceShare::free_segment(DeviceAddress address, std::size_t bytes) {
  share_.free_segment(forget(address), bytes);
  upstream().free_segment(address, bytes);
}

DeviceAddress DeviceShare::reserve_range(std::size_t bytes) {
  const DeviceAddress address = upstream().reserve_range(bytes);
  in_share_.emplace(address, share_.reserve_range(bytes));
  return address;
}

void DeviceShare::release_range(DeviceAddress address, std::size_t bytes) {
  share_.release_range(forget(address), bytes);
  upstream().release_range(address, bytes);
}

bool DeviceShare::map(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) {
  if (!share_.map(in_share(address), bytes, chunk_bytes)) return false;
  bool is_mapped = false;
  try {
    is_mapped = upstream().map(address, bytes, chunk_bytes);
  } catch (...) {
    share_.unmap(in_share(address), bytes, chunk_bytes);
    throw;
  }
  if (!is_mapped) share_.unmap(in_share(address), bytes, chunk_bytes);
  return is_mapped;
}

void DeviceShare::unmap(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) {
  share_.unmap(in_share(address), bytes, chunk_bytes);
  upstream().unmap(address, bytes, chunk_bytes);
}

DeviceMemoryInfo DeviceShare::info() const {
  DeviceMemoryInfo info = share_.info();
  info.free_bytes = std::min(info.free_bytes, upstream().info().free_bytes);
  return info;
}

}  // namespace ohm
