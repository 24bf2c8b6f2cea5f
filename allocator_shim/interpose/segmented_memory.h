// Memory of a GPU that is taken in segments and given out in blocks, as CUDA does with small
// requests and with pools of stream-ordered memory. Guarded by the lock of the GPUs.
#pragma once

#include <cstddef>
#include <map>
#include <optional>

#include "allocator_shim/device/device_memory.h"

namespace ohm::interpose {

class SegmentedMemory {
 public:
  /// Where the next block of a segment begins.
  static constexpr std::size_t kUnitBytes = 512;

  static std::size_t in_units(std::size_t bytes) {
    return (bytes + kUnitBytes - 1) / kUnitBytes * kUnitBytes;
  }

  /// A block of whole units, of the smallest free range that has room for it, the lowest of those.
  std::optional<DeviceAddress> take(std::size_t bytes);
  /// It is free from now on.
  void give_back(DeviceAddress address, std::size_t bytes);

  /// All of it is free.
  void add_segment(DeviceAddress address, std::size_t bytes);
  struct Segment {
    DeviceAddress address = 0;
    std::size_t bytes = 0;
  };
  /// Takes out a segment of which nothing is in use; nullopt: there is none.
  std::optional<Segment> remove_free_segment();
  /// Whether a range is within a segment, in use or free.
  bool contains(DeviceAddress address, std::size_t bytes) const;
  /// Of all segments.
  std::size_t bytes() const { return bytes_; }

 private:
  using Ranges = std::map<DeviceAddress, std::size_t>;

  bool begins_segment(DeviceAddress address) const { return segments_.count(address) != 0; }

  Ranges segments_;
  Ranges free_;  ///< within one segment each, and never next to each other there
  std::size_t bytes_ = 0;
};

}  // namespace ohm::interpose
