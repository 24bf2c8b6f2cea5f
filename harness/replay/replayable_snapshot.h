// Snapshots that there is an allocator for.
#pragma once

#include <string>

#include "allocator_shim/base/input_file.h"
#include "allocator_shim/snapshot/snapshot.h"

namespace ohm::engine {

/// Throws as read_snapshot_file() does, and ReplayError for that of a program without PyTorch.
Snapshot replayable_snapshot(InputFile& file, const std::string& path);

}  // namespace ohm::engine
