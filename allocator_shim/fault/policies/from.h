// from(N): the N-th call and every one after it.
#pragma once

#include "allocator_shim/fault/fault_policy.h"

namespace ohm::fault_policies_detail {

class From final : public FaultPolicy {
 public:
  explicit From(std::uint64_t first) : first_(first) {}
  bool holds(const FaultCandidate& candidate) const override { return candidate.ordinal >= first_; }
  std::optional<std::uint64_t> fault_limit() const override { return kNoLimit; }

 private:
  std::uint64_t first_;
};

inline constexpr FaultPolicyRow kFrom = {
    "from", "from(N)", "the N-th call and every later one fail", FaultPolicy::Kind::schedule,
    [](PolicyArguments& arguments) -> std::unique_ptr<FaultPolicy> {
      return std::make_unique<From>(arguments.take_count("N"));
    }};

}  // namespace ohm::fault_policies_detail
