// The reader of memory snapshots: those of every PyTorch version since 2.1 and our own.
//
// Nothing is executed, whatever the file holds (pickle_reader.h). Keys that are not known are
// passed over; of the known ones, only what makes a segment, a block and a trace entry must be
// there.
#pragma once

#include <string>
#include <string_view>

#include "allocator_shim/base/input_file.h"
#include "allocator_shim/snapshot/pickle_reader.h"
#include "allocator_shim/snapshot/snapshot.h"

namespace ohm {

/// Throws PickleError for what is not a whole memory snapshot: damaged, of another kind, or with
/// figures that no allocator has (negative sizes, blocks that do not fill their segment).
Snapshot read_snapshot(std::string_view bytes);
Snapshot read_snapshot(ByteWindow& bytes);

/// The same, with the path before the message; reads regular files and pipes. Throws
/// std::runtime_error that names the path when it cannot be opened or read.
Snapshot read_snapshot_file(const std::string& path);
/// Of a file that is open: `path` is for messages.
Snapshot read_snapshot_file(InputFile& file, const std::string& path);

}  // namespace ohm
