#include "allocator_shim/fault/faulty_device_memory.h"

namespace ohm {

bool FaultyDeviceMemory::should_fail(FaultLevel level, std::size_t bytes) {
  FaultCandidate candidate;
  candidate.level = level;
  candidate.device = device_;
  candidate.bytes = bytes;
  return plan_.should_fail(candidate);
}

std::optional<DeviceAddress> FaultyDeviceMemory::allocate_segment(std::size_t bytes) {
  if (should_fail(FaultLevel::segment, bytes)) return std::nullopt;
  return upstream_.allocate_segment(bytes);
}

void FaultyDeviceMemory::free_segment(DeviceAddress address, std::size_t bytes) {
  upstream_.free_segment(address, bytes);
}

DeviceAddress FaultyDeviceMemory::reserve_range(std::size_t bytes) {
  return upstream_.reserve_range(bytes);
}

void FaultyDeviceMemory::release_range(DeviceAddress address, std::size_t bytes) {
  upstream_.release_range(address, bytes);
}

bool FaultyDeviceMemory::map(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) {
  if (should_fail(FaultLevel::map, bytes)) return false;
  return upstream_.map(address, bytes, chunk_bytes);
}

void FaultyDeviceMemory::unmap(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) {
  upstream_.unmap(address, bytes, chunk_bytes);
}

}  // namespace ohm
