// Passes of a recorded program that has no marks: its outermost loop, found in its stacks.
#pragma once

#include <cstdint>
#include <vector>

#include "allocator_shim/observe/stack_table.h"

namespace ohm::reports {

struct RecordedRequest {
  std::uint32_t event = 0;
  StackId stack = kNoStack;
  bool is_data = false;  ///< it brings data to the GPU, or makes it there
};

/// The last event of each pass through the outermost function of the program that comes back to the
/// same line, each time by the same lines, at least three times; empty where none does.
///
/// Layers are not passes: what happens inside of a module is not looked into, and a pass has a
/// backward or an optimizer in it, or else a module is called with what the loop itself has made.
/// `last_event`: of the record.
std::vector<std::uint32_t> repeated_passes(const StackTable& tables,
                                           const std::vector<RecordedRequest>& requests,
                                           std::uint32_t last_event);

}  // namespace ohm::reports
