// Sources of faults: a plan, several of them, or a sweep decides which calls fail.
#pragma once

#include <cstdint>
#include <string>

#include "allocator_shim/fault/fault_policy.h"

namespace ohm {

class FaultSource {
 public:
  FaultSource() = default;
  FaultSource(FaultSource&&) = default;
  FaultSource& operator=(FaultSource&&) = default;
  FaultSource(const FaultSource&) = delete;
  FaultSource& operator=(const FaultSource&) = delete;
  virtual ~FaultSource() = default;

  /// Counts the call and says whether it is to fail.
  virtual bool should_fail(const FaultCandidate& candidate) = 0;
  /// Calls that were made to fail.
  virtual std::uint64_t faults() const = 0;
  /// Why the last one was: a plan, as it was written.
  virtual const std::string& text() const = 0;
  /// Whether there is nothing that could make a call fail: then none needs to be asked about.
  virtual bool is_idle() const { return false; }
  /// Whether it looks at FaultCandidate::point.
  virtual bool wants_points() const { return false; }

  /// The request that is being served, for calls of the device that it leads to; nullptr: none.
  const FaultCandidate* served = nullptr;
};

}  // namespace ohm
