// What a snapshot says about the settings that were in force.
#pragma once

#include "allocator_shim/caching/settings.h"
#include "allocator_shim/snapshot/snapshot.h"

namespace ohm {

SnapshotSettings snapshot_settings(const AllocatorSettings& settings);

}  // namespace ohm
