// The sentence of torch.OutOfMemoryError, character by character.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocator_shim/base/rule_set.h"
#include "allocator_shim/device/device_memory.h"
#include "allocator_shim/observe/out_of_memory.h"

namespace ohm {

/// `allowed_bytes`: what set_memory_fraction() left, if it was called. `is_expandable`: segments
/// are.
std::string out_of_memory_message(const OutOfMemoryReport& report,
                                  std::optional<std::size_t> allowed_bytes,
                                  const std::vector<DeviceProcess>& processes, const RuleSet& rules,
                                  bool is_expandable = false);

}  // namespace ohm
