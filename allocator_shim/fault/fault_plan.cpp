#include "allocator_shim/fault/fault_plan.h"

#include <algorithm>

namespace ohm {

using PolicyKind = FaultPolicy::Kind;

bool FaultPlan::Chain::is_of_level(FaultLevel level) const {
  if (names_level) return true;  // a condition of the chain sees to it
  if (planned == PlannedCalls::device) {
    return level == FaultLevel::segment || level == FaultLevel::map;
  }
  return is_request(level) && level != FaultLevel::pinned;
}

bool FaultPlan::Chain::is_meant(const FaultCandidate& candidate) const {
  if (!is_of_level(candidate.level)) return false;
  if (!names_device && candidate.device < 0 && candidate.level != FaultLevel::pinned) return false;
  return std::all_of(terms.begin(), terms.end(), [&](const Term& term) {
    return term.kind == PolicyKind::condition ? term.policy->holds(candidate)
                                              : term.policy->concerns(candidate);
  });
}

bool FaultPlan::Chain::should_fail(FaultCandidate candidate) {
  if (!is_meant(candidate)) return false;
  candidate.ordinal = ++calls;
  candidate.total_bytes = total_bytes += candidate.bytes;
  bool is_due = true;
  for (Term& term : terms) {
    if (term.kind != PolicyKind::schedule) continue;
    const bool holds = term.policy->holds(candidate);
    term.has_held = term.has_held || holds;
    is_due = is_due && (holds || (term.is_persistent && term.has_held));
  }
  if (is_due) ++faults;
  return is_due;
}

bool FaultPlan::should_fail(const FaultCandidate& candidate) {
  ++calls_;
  if (current_chain_ == chains_.size()) return false;
  Chain& chain = chains_[current_chain_];
  if (!chain.should_fail(candidate)) return false;
  last_error_ = chain.error;
  if (chain.faults == chain.fault_limit) ++current_chain_;
  ++faults_;
  last_fault_ = candidate;
  last_fault_->ordinal = chain.calls;
  return true;
}

bool FaultPlan::Chain::is_about(int device) const {
  FaultCandidate candidate;
  candidate.level = planned == PlannedCalls::device ? FaultLevel::segment : FaultLevel::request;
  candidate.device = device;
  return is_meant(candidate);
}

std::optional<std::size_t> FaultPlan::capacity_bytes_of(int device) const {
  std::optional<std::size_t> smallest;
  for (const Chain& chain : capacities_) {
    if (!chain.is_about(device)) continue;
    for (const Term& term : chain.terms) {
      const std::optional<std::size_t> bytes = term.policy->capacity_bytes();
      if (bytes) smallest = std::min(*bytes, smallest.value_or(*bytes));
    }
  }
  return smallest;
}

std::size_t FaultPlan::neighbour_bytes_of(int device, std::int64_t step) const {
  std::size_t sum = 0;
  for (const Chain& chain : capacities_) {
    if (!chain.is_about(device)) continue;
    for (const Term& term : chain.terms) sum += term.policy->neighbour_bytes(step);
  }
  return sum;
}

std::vector<FaultPlan::NamedCall> FaultPlan::named_calls() const {
  std::vector<NamedCall> calls;
  for (const Chain& chain : chains_) {
    for (const Term& term : chain.terms) {
      const std::string_view name = term.policy->named_call();
      if (!name.empty()) calls.push_back({name, chain.error});
    }
  }
  return calls;
}

bool FaultPlan::wants_points() const {
  return std::any_of(chains_.begin(), chains_.end(), [](const Chain& chain) {
    return std::any_of(chain.terms.begin(), chain.terms.end(),
                       [](const Term& term) { return term.policy->wants_points(); });
  });
}

}  // namespace ohm
