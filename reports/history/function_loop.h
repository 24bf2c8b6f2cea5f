// The outermost loop of a function, found by the lines that it comes back to.
#pragma once

#include <cstddef>
#include <vector>

#include "allocator_shim/observe/stack_table.h"

namespace ohm::reports {

/// Requests that follow each other in one line of a function.
struct Stay {
  FrameId line = 0;
  std::size_t first = 0;      ///< index of the first request
  bool trains = false;        ///< one of them is in a backward pass, or in an optimizer
  bool is_in_module = true;   ///< all of them are
  bool calls_module = false;  ///< one of them is in a module
  bool makes_data = false;    ///< one of them is of data, outside modules
};

/// Indices into the stays.
struct Pass {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// So many passes in which modules are called are no layers of a model.
inline constexpr std::size_t kMoreThanLayers = 64;

/// The passes through the function's outermost loop: of the lines that it comes back to, most of
/// the time by the same lines, those that it comes back to least often, where they are, and of
/// these the first. Of loops that follow each other one that trains, and then the longest. A pass
/// has a backward or an optimizer in it, or else a module is called with what the loop itself has
/// made: layers, too, are called again and again, though fewer than kMoreThanLayers times. Many
/// passes that make data are a loop as well. Empty: there is no loop of at least three passes.
std::vector<Pass> outermost_loop(const std::vector<Stay>& stays);

}  // namespace ohm::reports
