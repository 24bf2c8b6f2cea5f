// The sources of faults of one run, all those that are in force, and what is known about a call.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "allocator_shim/fault/fault_plan.h"
#include "allocator_shim/fault/fault_source.h"
#include "allocator_shim/observe/site.h"

namespace ohm {

/// Sources can come and go at any time; each counts the calls that are made while it is there. All
/// of them count a call, whichever of them makes it fail. Not thread-safe.
class FaultInjector final : public FaultSource {
 public:
  /// Says which unique point a call is (fault_point.h).
  using PointOf = std::function<std::uint64_t(const FaultCandidate& candidate)>;

  /// `sites` outlives this and may be nullptr: then nothing happens at a known place.
  explicit FaultInjector(const SiteTable* sites = nullptr) : sites_(sites) {}

  void set_points(PointOf point_of) { point_of_ = std::move(point_of); }

  /// Sources outlive their being here.
  void add(FaultSource& source);
  void remove(FaultSource& source);

  bool should_fail(const FaultCandidate& candidate) override;
  std::uint64_t faults() const override { return faults_; }
  const std::string& text() const override { return text_; }
  bool is_idle() const override { return sources_.empty(); }
  bool wants_points() const override { return wants_points_; }

 private:
  FaultCandidate known(FaultCandidate candidate);
  void look_who_wants_points();

  const SiteTable* sites_;
  PointOf point_of_;
  std::vector<FaultSource*> sources_;
  bool wants_points_ = false;  ///< whether one of them does
  std::uint64_t faults_ = 0;
  std::string text_;
};

}  // namespace ohm
