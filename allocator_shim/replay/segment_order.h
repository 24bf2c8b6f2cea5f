// What a record shows of the order in which the segments came that were there when it began.
//
// Note [Order of segments]
// PyTorch 2.15 takes, of free blocks of one size, that of the segment that came first. A snapshot
// lists segments by address. Where the record's block was taken of one segment although one of the
// same size was free in another, the former came first; the order in which segments of one size are
// given back tells the same. What is left open made no difference.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "allocator_shim/device/device_memory.h"
#include "allocator_shim/observe/segment_view.h"

namespace ohm {

/// Segments are named by where they begin, expandable ones by where their range does.
class SegmentOrder {
 public:
  void add(DeviceAddress earlier, DeviceAddress later) { facts_.emplace_back(earlier, later); }
  bool is_open() const { return facts_.empty(); }

  /// Of `segments`, which are in address order: what nothing is known of by address. nullopt when
  /// some segment would have come before itself.
  std::optional<std::vector<DeviceAddress>> oldest_first(
      const std::vector<SegmentView>& segments) const;

 private:
  std::vector<std::pair<DeviceAddress, DeviceAddress>> facts_;
};

/// The segment that holds `address`, by its name; nullopt: none does.
std::optional<DeviceAddress> segment_holding(const std::vector<SegmentView>& segments,
                                             DeviceAddress address);

}  // namespace ohm
