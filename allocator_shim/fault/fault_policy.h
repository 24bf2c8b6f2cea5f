// One word of a fault plan: a rule that says which calls are to fail.
//
// A policy is a pure function of the call; counting, persistence and order are the plan's. To add
// one: a file in policies/ and a row in policy_registry.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "allocator_shim/fault/policy_arguments.h"
#include "allocator_shim/observe/category.h"
#include "allocator_shim/observe/site.h"

namespace ohm {

/// Which call: the runtime's request, or the caching allocator's call of the device.
enum class FaultLevel : std::uint8_t { request, segment, map };

/// A call that could be made to fail.
struct FaultCandidate {
  FaultLevel level = FaultLevel::request;
  int device = 0;  ///< index of the GPU; -1 for host memory
  std::size_t bytes = 0;
  Category category = Category::other;  ///< of requests only
  SiteId site = kUnknownSite;           ///< of requests only
  /// The how manieth call it is, from 1, of those that fulfil all conditions of the chain.
  std::uint64_t ordinal = 0;
};

class FaultPolicy {
 public:
  enum class Kind : std::uint8_t {
    condition,  ///< narrows down which calls are meant; knows no ordinal
    schedule,   ///< picks among the calls that are meant, by their ordinal
    capacity    ///< not a fault but a smaller device
  };
  static constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

  FaultPolicy() = default;
  FaultPolicy(const FaultPolicy&) = delete;
  FaultPolicy& operator=(const FaultPolicy&) = delete;
  virtual ~FaultPolicy() = default;

  virtual bool holds(const FaultCandidate& candidate) const = 0;

  /// How many faults a transient chain with this policy injects at most; nullopt: no opinion.
  virtual std::optional<std::uint64_t> fault_limit() const { return std::nullopt; }

  /// Of the kind capacity: what the device has; otherwise nullopt.
  virtual std::optional<std::size_t> capacity_bytes() const { return std::nullopt; }
};

/// What the registry knows about a policy.
struct FaultPolicyRow {
  std::string_view name;
  std::string_view usage;  ///< "nth(N)"
  std::string_view help;   ///< one line
  FaultPolicy::Kind kind;
  /// Throws std::invalid_argument for arguments that make no sense.
  std::unique_ptr<FaultPolicy> (*make)(PolicyArguments& arguments);
};

std::span<const FaultPolicyRow> fault_policies();

}  // namespace ohm
