#include "harness/replay/replayable_snapshot.h"

#include <fmt/format.h>

#include "allocator_shim/snapshot/snapshot_reader.h"
#include "harness/replay/replay_error.h"
#include "reports/history/native_frames.h"

namespace ohm::engine {

Snapshot replayable_snapshot(InputFile& file, const std::string& path) {
  Snapshot snapshot = read_snapshot_file(file, path);
  if (reports::is_of_native_program(snapshot)) {
    throw ReplayError(
        fmt::format("{}: the program does not use PyTorch: there is no allocator to replay", path));
  }
  return snapshot;
}

}  // namespace ohm::engine
