// capacity(24GiB): the device has only this much memory.
#pragma once

#include "allocator_shim/fault/fault_policy.h"

namespace ohm::fault_policies_detail {

class Capacity final : public FaultPolicy {
 public:
  explicit Capacity(std::size_t bytes) : bytes_(bytes) {}
  /// Whether the device is meant is all that a call can tell; the CapacityLimit counts.
  bool holds(const FaultCandidate&) const override { return true; }
  std::optional<std::size_t> capacity_bytes() const override { return bytes_; }

 private:
  std::size_t bytes_;
};

inline constexpr FaultPolicyRow kCapacity = {
    "capacity", "capacity(BYTES)", "the device has only this much memory",
    FaultPolicy::Kind::capacity, [](PolicyArguments& arguments) -> std::unique_ptr<FaultPolicy> {
      return std::make_unique<Capacity>(arguments.take_bytes("the capacity"));
    }};

}  // namespace ohm::fault_policies_detail
