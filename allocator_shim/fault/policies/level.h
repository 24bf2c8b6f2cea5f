// level(segment): calls of this kind instead of all requests of the runtime.
#pragma once

#include <algorithm>

#include "allocator_shim/fault/fault_policy.h"

namespace ohm::fault_policies_detail {

class Level final : public FaultPolicy {
 public:
  explicit Level(FaultLevel level) : level_(level) {}
  /// `request` means all requests for GPU memory, whatever they are for.
  bool holds(const FaultCandidate& candidate) const override {
    if (level_ == FaultLevel::request) {
      return is_request(candidate.level) && candidate.level != FaultLevel::pinned;
    }
    return candidate.level == level_;
  }

  static std::unique_ptr<FaultPolicy> make(PolicyArguments& arguments) {
    const std::string_view name = arguments.take_text("a level");
    const auto* const known = std::find(kFaultLevelNames.begin(), kFaultLevelNames.end(), name);
    if (known == kFaultLevelNames.end()) {
      arguments.refuse("a level must be request, segment, map, pinned, workspace or collective");
    }
    return std::make_unique<Level>(static_cast<FaultLevel>(known - kFaultLevelNames.begin()));
  }

 private:
  FaultLevel level_;
};

inline constexpr FaultPolicyRow kLevel = {
    "level",
    "level(segment)",
    "only calls at this level: request, segment, map, pinned, workspace or collective",
    FaultPolicy::Kind::condition,
    Level::make,
    FaultPolicyRow::Names::level};

}  // namespace ohm::fault_policies_detail
