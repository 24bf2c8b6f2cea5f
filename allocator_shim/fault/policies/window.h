// window(FIRST,LAST): the calls from FIRST to LAST.
#pragma once

#include "allocator_shim/fault/fault_policy.h"

namespace ohm::fault_policies_detail {

class Window final : public FaultPolicy {
 public:
  Window(std::uint64_t first, std::uint64_t last) : first_(first), last_(last) {}
  bool holds(const FaultCandidate& candidate) const override {
    return candidate.ordinal >= first_ && candidate.ordinal <= last_;
  }
  std::optional<std::uint64_t> fault_limit() const override { return last_ - first_ + 1; }

  static std::unique_ptr<FaultPolicy> make(PolicyArguments& arguments) {
    const std::uint64_t first = arguments.take_count("FIRST");
    const std::uint64_t last = arguments.take_count("LAST");
    if (last < first) arguments.refuse("LAST comes before FIRST");
    return std::make_unique<Window>(first, last);
  }

 private:
  std::uint64_t first_;
  std::uint64_t last_;
};

inline constexpr FaultPolicyRow kWindow = {"window", "window(FIRST,LAST)",
                                           "the calls from FIRST to LAST fail",
                                           FaultPolicy::Kind::schedule, Window::make};

}  // namespace ohm::fault_policies_detail
