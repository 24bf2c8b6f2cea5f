// Disagreements: the places where a replay and its record part, in words that help to find out why.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "allocator_shim/replay/history_replay.h"

namespace ohm {

struct Disagreement {
  std::optional<std::size_t> event;  ///< its index among the events of the device
  std::string summary;               ///< one sentence
  std::vector<std::string> details;  ///< what was there, what the allocator chose, and why
};

/// `before`: the allocator just before the step that the divergence is of.
Disagreement explain(const DeviceHistory& history, const BlockLives& lives,
                     const Divergence& divergence, const CachingAllocator& before);

}  // namespace ohm
