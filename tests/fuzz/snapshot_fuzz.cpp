// Whatever a file holds, it is either refused with the place of the first thing that is wrong, or
// read as a snapshot that can be written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "allocator_shim/snapshot/snapshot_reader.h"
#include "allocator_shim/snapshot/snapshot_writer.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check(const ohm::Snapshot& snapshot) {
  for (const ohm::SnapshotSegment& segment : snapshot.segments) {
    std::uint64_t at = segment.address;
    for (const ohm::SnapshotBlock& block : segment.blocks) {
      require(block.address == at);
      at += block.bytes;
    }
    require(at == segment.address + segment.bytes);
  }
  for (const auto& trace : snapshot.device_traces) {
    for (const ohm::TraceEntry& entry : trace) {
      require(entry.detail < snapshot.details.size());
      require(entry.action < ohm::EventAction::relabel);
    }
  }
  const std::string bytes = ohm::snapshot_bytes(snapshot);
  require(ohm::snapshot_bytes(ohm::read_snapshot(bytes)) == bytes);
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    check(ohm::read_snapshot(bytes));
  } catch (const ohm::PickleError& error) {
    require(error.offset() <= size);
    require(*error.what() != '\0');
  }
  return 0;
}
