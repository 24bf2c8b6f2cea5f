#include "allocator_shim/fault/fault_injector.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace ohm {

namespace {

/// Ops that move tensors between devices or ranks, with the buffers that they make for it.
constexpr std::array<std::string_view, 7> kCollectives = {
    "reduce_add", "all_gather", "broadcast", "bucket", "gather", "reduce_scatter", "scatter"};

bool is_collective(std::string_view op) {
  return std::find(kCollectives.begin(), kCollectives.end(), op) != kCollectives.end();
}

}  // namespace

void FaultInjector::add(FaultSource& source) { sources_.push_back(&source); }

void FaultInjector::remove(FaultSource& source) {
  sources_.erase(std::remove(sources_.begin(), sources_.end(), &source), sources_.end());
}

bool FaultInjector::wants_points() const {
  return std::any_of(sources_.begin(), sources_.end(),
                     [](const FaultSource* source) { return source->wants_points(); });
}

FaultCandidate FaultInjector::known(FaultCandidate candidate) const {
  if (served != nullptr && !is_request(candidate.level)) {
    candidate.category = served->category;
    candidate.site = served->site;
  }
  if (sites_ != nullptr) candidate.where = &sites_->at(candidate.site);
  if (candidate.level == FaultLevel::request && candidate.where != nullptr &&
      is_collective(candidate.where->op)) {
    candidate.level = FaultLevel::collective;
  }
  if (point_of_ && wants_points()) candidate.point = point_of_(candidate);
  return candidate;
}

bool FaultInjector::should_fail(const FaultCandidate& candidate) {
  if (is_idle()) return false;
  const FaultCandidate call = known(candidate);
  bool fails = false;
  for (FaultSource* const source : sources_) {
    if (!source->should_fail(call)) continue;
    fails = true;
    text_ = source->text();
  }
  if (fails) ++faults_;
  return fails;
}

}  // namespace ohm
