// call(NAME): calls of this entry point of CUDA instead of those that ask a GPU for memory.
#pragma once

#include <string>

#include "allocator_shim/fault/fault_policy.h"

namespace ohm::fault_policies_detail {

class Call final : public FaultPolicy {
 public:
  explicit Call(std::string_view name) : name_(name) {}
  bool holds(const FaultCandidate& candidate) const override {
    return candidate.level == FaultLevel::call && candidate.call == name_;
  }
  std::string_view named_call() const override { return name_; }

 private:
  std::string name_;
};

inline constexpr FaultPolicyRow kCall = {
    "call",
    "call(NAME)",
    "only calls of this CUDA function (ohm exec); they fail as -> error(KIND) says",
    FaultPolicy::Kind::condition,
    [](PolicyArguments& arguments) -> std::unique_ptr<FaultPolicy> {
      return std::make_unique<Call>(arguments.take_text("a function of CUDA"));
    },
    FaultPolicyRow::Names::both,
    true};

}  // namespace ohm::fault_policies_detail
