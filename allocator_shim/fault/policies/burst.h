// burst(N,COUNT): COUNT calls in a row from the N-th on.
#pragma once

#include "allocator_shim/fault/fault_policy.h"

namespace ohm::fault_policies_detail {

class Burst final : public FaultPolicy {
 public:
  Burst(std::uint64_t first, std::uint64_t count) : first_(first), count_(count) {}
  bool holds(const FaultCandidate& candidate) const override {
    return candidate.ordinal >= first_ && candidate.ordinal - first_ < count_;
  }
  std::optional<std::uint64_t> fault_limit() const override { return count_; }

  static std::unique_ptr<FaultPolicy> make(PolicyArguments& arguments) {
    const std::uint64_t first = arguments.take_count("N");
    return std::make_unique<Burst>(first, arguments.take_count("COUNT"));
  }

 private:
  std::uint64_t first_;
  std::uint64_t count_;
};

inline constexpr FaultPolicyRow kBurst = {"burst", "burst(N,COUNT)",
                                          "COUNT calls in a row fail, from the N-th on",
                                          FaultPolicy::Kind::schedule, Burst::make};

}  // namespace ohm::fault_policies_detail
