// Fault policies: one word of a plan each, a rule that says which calls are to fail.
//
// A policy is a pure function of the call; counting, persistence and order are the plan's. To add
// one: a file in policies/ and a row in policy_registry.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "allocator_shim/device/request_allocator.h"
#include "allocator_shim/fault/policy_arguments.h"
#include "allocator_shim/observe/category.h"
#include "allocator_shim/observe/site.h"

namespace ohm {

/// Which call: a request of the runtime (for data, for a library's workspace, for the flat buffer
/// of a collective, for pinned host memory), the caching allocator's call of the device, or any
/// call of CUDA that a program makes.
enum class FaultLevel : std::uint8_t { request, segment, map, pinned, workspace, collective, call };

/// Of those that level(…) names. Indexed by FaultLevel.
inline constexpr std::array<std::string_view, 6> kFaultLevelNames = {
    "request", "segment", "map", "pinned", "workspace", "collective"};

constexpr std::string_view name_of(FaultLevel level) {
  if (level == FaultLevel::call) return "call";
  return kFaultLevelNames[static_cast<std::size_t>(level)];
}

/// The level of a request of the runtime.
constexpr FaultLevel level_of(RequestPurpose purpose) {
  switch (purpose) {
    case RequestPurpose::tensor:
      return FaultLevel::request;
    case RequestPurpose::workspace:
      return FaultLevel::workspace;
    case RequestPurpose::collective:
      return FaultLevel::collective;
    case RequestPurpose::pinned:
      return FaultLevel::pinned;
  }
  return FaultLevel::request;
}

/// Whether the runtime asks for memory here: anything but a call of the device.
constexpr bool is_request(FaultLevel level) {
  return level != FaultLevel::segment && level != FaultLevel::map && level != FaultLevel::call;
}

/// A call that could be made to fail.
struct FaultCandidate {
  FaultLevel level = FaultLevel::request;
  int device = 0;  ///< index of the GPU; -1 for host memory
  std::size_t bytes = 0;
  Category category = Category::other;  ///< of the request that is made or served
  SiteId site = kUnknownSite;           ///< of the same
  const Site* where = nullptr;          ///< the site in words; nullptr: not known
  std::uint64_t point = 0;              ///< see fault_point.h; 0: no source wants it
  std::string_view call = {};           ///< of the level call: the function of CUDA
  /// Of a schedule, both count the calls that fulfil all conditions of the chain, this one
  /// included: the how manieth it is, from 1, and how many bytes they asked for.
  std::uint64_t ordinal = 0;
  std::uint64_t total_bytes = 0;
};

class FaultPolicy {
 public:
  enum class Kind : std::uint8_t {
    condition,  ///< narrows down which calls are meant; knows no ordinal
    schedule,   ///< picks among the calls that are meant, by their ordinal
    capacity    ///< not a fault but a smaller device: a lower capacity, or a neighbour
  };
  static constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

  FaultPolicy() = default;
  FaultPolicy(const FaultPolicy&) = delete;
  FaultPolicy& operator=(const FaultPolicy&) = delete;
  virtual ~FaultPolicy() = default;

  virtual bool holds(const FaultCandidate& candidate) const = 0;

  /// Of a schedule: whether it is about this call at all. Others are not counted.
  virtual bool concerns(const FaultCandidate&) const { return true; }

  /// How many faults a transient chain with this policy injects at most; nullopt: no opinion.
  virtual std::optional<std::uint64_t> fault_limit() const { return std::nullopt; }

  /// Whether it looks at FaultCandidate::point, which costs to find out.
  virtual bool wants_points() const { return false; }

  /// The function of CUDA that it is about; empty: none.
  virtual std::string_view named_call() const { return {}; }

  /// Of the kind capacity: what the device has; otherwise nullopt.
  virtual std::optional<std::size_t> capacity_bytes() const { return std::nullopt; }

  /// Of the kind capacity: what another process takes in this step, from 1; otherwise 0.
  virtual std::size_t neighbour_bytes(std::int64_t /*step*/) const { return 0; }
};

/// What the registry knows about a policy.
struct FaultPolicyRow {
  std::string_view name;
  std::string_view usage;  ///< "nth(N)"
  std::string_view help;   ///< one line
  FaultPolicy::Kind kind;
  /// Throws std::invalid_argument for arguments that make no sense.
  std::unique_ptr<FaultPolicy> (*make)(PolicyArguments& arguments);
  /// A chain means the runtime's requests for GPU memory, unless a policy of it says otherwise.
  enum class Names : std::uint8_t { neither, level, device, both } names = Names::neither;
  bool is_for_commands = false;  ///< of CUDA: scenarios have no such calls
};

std::span<const FaultPolicyRow> fault_policies();

}  // namespace ohm
