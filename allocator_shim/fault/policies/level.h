// level(segment): calls of this kind instead of the runtime's requests.
#pragma once

#include <array>

#include "allocator_shim/fault/fault_policy.h"

namespace ohm::fault_policies_detail {

class Level final : public FaultPolicy {
 public:
  explicit Level(FaultLevel level) : level_(level) {}
  bool holds(const FaultCandidate& candidate) const override { return candidate.level == level_; }

  static std::unique_ptr<FaultPolicy> make(PolicyArguments& arguments) {
    const std::string_view name = arguments.take_text("a level");
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      if (kNames[i] == name) return std::make_unique<Level>(static_cast<FaultLevel>(i));
    }
    arguments.refuse("a level is request, segment or map");
  }

 private:
  static constexpr std::array<std::string_view, 3> kNames = {"request", "segment", "map"};
  FaultLevel level_;
};

inline constexpr FaultPolicyRow kLevel = {
    "level", "level(request|segment|map)",
    "calls of the device for segments or chunks, instead of the runtime's requests",
    FaultPolicy::Kind::condition, Level::make};

}  // namespace ohm::fault_policies_detail
