#include "allocator_shim/fault/fault_injector.h"

#include <algorithm>

namespace ohm {

void FaultInjector::add(FaultSource& source) {
  sources_.push_back(&source);
  look_who_wants_points();
}

void FaultInjector::remove(FaultSource& source) {
  sources_.erase(std::remove(sources_.begin(), sources_.end(), &source), sources_.end());
  look_who_wants_points();
}

void FaultInjector::look_who_wants_points() {
  wants_points_ = std::any_of(sources_.begin(), sources_.end(),
                              [](const FaultSource* source) { return source->wants_points(); });
}

FaultCandidate FaultInjector::known(FaultCandidate candidate) {
  if (served != nullptr && !is_request(candidate.level)) {
    candidate.category = served->category;
    candidate.site = served->site;
  }
  if (sites_ != nullptr) candidate.where = &sites_->at(candidate.site);
  if (point_of_ && wants_points_) candidate.point = point_of_(candidate);
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
