// The streams of a CUDA device.
#pragma once

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "allocator_shim/device/cuda/cuda_device.h"
#include "allocator_shim/device/queued_streams.h"

namespace ohm::cuda {

/// What a run does never depends on how fast the device is: whether a stream has caught up is
/// decided as on a virtual GPU (QueuedStreams), and where that says yes, the host waits until it is
/// true. A program that shares no memory between streams never waits for that.
class CudaStreams final : public DeviceStreams {
 public:
  explicit CudaStreams(std::shared_ptr<const CudaDevice> device);
  ~CudaStreams() override;

  StreamEvent record(StreamId stream) override;
  bool is_complete(StreamId stream, StreamEvent event) override;
  void wait(StreamId stream, StreamEvent event) override;
  void wait_for(StreamId stream, StreamId other, StreamEvent event) override;
  void occupy(StreamId stream) override { order_.occupy(stream); }
  void synchronize(StreamId stream) override;
  void synchronize_all() override;

  /// The driver's stream: the default one is its default too, others are made when first used.
  StreamHandle handle(StreamId stream);

 private:
  struct Queue {
    StreamHandle handle = nullptr;
    StreamEvent passed = 0;           ///< the last event that the device is known to have passed
    std::deque<EventHandle> pending;  ///< those after it, in order
  };

  Queue& queue(StreamId stream);
  EventHandle take_event();
  void drop_first(Queue& queue);
  void catch_up(StreamId stream, StreamEvent event);

  std::shared_ptr<const CudaDevice> device_;
  QueuedStreams order_;
  std::unordered_map<StreamId, Queue> queues_;
  std::vector<EventHandle> spare_events_;
};

}  // namespace ohm::cuda
