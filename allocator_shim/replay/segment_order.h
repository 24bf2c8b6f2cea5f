// The order in which segments came that were there when a record began, as far as it shows.
//
// Note [Order of segments]
// PyTorch 2.15 takes, of free blocks of one size, that of the segment that came first. A snapshot
// lists segments by address. Where the record's block was taken of one segment although blocks of
// the same size were free in others, the former came before all of them; the order in which
// segments of one size are given back tells the same of two. What is left open made no difference.
#pragma once

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "allocator_shim/device/device_memory.h"
#include "allocator_shim/observe/segment_view.h"

namespace ohm {

/// Segments are named by where they begin, expandable ones by where their range does.
class SegmentOrder {
 public:
  void add(DeviceAddress earlier, DeviceAddress later) { facts_.emplace(earlier, later); }
  bool is_unknown() const { return facts_.empty(); }

  /// Of `segments`, which are in address order: what nothing is known of by address. nullopt when
  /// some segment would have come before itself.
  std::optional<std::vector<DeviceAddress>> oldest_first(
      const std::vector<SegmentView>& segments) const;

 private:
  std::set<std::pair<DeviceAddress, DeviceAddress>> facts_;  ///< the earlier one, the later one
};

/// The segment that holds `address`, by its name; nullopt: none does.
std::optional<DeviceAddress> segment_holding(const std::vector<SegmentView>& segments,
                                             DeviceAddress address);

}  // namespace ohm
