// A device that answers as the recorded one did: segments at the recorded addresses, and no room
// where the record shows that there was none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "allocator_shim/device/device_memory.h"
#include "allocator_shim/device/stream_events.h"
#include "allocator_shim/observe/event_record.h"
#include "allocator_shim/replay/segment_undo.h"

namespace ohm {

/// One request of the record, and what it made of the device's segments.
struct RecordedRequest {
  std::span<const MemoryEvent> events;  ///< from its first to its last, in order
  StreamId stream = kDefaultStream;
  bool is_small = false;
  bool is_out_of_memory = false;
};

/// Not a model of any capacity: what the record does not tell of succeeds, at addresses far from
/// the recorded ones. Whether the allocator asked for what the record shows is the caller's to see,
/// in the events.
class RecordedMemory final : public DeviceMemory {
 public:
  /// `reservations`: those that the record makes, in that order; outlive this.
  RecordedMemory(const std::vector<RecordedReservation>& reservations,
                 const std::vector<SegmentView>& held);

  /// Another one in the same state.
  RecordedMemory(const RecordedMemory& other);

  /// Whether a range of addresses was reserved before the place where the record has it was free:
  /// at that time nothing can have been reserved.
  bool is_contradicted() const { return is_contradicted_; }

  /// What the device is asked for from here on belongs to this request.
  void begin(const RecordedRequest& request);

  std::optional<DeviceAddress> allocate_segment(std::size_t bytes) override;
  void free_segment(DeviceAddress address, std::size_t bytes) override;
  DeviceAddress reserve_range(std::size_t bytes) override;
  void release_range(DeviceAddress address, std::size_t bytes) override;
  bool map(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) override;
  void unmap(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) override;
  /// Free: as an out-of-memory event recorded it. Total: such that the next reservation gets the
  /// room that it had.
  DeviceMemoryInfo info() const override;
  std::size_t context_bytes() const override { return 0; }
  std::vector<DeviceProcess> processes() const override { return {}; }
  void* host_pointer(DeviceAddress /*address*/) const override { return nullptr; }

 private:
  enum class Answer : std::uint8_t { as_recorded, no_room, unrecorded };
  /// What the device said when it was asked at this point of the request; `next_` is then the event
  /// that tells of it.
  Answer answer();
  std::size_t next_reservation() const;
  bool is_free_until_used(std::size_t index) const;
  DeviceAddress unrecorded_address(std::size_t bytes);
  bool is_held(DeviceAddress address, std::size_t bytes) const;

  const std::vector<RecordedReservation>& reservations_;
  std::vector<bool> is_reservation_made_;
  RecordedRequest request_;
  std::size_t next_ = 0;                       ///< in the events of the request
  std::size_t to_give_back_ = 0;               ///< events before `next_` that gave memory back
  std::size_t given_back_ = 0;                 ///< calls during this request
  std::map<DeviceAddress, std::size_t> held_;  ///< segments and reserved ranges
  bool is_contradicted_ = false;
  DeviceAddress next_unrecorded_ = kAddressLimit;
};

/// Events of streams: each deferred free of the record waits for a stream of its own, which has
/// caught up once the record shows that the free completed.
class RecordedStreams final : public StreamEvents {
 public:
  /// Streams from `first` on wait for the deferrals 1, 2, …
  explicit RecordedStreams(StreamId first) : first_(first) {}
  RecordedStreams(const RecordedStreams& other)
      : first_(other.first_), completed_(other.completed_) {}

  StreamId stream_of(std::uint32_t deferral) const { return first_ + deferral - 1; }
  /// The next so many deferrals are complete.
  void complete(std::uint32_t count) { completed_ += count; }

  StreamEvent record(StreamId /*stream*/) override { return 1; }
  bool is_complete(StreamId stream, StreamEvent /*event*/) override {
    return stream < stream_of(completed_ + 1);
  }
  void wait(StreamId /*stream*/, StreamEvent /*event*/) override {}

 private:
  StreamId first_;
  std::uint32_t completed_ = 0;
};

}  // namespace ohm
