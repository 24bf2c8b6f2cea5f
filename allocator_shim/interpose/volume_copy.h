// Copies in three dimensions, between arrays and memory.
#pragma once

#include <cstddef>
#include <optional>

#include "allocator_shim/interpose/arrays.h"

namespace ohm::interpose {

/// cudaPos, in elements of an array or in bytes.
struct Position {
  std::size_t x, y, z;
};

/// cudaMemcpy3DParms.
struct VolumeCopy {
  Array* from_array;
  Position from_position;
  PitchedPointer from;
  Array* to_array;
  Position to_position;
  PitchedPointer to;
  Extent extent;
  int kind;

  /// Both ends are given, each in one way, with elements of one size.
  bool is_whole() const {
    const auto is_end = [](const Array* array, const PitchedPointer& pointer) {
      return (array != nullptr) != (pointer.pointer != nullptr) &&
             (array == nullptr || arrays().is_alive(array));
    };
    if (!is_end(from_array, from) || !is_end(to_array, to)) return false;
    return from_array == nullptr || to_array == nullptr ||
           from_array->element_bytes == to_array->element_bytes;
  }

  std::size_t element_bytes() const {
    if (from_array != nullptr) return from_array->element_bytes;
    return to_array != nullptr ? to_array->element_bytes : 1;
  }

  /// nullopt: it is beyond the array.
  std::optional<CopyEnd> end_of(const Array* array, const PitchedPointer& pointer,
                                const Position& position) const {
    const std::size_t row_bytes = extent.width * element_bytes();
    if (array == nullptr) {
      const std::size_t slice = pointer.pitch * pointer.height;
      return CopyEnd{static_cast<std::byte*>(pointer.pointer) + position.z * slice +
                         position.y * pointer.pitch + position.x,
                     pointer.pitch, slice};
    }
    return part_of_array(array, position.x * array->element_bytes, position.y, position.z,
                         row_bytes, extent.height, extent.depth);
  }

  Status copy(Direction way) const {
    if (!is_whole()) return Status::invalid_value;
    const auto target = end_of(to_array, to, to_position);
    const auto source = end_of(from_array, from, from_position);
    if (!target || !source) return Status::invalid_value;
    return copy_slices(*target, *source, extent.width * element_bytes(), extent.height,
                       extent.depth, way);
  }
};

}  // namespace ohm::interpose
