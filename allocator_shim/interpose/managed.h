// What programs say about managed memory, through the runtime or the driver.
#pragma once

#include <cstddef>

#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/status.h"

namespace ohm::interpose {

/// cudaMemLocation.
struct MemoryLocation {
  enum class Type : int { none, device, host } type;
  int device;

  int number() const { return type == Type::device ? device : kHostLocation; }
};

/// To a device by its number, or to kHostLocation.
Status prefetch_managed(const void* pointer, std::size_t bytes, int device, const Stream* stream);
/// `advice` is a number of cudaMemoryAdvise; `location` as above.
Status advise_managed(const void* pointer, std::size_t bytes, int advice, int location);

}  // namespace ohm::interpose
