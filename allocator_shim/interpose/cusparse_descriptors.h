// Descriptors of the stand-in cuSPARSE: how they are made, and what they hold is asked and set.
//
// What it accepts was asked of cuSPARSE 12.6: its descriptors need no GPU.
#pragma once

#include "allocator_shim/interpose/call_library.h"
#include "allocator_shim/interpose/objects.h"

namespace ohm::interpose {

inline constexpr int kInvalidSparseValue = invalid_argument_of(CallLibrary::cusparse);

/// The types of a matrix's three lists, or of a vector's two.
struct SparseTypes {
  int offsets, indices, base, values;

  bool are_right() const {
    constexpr int kFirstIndexType = 1;
    constexpr int kLastIndexType = 3;
    constexpr int kLastDataType = 33;
    const auto is_index = [](int type) {
      return type >= kFirstIndexType && type <= kLastIndexType;
    };
    return is_index(offsets) && is_index(indices) && (base == 0 || base == 1) && values >= 0 &&
           values <= kLastDataType;
  }
};

template <typename Made>
int create_sparse(void** place, const Made& description) {
  void* const made = create_object();
  constexpr int kNoMemory = 2;
  if (made == nullptr) return kNoMemory;
  *static_cast<Made*>(made) = description;
  *place = made;
  return kLibrarySuccess;
}

/// What one object holds, asked and set.
template <typename Object, typename Value>
int tell_member(const Object* object, Value Object::*member, Value* place) {
  if (!is_object(object) || place == nullptr) return kInvalidSparseValue;
  *place = object->*member;
  return kLibrarySuccess;
}

template <typename Object, typename Value>
int set_member(Object* object, Value Object::*member, Value value) {
  if (!is_object(object)) return kInvalidSparseValue;
  object->*member = value;
  return kLibrarySuccess;
}

}  // namespace ohm::interpose
