// Streams, as far as an allocator has to know them: points in a stream's work that can be waited
// for. A block that a foreign stream used is free only after such a point was passed.
#pragma once

#include <cstdint>

namespace ohm {

/// A stream of one device; 0 is the default stream.
using StreamId = std::uint32_t;
inline constexpr StreamId kDefaultStream = 0;

/// The n-th event recorded on its stream, counted from 1. Events of one stream complete in order.
using StreamEvent = std::uint64_t;

/// One device's streams. Not thread-safe, as the device.
class StreamEvents {
 public:
  StreamEvents() = default;
  StreamEvents(const StreamEvents&) = delete;
  StreamEvents& operator=(const StreamEvents&) = delete;
  virtual ~StreamEvents() = default;

  /// Marks the end of what is queued on `stream` now (cudaEventRecord).
  virtual StreamEvent record(StreamId stream) = 0;
  /// Whether the stream has come that far (cudaEventQuery).
  virtual bool is_complete(StreamId stream, StreamEvent event) = 0;
  /// Returns once the stream has come that far (cudaEventSynchronize).
  virtual void wait(StreamId stream, StreamEvent event) = 0;
};

/// What a program does with the streams of one device, besides.
class DeviceStreams : public StreamEvents {
 public:
  /// What is queued on `stream` from now on waits until `other` has come to `event`
  /// (cudaStreamWaitEvent).
  virtual void wait_for(StreamId stream, StreamId other, StreamEvent event) = 0;
  /// Queues work that lasts until the program waits for it (torch.cuda._sleep).
  virtual void occupy(StreamId stream) = 0;
  /// Returns once everything queued on `stream` is done (cudaStreamSynchronize).
  virtual void synchronize(StreamId stream) = 0;
  /// The same for all streams (cudaDeviceSynchronize).
  virtual void synchronize_all() = 0;
};

}  // namespace ohm
