// The smallest device on which a program runs.
//
// Note [No bisection alone]
// Less memory makes the allocator give back and ask again at other moments, so that blocks come to
// lie elsewhere: a program may fit into some capacity and not into a larger one. But every run
// tells of more than its own capacity. Down to the most that was held at once, each answer of the
// device would have been the same, and so would everything else. So the search goes from run to
// run, downwards, and leaves nothing out; only where that would take too long it is finished by
// bisection, and says so.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "allocator_shim/replay/what_if.h"

namespace ohm {

struct CapacitySearch {
  /// The smallest capacity at which the device is never out of room; nullopt: none is known.
  std::optional<std::size_t> without_retry_bytes;
  /// The smallest capacity at which every request is served, with retries or without.
  std::optional<std::size_t> with_retries_bytes;
  /// From this one on every capacity serves every request. Larger than with_retries_bytes where the
  /// program fails again on some larger device; nullopt: not known.
  std::optional<std::size_t> every_from_bytes;
  /// Nothing was left out from this one up; below it only some capacities were tried, unless the
  /// program's blocks alone need more.
  std::size_t checked_down_to_bytes = 0;
  /// Whether nothing was left out at all.
  bool is_certified = false;
  std::size_t runs = 0;
};

/// `run` gives the outcome on a device of some capacity; `events` is what one run costs.
CapacitySearch find_smallest_capacity(const std::function<WhatIfOutcome(std::size_t)>& run,
                                      std::size_t events);

}  // namespace ohm
