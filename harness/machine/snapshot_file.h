// Memory snapshots as files of a run.
#pragma once

#include <string>

#include "allocator_shim/snapshot/snapshot.h"

namespace ohm::engine {

/// The file is replaced at once or stays what it was. Throws std::runtime_error that names it.
void write_snapshot_file(const Snapshot& snapshot, const std::string& path);

/// Where a script may write: to a file named *.pickle in the current folder or below it, which
/// does not exist or is a memory snapshot. Scripts come from anywhere, and the user is not asked.
/// Throws std::invalid_argument that says which part of this the path breaks.
void check_script_snapshot_path(const std::string& path);

}  // namespace ohm::engine
