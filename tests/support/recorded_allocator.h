// A caching allocator on a virtual GPU whose history is recorded as PyTorch records it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "allocator_shim/caching/caching_allocator.h"
#include "allocator_shim/caching/snapshot_settings.h"
#include "allocator_shim/device/virtual_gpu.h"
#include "allocator_shim/device/virtual_streams.h"
#include "allocator_shim/observe/event_record.h"
#include "allocator_shim/snapshot/recorded_snapshot.h"
#include "allocator_shim/snapshot/snapshot.h"

namespace ohm::test {

class RecordedAllocator {
 public:
  explicit RecordedAllocator(std::size_t capacity_bytes, const std::string& settings = "")
      : gpu_(capacity_bytes, {}), allocator_(gpu_, streams_, options_of(settings), &events_) {}

  CachingAllocator& allocator() { return allocator_; }
  const CachingAllocator& allocator() const { return allocator_; }
  VirtualStreams& streams() { return streams_; }

  BlockHandle allocate(std::size_t bytes, StreamId stream = kDefaultStream) {
    AllocationRequest request;
    request.bytes = bytes;
    request.stream = stream;
    return allocator_.allocate(request).block;
  }
  void free(BlockHandle block) { allocator_.free(block); }

  /// The history begins now, in a ring buffer of `max_events`.
  void record(std::size_t max_events = std::size_t{1} << 40U) {
    history_ = {events_.size(), max_events};
  }
  Snapshot snapshot() const {
    const std::vector<SegmentView> segments[] = {allocator_.segments()};
    return snapshot_of(segments, events_, SiteTable(),
                       snapshot_settings(allocator_.settings(), allocator_.rules()), history_);
  }

 private:
  static CachingAllocatorOptions options_of(const std::string& settings) {
    CachingAllocatorOptions options;
    options.settings = parse_settings(settings);
    return options;
  }

  VirtualGpu gpu_;
  VirtualStreams streams_;
  EventRecord events_;
  SnapshotHistory history_;
  CachingAllocator allocator_;
};

}  // namespace ohm::test
