// Settings of the allocator as a snapshot has them.
#pragma once

#include "allocator_shim/caching/settings.h"
#include "allocator_shim/snapshot/snapshot.h"

namespace ohm {

SnapshotSettings snapshot_settings(const AllocatorSettings& settings, const RuleSet& rules);

}  // namespace ohm
