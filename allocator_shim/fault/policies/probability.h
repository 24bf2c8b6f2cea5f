// p(P, seed=S): each call with this probability, the same ones for the same seed.
#pragma once

#include "allocator_shim/fault/fault_policy.h"

namespace ohm::fault_policies_detail {

class Probability final : public FaultPolicy {
 public:
  Probability(double probability, std::uint64_t seed) : probability_(probability), seed_(seed) {}
  bool holds(const FaultCandidate& candidate) const override {
    constexpr double kScale = 1.0 / static_cast<double>(std::uint64_t{1} << 53U);
    const std::uint64_t bits = mixed(seed_ ^ mixed(candidate.ordinal)) >> 11U;
    return static_cast<double>(bits) * kScale < probability_;
  }
  std::optional<std::uint64_t> fault_limit() const override { return kNoLimit; }

  static std::unique_ptr<FaultPolicy> make(PolicyArguments& arguments) {
    const double probability = arguments.take_probability("P");
    return std::make_unique<Probability>(probability, arguments.take_named_number("seed", 0));
  }

 private:
  /// SplitMix64: the ordinal alone decides, so that what a chain did before does not matter.
  static std::uint64_t mixed(std::uint64_t bits) {
    bits += 0x9e3779b97f4a7c15U;
    bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
    return bits ^ (bits >> 31U);
  }

  double probability_;
  std::uint64_t seed_;
};

inline constexpr FaultPolicyRow kProbability = {
    "p", "p(0.01, seed=7)", "each call fails with this probability; the same ones for a seed",
    FaultPolicy::Kind::schedule, Probability::make};

}  // namespace ohm::fault_policies_detail
