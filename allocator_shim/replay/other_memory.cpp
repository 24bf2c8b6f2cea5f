#include "allocator_shim/replay/other_memory.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace ohm {
namespace {

constexpr std::size_t kOtherAddressBytes = std::size_t{1} << 60U;

}  // namespace

OtherMemory::OtherMemory(const VerifiedHistory& history, std::size_t capacity_bytes,
                         SegmentAddresses addresses)
    : capacity_bytes_(capacity_bytes),
      others_(kAddressLimit, kOtherAddressBytes, AddressOrder::lowest_gap) {
  for (const SegmentView& segment : history.initial_state().segments) {
    held_bytes_ += segment.bytes;
    held_[segment.reservation_address] = segment.reservation_bytes;
  }
  if (addresses == SegmentAddresses::lowest_gap) return;
  for (const std::uint32_t index : history.lives().segment_events) {
    const MemoryEvent& event = history.history().events[index];
    if (event.action == EventAction::segment_alloc) {
      recorded_[event.bytes].push_back(event.address);
    }
  }
}

bool OtherMemory::take(std::size_t bytes) {
  // What was there at the start may be more than the device has.
  if (held_bytes_ > capacity_bytes_ || bytes > capacity_bytes_ - held_bytes_) return false;
  held_bytes_ += bytes;
  return true;
}

std::optional<DeviceAddress> OtherMemory::recorded_address(std::size_t bytes) {
  const auto waiting = recorded_.find(bytes);
  if (waiting == recorded_.end() || waiting->second.empty()) return std::nullopt;
  const DeviceAddress address = waiting->second.front();
  const auto next = held_.lower_bound(address);
  const bool is_held =
      (next != held_.end() && next->first < address + bytes) ||
      (next != held_.begin() && std::prev(next)->first + std::prev(next)->second > address);
  if (is_held) return std::nullopt;
  waiting->second.pop_front();
  return address;
}

std::optional<DeviceAddress> OtherMemory::allocate_segment(std::size_t bytes) {
  if (!take(bytes)) return std::nullopt;
  if (const auto address = recorded_address(bytes)) {
    held_[*address] = bytes;
    return address;
  }
  return others_.allocate(bytes);
}

void OtherMemory::free_segment(DeviceAddress address, std::size_t bytes) {
  held_bytes_ -= bytes;
  if (held_.erase(address) == 0) others_.release(address, bytes);
}

DeviceAddress OtherMemory::reserve_range(std::size_t bytes) {
  const auto address = others_.allocate(bytes);
  if (!address) throw std::runtime_error("[replay] no addresses left for an expandable segment");
  return *address;
}

void OtherMemory::release_range(DeviceAddress address, std::size_t bytes) {
  if (held_.erase(address) == 0) others_.release(address, bytes);
}

bool OtherMemory::map(DeviceAddress /*address*/, std::size_t bytes, std::size_t /*chunk_bytes*/) {
  return take(bytes);
}

void OtherMemory::unmap(DeviceAddress /*address*/, std::size_t bytes, std::size_t /*chunk_bytes*/) {
  held_bytes_ -= bytes;
}

DeviceMemoryInfo OtherMemory::info() const {
  const std::size_t free_bytes = capacity_bytes_ - std::min(capacity_bytes_, held_bytes_);
  return {free_bytes, capacity_bytes_};
}

}  // namespace ohm
