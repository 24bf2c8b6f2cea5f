// The writer of memory snapshots, as PyTorch's viewer and torch.cuda._memory_viz open them.
#pragma once

#include <string>

#include "allocator_shim/snapshot/pickle_writer.h"
#include "allocator_shim/snapshot/snapshot.h"

namespace ohm {

/// `write` takes the bytes of the file, some at a time and in order; what it throws comes through.
void write_snapshot(const Snapshot& snapshot, const PickleWriter::Write& write);

/// All of them at once.
std::string snapshot_bytes(const Snapshot& snapshot);

}  // namespace ohm
