#include "allocator_shim/device/cuda/cuda_streams.h"

#include <utility>

#include "allocator_shim/base/assert.h"

namespace ohm::cuda {

CudaStreams::CudaStreams(std::shared_ptr<const CudaDevice> device) : device_(std::move(device)) {}

CudaStreams::~CudaStreams() {
  if (!device_->driver().is_usable()) return;
  const DriverFunctions& functions = device_->driver().functions();
  for (auto& [stream, queue] : queues_) {
    for (EventHandle event : queue.pending) functions.event_destroy(event);
    if (queue.handle != nullptr) functions.stream_destroy(queue.handle);
  }
  for (EventHandle event : spare_events_) functions.event_destroy(event);
}

CudaStreams::Queue& CudaStreams::queue(StreamId stream) {
  const auto found = queues_.find(stream);
  if (found != queues_.end()) return found->second;
  StreamHandle handle = nullptr;
  if (stream != kDefaultStream) {
    device_->driver().check(device_->current().stream_create(&handle, kNonBlockingStream),
                            "cuStreamCreate");
  }
  Queue& queue = queues_[stream];
  queue.handle = handle;
  return queue;
}

StreamHandle CudaStreams::handle(StreamId stream) { return queue(stream).handle; }

EventHandle CudaStreams::take_event() {
  EventHandle event = nullptr;
  if (spare_events_.empty()) {
    device_->driver().check(device_->current().event_create(&event, kEventWithoutTiming),
                            "cuEventCreate");
  } else {
    event = spare_events_.back();
    spare_events_.pop_back();
  }
  return event;
}

void CudaStreams::drop_first(Queue& queue) {
  spare_events_.push_back(queue.pending.front());
  queue.pending.pop_front();
  ++queue.passed;
}

StreamEvent CudaStreams::record(StreamId stream) {
  Queue& queue = this->queue(stream);
  const DriverFunctions& functions = device_->current();
  // What the device has passed meanwhile need not be kept.
  while (!queue.pending.empty()) {
    const Result answer = functions.event_query(queue.pending.front());
    if (answer == kNotReady) break;
    device_->driver().check(answer, "cuEventQuery");
    drop_first(queue);
  }
  EventHandle event = take_event();
  queue.pending.push_back(event);
  device_->driver().check(functions.event_record(event, queue.handle), "cuEventRecord");
  const StreamEvent number = order_.record(stream);
  OHM_ASSERT(number == queue.passed + queue.pending.size(), "events are counted once");
  return number;
}

void CudaStreams::catch_up(StreamId stream, StreamEvent event) {
  Queue& queue = this->queue(stream);
  if (event <= queue.passed) return;
  const std::size_t index = event - queue.passed - 1;
  OHM_ASSERT(index < queue.pending.size(), "an event was recorded before it is waited for");
  device_->driver().check(device_->current().event_synchronize(queue.pending[index]),
                          "cuEventSynchronize");
  while (queue.passed < event) drop_first(queue);
}

bool CudaStreams::is_complete(StreamId stream, StreamEvent event) {
  if (!order_.is_complete(stream, event)) return false;
  catch_up(stream, event);
  return true;
}

void CudaStreams::wait(StreamId stream, StreamEvent event) {
  order_.wait(stream, event);
  catch_up(stream, event);
}

void CudaStreams::wait_for(StreamId stream, StreamId other, StreamEvent event) {
  order_.wait_for(stream, other, event);
  if (stream == other) return;
  const Queue& waited = queue(other);
  if (event <= waited.passed) return;
  EventHandle handle = waited.pending.at(event - waited.passed - 1);
  device_->driver().check(device_->current().stream_wait_event(queue(stream).handle, handle, 0),
                          "cuStreamWaitEvent");
}

void CudaStreams::synchronize(StreamId stream) { wait(stream, record(stream)); }

void CudaStreams::synchronize_all() {
  order_.synchronize_all();
  device_->synchronize();
  for (auto& [stream, queue] : queues_) {
    while (!queue.pending.empty()) drop_first(queue);
  }
}

}  // namespace ohm::cuda
