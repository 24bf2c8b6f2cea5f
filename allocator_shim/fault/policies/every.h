// every(N): the N-th call, the 2N-th, the 3N-th, ….
#pragma once

#include "allocator_shim/fault/fault_policy.h"

namespace ohm::fault_policies_detail {

class Every final : public FaultPolicy {
 public:
  explicit Every(std::uint64_t period) : period_(period) {}
  bool holds(const FaultCandidate& candidate) const override {
    return candidate.ordinal % period_ == 0;
  }
  std::optional<std::uint64_t> fault_limit() const override { return kNoLimit; }

 private:
  std::uint64_t period_;
};

inline constexpr FaultPolicyRow kEvery = {
    "every", "every(N)", "every N-th call fails", FaultPolicy::Kind::schedule,
    [](PolicyArguments& arguments) -> std::unique_ptr<FaultPolicy> {
      return std::make_unique<Every>(arguments.take_count("N"));
    }};

}  // namespace ohm::fault_policies_detail
