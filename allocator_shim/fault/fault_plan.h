// Fault plans: the calls of a run that are to fail, written as text.
//
//     plan  = link { "->" link }              each once the one before it has injected its faults
//     link  = chain [ "->" "error" "(" kind ")" ]      how its calls fail (fault_error.h)
//     chain = term { "&" term }               a call fails when all of them hold
//     term  = policy | "persistent" "(" policy ")" | point     (`ohm:3f9c@1` alone is its policy)
//
// Conditions (size, device, level) narrow down which calls a chain means, whatever the order of its
// terms; schedules (nth, from, every) count only those: `nth(2) & size(>=64MiB)` is the second call
// for at least 64 MiB. A chain means the calls that the plan is of (the runtime's requests) unless
// it names a level, for memory of the GPUs unless it names a device, and whatever a point is. It is
// transient: it fires as often as its schedule says, once if it has none. `persistent(nth(7))`
// holds from the seventh call on, `persistent(size(>=64MiB))` fires every time.
//
// One plan belongs to one run: what it counts, it counts over all devices. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocator_shim/fault/fault_error.h"
#include "allocator_shim/fault/fault_policy.h"
#include "allocator_shim/fault/fault_source.h"

namespace ohm {

/// How often a chain makes calls fail.
enum class FaultCount : std::uint8_t { unsaid, finite, endless };

/// Of a plan what decides whether it can be joined with others.
struct FaultPlanShape {
  bool is_one_chain = true;
  bool has_capacity = false;
  FaultCount first = FaultCount::unsaid;  ///< of the first chain
  FaultCount last = FaultCount::unsaid;   ///< of the last one; the same where there is one
};

/// The shape of `left & right` and of `left -> right`; nullopt: their text has to be parsed, which
/// may refuse it.
std::optional<FaultPlanShape> joined_by_and(const FaultPlanShape& left,
                                            const FaultPlanShape& right);
std::optional<FaultPlanShape> joined_by_then(const FaultPlanShape& left,
                                             const FaultPlanShape& right);

/// What the chains of a plan mean that name no level.
enum class PlannedCalls : std::uint8_t {
  requests,  ///< of the runtime
  device,    ///< segments and chunks that an allocator asks the device for
};

class FaultPlan final : public FaultSource {
 public:
  /// A plan that injects nothing.
  FaultPlan() = default;

  /// Throws std::invalid_argument that quotes the part that is wrong.
  static FaultPlan parse(std::string_view text, PlannedCalls calls = PlannedCalls::requests);

  /// As it was written.
  const std::string& text() const override { return text_; }

  FaultPlanShape shape() const;

  /// Counts the call and says whether it is to fail.
  bool should_fail(const FaultCandidate& candidate) override;

  /// How the last call that was made to fail does.
  FaultError last_error() const { return last_error_; }
  /// The functions of CUDA that the plan names, and how their calls fail.
  struct NamedCall {
    std::string_view name;
    FaultError error;
  };
  std::vector<NamedCall> named_calls() const;

  /// What a `capacity(…)` leaves of this device; nullopt: all of it.
  std::optional<std::size_t> capacity_bytes_of(int device) const;

  /// What other processes take of this device in a step, counted from 1.
  std::size_t neighbour_bytes_of(int device, std::int64_t step) const;

  /// Calls that the runtime or the allocator made while the plan was in force.
  std::uint64_t calls() const { return calls_; }
  std::uint64_t faults() const override { return faults_; }
  /// There are calls that it was to make fail, and it met none of them.
  bool is_unused() const { return faults_ == 0 && !chains_.empty(); }
  bool wants_points() const override;
  /// The last call that was made to fail.
  const std::optional<FaultCandidate>& last_fault() const { return last_fault_; }

 private:
  friend class FaultPlanParser;

  struct Term {
    std::unique_ptr<const FaultPolicy> policy;
    FaultPolicy::Kind kind = FaultPolicy::Kind::condition;
    bool is_persistent = false;
    bool has_held = false;
  };
  struct Chain {
    std::vector<Term> terms;
    PlannedCalls planned = PlannedCalls::requests;
    bool names_level = false;
    bool names_device = false;
    FaultError error = FaultError::memory;
    FaultCount count = FaultCount::unsaid;
    std::uint64_t fault_limit = 1;
    std::uint64_t calls = 0;        ///< that fulfil all conditions
    std::uint64_t total_bytes = 0;  ///< of these calls
    std::uint64_t faults = 0;

    bool is_of_level(FaultLevel level) const;
    bool is_meant(const FaultCandidate& candidate) const;
    bool is_about(int device) const;
    bool should_fail(FaultCandidate candidate);
  };

  std::string text_;
  std::vector<Chain> chains_;
  std::vector<Chain> capacities_;
  std::size_t current_chain_ = 0;
  std::uint64_t calls_ = 0;
  std::uint64_t faults_ = 0;
  std::optional<FaultCandidate> last_fault_;
  FaultError last_error_ = FaultError::memory;
};

}  // namespace ohm
