// The signatures of the driver's functions. They come from the table that ohm looks them up by: one
// that is missing in the stand-in does not link, one that differs does not compile.
#pragma once

#include "allocator_shim/device/cuda/driver_functions.h"
#include "tests/support/stand_in_driver/machine.h"

namespace ohm::stand_in::driver {

using namespace cuda;  // NOLINT(google-build-using-namespace): the signatures are written in it

#define OHM_ROW(member, header_name, symbol, ...) \
  __attribute__((visibility("default"))) Result member(__VA_ARGS__) __asm__(symbol);
OHM_FOR_EACH_DRIVER_FUNCTION(OHM_ROW)
#undef OHM_ROW

/// nullptr, and a note, where it is not memory of the current card.
inline void* memory_at(Pointer address, std::size_t bytes) {
  return stand_in::memory_at(machine().card(), address, bytes);
}

}  // namespace ohm::stand_in::driver
