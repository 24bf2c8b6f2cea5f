// The streams that work is queued on.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "allocator_shim/device/stream_events.h"
#include "runtime/base/device.h"

namespace ohm {

// Streams with a purpose, on every GPU. Those that a program makes follow them.
inline constexpr StreamId kCopyStream = 1;        ///< copies from the host for DataParallel and DDP
inline constexpr StreamId kCollectiveStream = 2;  ///< collectives of ranks
inline constexpr StreamId kFirstProgramStream = 3;
/// Those of groups and pairs of ranks.
inline constexpr StreamId kFirstRankStream = 2000;
inline constexpr StreamId kRankStreamsInPool = 32;

/// The current stream of each GPU: the default stream until another one is chosen.
class CurrentStreams {
 public:
  StreamId of(Device device) const {
    const auto index = static_cast<std::size_t>(device.index);
    return device.is_cuda() && index < streams_.size() ? streams_[index] : kDefaultStream;
  }

  /// Chooses `stream`; returns the one before. The host has no streams.
  StreamId exchange(Device device, StreamId stream) {
    if (of(device) == stream || device.is_cpu()) return stream;
    const auto index = static_cast<std::size_t>(device.index);
    if (index >= streams_.size()) streams_.resize(index + 1, kDefaultStream);
    return std::exchange(streams_[index], stream);
  }

 private:
  std::vector<StreamId> streams_;  ///< by GPU; those behind the last are the default stream
};

}  // namespace ohm
