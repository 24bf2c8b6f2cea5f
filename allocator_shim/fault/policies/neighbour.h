// neighbour(1GiB, 2, 4): another process holds memory of the card in these steps.
#pragma once

#include <limits>

#include "allocator_shim/fault/fault_policy.h"

namespace ohm::fault_policies_detail {

class Neighbour final : public FaultPolicy {
 public:
  Neighbour(std::size_t bytes, std::int64_t first_step, std::int64_t last_step)
      : bytes_(bytes), first_step_(first_step), last_step_(last_step) {}
  /// Whether the device is meant is all that a call can tell.
  bool holds(const FaultCandidate&) const override { return true; }
  std::size_t neighbour_bytes(std::int64_t step) const override {
    return step >= first_step_ && step <= last_step_ ? bytes_ : 0;
  }

  static std::unique_ptr<FaultPolicy> make(PolicyArguments& arguments) {
    const std::size_t bytes = arguments.take_bytes("a number of bytes");
    std::int64_t first = 1;
    std::int64_t last = std::numeric_limits<std::int64_t>::max();
    if (!arguments.is_at_end()) first = static_cast<std::int64_t>(arguments.take_count("FIRST"));
    if (!arguments.is_at_end()) last = static_cast<std::int64_t>(arguments.take_count("LAST"));
    if (last < first) arguments.refuse("LAST comes before FIRST");
    return std::make_unique<Neighbour>(bytes, first, last);
  }

 private:
  std::size_t bytes_;
  std::int64_t first_step_;
  std::int64_t last_step_;
};

inline constexpr FaultPolicyRow kNeighbour = {
    "neighbour", "neighbour(BYTES,FIRST,LAST)",
    "another process takes this much of the card in step FIRST and gives it back after LAST",
    FaultPolicy::Kind::capacity, Neighbour::make};

}  // namespace ohm::fault_policies_detail
