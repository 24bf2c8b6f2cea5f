// Growth per step, where a record shows it.
#pragma once

#include <optional>
#include <string_view>

#include "reports/history/stepped_device.h"

namespace ohm::reports {

struct Growth {
  /// Whether what the steps leave behind may be what one backward behind all of them needs: passes
  /// through layers, or through parts of a batch. Either it goes while gradients are made; or no
  /// pass trains, and it was made by PyTorch's layers that no model has called.
  bool may_wait_for_backward = false;
  /// What grows is there at the end, of every step behind the second, and does not wait. nullopt:
  /// nothing does.
  std::optional<FindingResult> finding;
};

/// `steps`: what they are called, "steps".
Growth growth_of(const SteppedDevice& device, std::string_view steps);

}  // namespace ohm::reports
