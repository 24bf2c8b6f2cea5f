#include "allocator_shim/replay/recorded_memory.h"

#include <algorithm>
#include <iterator>

#include "allocator_shim/base/size_policy.h"
#include "allocator_shim/replay/history_steps.h"

namespace ohm {

RecordedMemory::RecordedMemory(const std::vector<RecordedReservation>& reservations,
                               const std::vector<SegmentView>& held)
    : reservations_(reservations), is_reservation_made_(reservations.size()) {
  for (const SegmentView& segment : held) {
    held_[segment.reservation_address] = segment.reservation_bytes;
  }
}

RecordedMemory::RecordedMemory(const RecordedMemory& other)
    : reservations_(other.reservations_),
      is_reservation_made_(other.is_reservation_made_),
      held_(other.held_),
      next_unrecorded_(other.next_unrecorded_) {}

void RecordedMemory::begin(const RecordedRequest& request) {
  request_ = request;
  next_ = to_give_back_ = given_back_ = 0;
}

RecordedMemory::Answer RecordedMemory::answer() {
  for (; next_ < request_.events.size(); ++next_) {
    const MemoryEvent& event = request_.events[next_];
    if (obtains_memory(event)) break;
    if (gives_memory_back(event)) ++to_give_back_;
  }
  if (given_back_ < to_give_back_) return Answer::no_room;
  if (next_ < request_.events.size()) return Answer::as_recorded;
  return request_.is_out_of_memory ? Answer::no_room : Answer::unrecorded;
}

std::optional<DeviceAddress> RecordedMemory::allocate_segment(std::size_t bytes) {
  const Answer said = answer();
  if (said == Answer::no_room) return std::nullopt;
  DeviceAddress address = 0;
  if (said == Answer::as_recorded) {
    const MemoryEvent& event = request_.events[next_++];
    if (event.bytes == bytes && !is_held(event.address, bytes)) address = event.address;
  }
  if (address == 0) address = unrecorded_address(bytes);
  held_[address] = bytes;
  return address;
}

void RecordedMemory::free_segment(DeviceAddress address, std::size_t /*bytes*/) {
  held_.erase(address);
  ++given_back_;
}

std::size_t RecordedMemory::next_reservation() const {
  for (std::size_t i = 0; i < reservations_.size(); ++i) {
    const RecordedReservation& reservation = reservations_[i];
    if (!is_reservation_made_[i] && reservation.stream == request_.stream &&
        reservation.is_small == request_.is_small) {
      return i;
    }
  }
  return reservations_.size();
}

/// Whether nothing else lies where a recorded reservation lay, from now until it was used.
bool RecordedMemory::is_free_until_used(std::size_t index) const {
  const RecordedReservation& wanted = reservations_[index];
  if (is_held(wanted.address, wanted.bytes)) return false;
  for (std::size_t i = 0; i < index; ++i) {
    const RecordedReservation& other = reservations_[i];
    const bool overlaps = other.address < wanted.address + wanted.bytes &&
                          wanted.address < other.address + other.bytes;
    if (overlaps && !is_reservation_made_[i]) return false;
  }
  return true;
}

DeviceAddress RecordedMemory::reserve_range(std::size_t bytes) {
  const std::size_t next = next_reservation();
  DeviceAddress address = 0;
  if (next < reservations_.size() && is_free_until_used(next)) {
    address = reservations_[next].address;
    is_reservation_made_[next] = true;
  } else {
    is_contradicted_ = is_contradicted_ || next < reservations_.size();
    address = unrecorded_address(bytes);
  }
  held_[address] = bytes;
  return address;
}

void RecordedMemory::release_range(DeviceAddress address, std::size_t /*bytes*/) {
  held_.erase(address);
}

bool RecordedMemory::map(DeviceAddress address, std::size_t bytes, std::size_t /*chunk_bytes*/) {
  const Answer said = answer();
  if (said == Answer::as_recorded) {
    const MemoryEvent& event = request_.events[next_];
    if (event.address == address && event.bytes == bytes) ++next_;
  }
  return said != Answer::no_room;
}

void RecordedMemory::unmap(DeviceAddress /*address*/, std::size_t /*bytes*/,
                           std::size_t /*chunk_bytes*/) {
  ++given_back_;
}

DeviceMemoryInfo RecordedMemory::info() const {
  constexpr std::size_t kUnknownTotal = std::size_t{1} << 40U;
  DeviceMemoryInfo info;
  if (request_.is_out_of_memory) info.free_bytes = request_.events.back().address;
  const std::size_t next = next_reservation();
  // An expandable segment reserves an eighth more than the device has.
  info.total_bytes =
      next == reservations_.size() ? kUnknownTotal : reservations_[next].bytes / 9 * 8;
  return info;
}

DeviceAddress RecordedMemory::unrecorded_address(std::size_t bytes) {
  const DeviceAddress address = next_unrecorded_;
  next_unrecorded_ += round_up_to(bytes, kSegmentRoundingBytes);
  return address;
}

bool RecordedMemory::is_held(DeviceAddress address, std::size_t bytes) const {
  const auto next = held_.lower_bound(address);
  if (next != held_.end() && next->first < address + bytes) return true;
  return next != held_.begin() && std::prev(next)->first + std::prev(next)->second > address;
}

}  // namespace ohm
