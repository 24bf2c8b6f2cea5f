// The scope of a collective: what moves tensors between devices or ranks.
#pragma once

#include <string_view>

#include "runtime/tensor/context.h"

namespace ohm::parallel {

/// Allocations belong to this op, and are buffers of a collective, while the guard lives.
class CollectiveGuard {
 public:
  explicit CollectiveGuard(std::string_view op) : op_(op) {}

 private:
  OpGuard op_;
  PurposeGuard purpose_{RequestPurpose::collective};
};

}  // namespace ohm::parallel
