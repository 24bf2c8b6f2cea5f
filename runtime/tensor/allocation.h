// Storages allocated for the current context: its category, its site, its streams.
#pragma once

#include <cstddef>

#include "runtime/base/device.h"
#include "runtime/tensor/storage.h"

namespace ohm {

/// Throws OutOfMemory; std::invalid_argument for a device that does not exist.
IntrusivePtr<Storage> allocate_storage(std::size_t bytes, Device device);

/// In pinned memory of the host. Throws std::invalid_argument where there is none.
IntrusivePtr<Storage> allocate_pinned_storage(std::size_t bytes);

bool is_pinned(const Storage& storage);

/// A copy between this pinned memory and `gpu` is queued on the GPU's current stream. For other
/// memory there is nothing to do.
void record_copy(const Storage& storage, Device gpu);

}  // namespace ohm
