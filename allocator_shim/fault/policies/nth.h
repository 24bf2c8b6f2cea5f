// nth(N): the N-th call, counted from 1.
#pragma once

#include "allocator_shim/fault/fault_policy.h"

namespace ohm::fault_policies_detail {

class Nth final : public FaultPolicy {
 public:
  explicit Nth(std::uint64_t ordinal) : ordinal_(ordinal) {}
  bool holds(const FaultCandidate& candidate) const override {
    return candidate.ordinal == ordinal_;
  }
  std::optional<std::uint64_t> fault_limit() const override { return 1; }

 private:
  std::uint64_t ordinal_;
};

inline constexpr FaultPolicyRow kNth = {
    "nth", "nth(N)", "the N-th call fails", FaultPolicy::Kind::schedule,
    [](PolicyArguments& arguments) -> std::unique_ptr<FaultPolicy> {
      return std::make_unique<Nth>(arguments.take_count("N"));
    }};

}  // namespace ohm::fault_policies_detail
