// after_bytes(2GiB): the first call that takes the bytes asked for so far past this many.
#pragma once

#include "allocator_shim/fault/fault_policy.h"

namespace ohm::fault_policies_detail {

class AfterBytes final : public FaultPolicy {
 public:
  explicit AfterBytes(std::size_t bytes) : bytes_(bytes) {}
  bool holds(const FaultCandidate& candidate) const override {
    return candidate.total_bytes > bytes_;
  }

 private:
  std::size_t bytes_;
};

inline constexpr FaultPolicyRow kAfterBytes = {
    "after_bytes", "after_bytes(BYTES)", "the call that takes the requested total past this fails",
    FaultPolicy::Kind::schedule, [](PolicyArguments& arguments) -> std::unique_ptr<FaultPolicy> {
      return std::make_unique<AfterBytes>(arguments.take_bytes("a number of bytes"));
    }};

}  // namespace ohm::fault_policies_detail
