// Two states of an allocator side by side.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "allocator_shim/device/device_memory.h"
#include "allocator_shim/observe/segment_view.h"
#include "allocator_shim/replay/device_history.h"

namespace ohm {

struct StateDifference {
  DeviceAddress address = 0;  ///< of the segment or block that differs
  std::string text;           ///< a sentence
};

/// The first thing in address order that differs; nullopt when nothing does. Both are in address
/// order. What an inactive block last held counts where `actual` knows it (kUnknownRequest);
/// reservations do not.
std::optional<StateDifference> first_difference(const std::vector<SegmentView>& actual,
                                                const std::vector<SegmentView>& recorded,
                                                const std::vector<Lane>& lanes);

/// "stream 0", "stream 0x55d0 of the private pool (1, 0)".
std::string name_of(const Lane& lane);

}  // namespace ohm
