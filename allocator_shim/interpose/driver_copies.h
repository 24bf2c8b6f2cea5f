// Copies in two and three dimensions, as programs describe them to the driver.
#pragma once

#include <cstddef>

#include "allocator_shim/interpose/arrays.h"
#include "allocator_shim/interpose/copies.h"
#include "allocator_shim/interpose/volume_copy.h"

namespace ohm::interpose {

/// CUmemorytype.
enum class MemoryType : int { host = 1, device, array, unified };

/// One end of CUDA_MEMCPY2D.
struct PlaneEnd {
  std::size_t x_bytes, y;
  MemoryType type;
  std::byte* host;
  std::byte* device;
  const Array* array;
  std::size_t pitch;
};
struct PlaneCopy {
  PlaneEnd from, to;
  std::size_t row_bytes, rows;
};

/// One end of CUDA_MEMCPY3D.
struct SpaceEnd {
  std::size_t x_bytes, y, z, level;
  MemoryType type;
  std::byte* host;
  std::byte* device;
  const Array* array;
  void* reserved;
  std::size_t pitch, rows;

  static SpaceEnd of(const PlaneEnd& plane) {
    return {plane.x_bytes, plane.y,     0,       0,           plane.type, plane.host,
            plane.device,  plane.array, nullptr, plane.pitch, 0};
  }
};
struct SpaceCopy {
  SpaceEnd from, to;
  std::size_t row_bytes, rows, slices;
};

inline Direction direction_between(MemoryType from, MemoryType to) {
  if (from == MemoryType::unified || to == MemoryType::unified) return Direction::unified;
  if (from == MemoryType::host) {
    return to == MemoryType::host ? Direction::host_to_host : Direction::host_to_device;
  }
  return to == MemoryType::host ? Direction::device_to_host : Direction::device_to_device;
}

/// As the runtime describes it.
VolumeCopy volume_of(const SpaceCopy& copied);
/// As volume_of() was given it, or another one that does the same.
SpaceCopy space_of(const VolumeCopy& copied);

}  // namespace ohm::interpose
