#include "allocator_shim/fault/capacity_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "allocator_shim/base/format_bytes.h"

namespace ohm {

CapacityLimit::CapacityLimit(DeviceMemory& upstream, std::size_t capacity_bytes)
    : DeviceMemoryAdaptor(upstream), capacity_bytes_(capacity_bytes) {
  if (capacity_bytes < upstream.context_bytes()) {
    throw std::invalid_argument(fmt::format("[fault] capacity({}): the context alone takes {}",
                                            human_bytes(capacity_bytes),
                                            human_bytes(upstream.context_bytes())));
  }
}

DeviceMemoryInfo CapacityLimit::info() const {
  const DeviceMemoryInfo whole = upstream().info();
  const std::size_t total = std::min(whole.total_bytes, capacity_bytes_);
  const std::size_t used = whole.total_bytes - whole.free_bytes;
  return {used < total ? total - used : 0, total};
}

std::optional<DeviceAddress> CapacityLimit::allocate_segment(std::size_t bytes) {
  if (bytes > info().free_bytes) return std::nullopt;
  return upstream().allocate_segment(bytes);
}

bool CapacityLimit::map(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) {
  if (bytes > info().free_bytes) return false;
  return upstream().map(address, bytes, chunk_bytes);
}

}  // namespace ohm
