#include "allocator_shim/fault/fault_injector.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace ohm {

namespace {

/// Ops that move tensors between devices or ranks, with the buffers that they make for it.
constexpr std::array<std::string_view, 7> kCollectives = {
    "reduce_add", "all_gather", "broadcast", "bucket", "gather", "reduce_scatter", "scatter"};

bool moves_tensors(std::string_view op) {
  return std::find(kCollectives.begin(), kCollectives.end(), op) != kCollectives.end();
}

}  // namespace

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

/// Every request is asked about, and there are few sites: each is looked at once.
bool FaultInjector::is_collective(SiteId site) {
  while (collective_sites_.size() <= site) {
    const auto next = static_cast<SiteId>(collective_sites_.size());
    collective_sites_.push_back(moves_tensors(sites_->at(next).op));
  }
  return collective_sites_[site];
}

FaultCandidate FaultInjector::known(FaultCandidate candidate) {
  if (served != nullptr && !is_request(candidate.level)) {
    candidate.category = served->category;
    candidate.site = served->site;
  }
  if (sites_ != nullptr) candidate.where = &sites_->at(candidate.site);
  if (candidate.level == FaultLevel::request && sites_ != nullptr &&
      is_collective(candidate.site)) {
    candidate.level = FaultLevel::collective;
  }
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
