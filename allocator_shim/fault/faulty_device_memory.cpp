#include "allocator_shim/fault/faulty_device_memory.h"

namespace ohm {

bool FaultyDeviceMemory::should_fail(FaultLevel level, std::size_t bytes) {
  FaultCandidate candidate;
  candidate.level = level;
  candidate.device = device_;
  candidate.bytes = bytes;
  return faults_.should_fail(candidate);
}

std::optional<DeviceAddress> FaultyDeviceMemory::allocate_segment(std::size_t bytes) {
  if (should_fail(FaultLevel::segment, bytes)) return std::nullopt;
  return upstream().allocate_segment(bytes);
}

bool FaultyDeviceMemory::map(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) {
  if (should_fail(FaultLevel::map, bytes)) return false;
  return upstream().map(address, bytes, chunk_bytes);
}

}  // namespace ohm
