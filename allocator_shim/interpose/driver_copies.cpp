#include "allocator_shim/interpose/driver_copies.h"

namespace ohm::interpose {
namespace {

/// Of an array in elements, of memory in bytes.
Position position_of(const SpaceEnd& end) {
  const bool is_array = end.type == MemoryType::array && arrays().is_alive(end.array);
  const std::size_t element_bytes = is_array ? end.array->element_bytes : 1;
  return {end.x_bytes / element_bytes, end.y, end.z};
}

Array* array_of(const SpaceEnd& end) {
  return end.type == MemoryType::array ? const_cast<Array*>(end.array) : nullptr;
}

/// One row needs no pitch.
PitchedPointer memory_of(const SpaceEnd& end, const SpaceCopy& copied) {
  if (end.type == MemoryType::array) return {};
  const std::size_t pitch = end.pitch == 0 ? copied.row_bytes + end.x_bytes : end.pitch;
  std::byte* const begin = end.type == MemoryType::host ? end.host : end.device;
  return {begin, pitch, copied.row_bytes, end.rows == 0 ? copied.rows : end.rows};
}

SpaceEnd end_of(Array* array, const PitchedPointer& memory, const Position& position,
                bool is_on_host, bool is_unified) {
  SpaceEnd end = {};
  end.y = position.y;
  end.z = position.z;
  if (array != nullptr) {
    end.x_bytes = position.x * (arrays().is_alive(array) ? array->element_bytes : 1);
    end.type = MemoryType::array;
    end.array = array;
    return end;
  }
  auto* const begin = static_cast<std::byte*>(memory.pointer);
  end.x_bytes = position.x;
  end.pitch = memory.pitch;
  end.rows = memory.height;
  end.type = is_unified ? MemoryType::unified : is_on_host ? MemoryType::host : MemoryType::device;
  (is_on_host && !is_unified ? end.host : end.device) = begin;
  return end;
}

}  // namespace

VolumeCopy volume_of(const SpaceCopy& copied) {
  VolumeCopy made = {};
  made.from_array = array_of(copied.from);
  made.from_position = position_of(copied.from);
  made.from = memory_of(copied.from, copied);
  made.to_array = array_of(copied.to);
  made.to_position = position_of(copied.to);
  made.to = memory_of(copied.to, copied);
  made.extent = {copied.row_bytes, copied.rows, copied.slices};
  for (const Array* array : {made.from_array, made.to_array}) {
    if (arrays().is_alive(array)) made.extent.width = copied.row_bytes / array->element_bytes;
  }
  made.kind = static_cast<int>(direction_between(copied.from.type, copied.to.type));
  return made;
}

SpaceCopy space_of(const VolumeCopy& copied) {
  const auto way = static_cast<Direction>(copied.kind);
  const bool is_from_host = way == Direction::host_to_host || way == Direction::host_to_device;
  const bool is_to_host = way == Direction::host_to_host || way == Direction::device_to_host;
  const bool is_unified = way == Direction::unified;
  SpaceCopy made = {};
  made.from =
      end_of(copied.from_array, copied.from, copied.from_position, is_from_host, is_unified);
  made.to = end_of(copied.to_array, copied.to, copied.to_position, is_to_host, is_unified);
  made.row_bytes = copied.extent.width * copied.element_bytes();
  made.rows = copied.extent.height;
  made.slices = copied.extent.depth;
  return made;
}

}  // namespace ohm::interpose
