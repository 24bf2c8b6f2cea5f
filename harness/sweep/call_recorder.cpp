#include "harness/sweep/call_recorder.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "allocator_shim/fault/fault_point.h"
#include "harness/sweep/trial_process.h"

namespace ohm::engine {

bool CallFilter::means(const FaultCandidate& call) const {
  if (call.device < 0 && !host && call.level != FaultLevel::pinned) return false;
  if (level == FaultLevel::request) {
    return is_request(call.level) && call.level != FaultLevel::pinned;
  }
  return call.level == level;
}

void CallRecorder::note(const FaultCandidate& candidate) {
  PointHash kind;
  kind.add((static_cast<std::uint64_t>(candidate.level) << 32U) |
           (static_cast<std::uint64_t>(candidate.device + 1) << 8U) |
           static_cast<std::uint64_t>(candidate.category));
  if (candidate.where != nullptr) kind.add(candidate.where->op);
  calls_.points.push_back(candidate.point);
  calls_.kinds.push_back(kind.value());
  calls_.bytes.push_back(candidate.bytes);
  calls_.can_be_copied.push_back(TrialProcess::can_fork() ? 1 : 0);
  const auto [known, is_new] = point_index_.try_emplace(candidate.point, points_.size());
  if (is_new) {
    SweepPoint point;
    point.point = fault_point_text(candidate.point, 0);
    point.level = name_of(candidate.level);
    point.device = Device::cuda(candidate.device).str();
    point.category = candidate.category;
    if (candidate.where != nullptr) {
      point.op = candidate.where->op;
      point.file = candidate.where->file;
      point.line = candidate.where->line;
    }
    for (const Machine::ProgramFrame& frame : machine_.program_stack()) {
      point.stack.push_back(fmt::format("{}:{}", frame.file, frame.line));
    }
    points_.push_back(std::move(point));
    hashes_.push_back(candidate.point);
  }
  ++points_[known->second].passes;
}

bool CallRecorder::should_fail(const FaultCandidate& candidate) {
  // The plans of the variant's own were asked before.
  const std::uint64_t planned_before = std::exchange(planned_faults_, machine_.planned_faults());
  if (!is_armed_ || !filter_.means(candidate)) return false;
  const std::size_t index = calls_.size();
  note(candidate);
  if (has_fired()) return fail_again(candidate);
  if (const std::optional<FaultForm> form = decide_(index)) {
    is_planned_ = planned_faults_ > planned_before;
    return fire(candidate, *form);
  }
  return false;
}

bool CallRecorder::fire(const FaultCandidate& candidate, FaultForm form) {
  // First: where the host has no memory for it, nothing has failed yet.
  settings_at_failure_ = program_settings(machine_, program_);
  form_ = form;
  target_ = calls_.size() - 1;
  is_target_on_host_ = candidate.device < 0;
  faults_ = 1;
  ooms_before_ = machine_.ooms();
  await_retry();
  return true;
}

/// The newest call fails: it is the one that a retry makes again.
void CallRecorder::await_retry() {
  failed_.push_back(calls_.size() - 1);
  is_retry_checked_ = is_retry_immediate_ = false;
  at_failure_ = live_memory_by_site(machine_, filter_.host, Category::activation);
}

bool CallRecorder::reached_program() const { return machine_.ooms() != ooms_before_; }

bool CallRecorder::fail_again(const FaultCandidate& candidate) {
  // A GPU that stays full does not fill the host, nor the other way round.
  bool fails = form_ == FaultForm::persistent && is_target_on_host_ == (candidate.device < 0);
  const bool is_second = !fails && then_ && faults_ == 1 && then_(calls_.size() - 1).has_value();
  if (!fails && !is_second) {
    check_retry();
    return false;
  }
  ++faults_;
  if (is_second) {
    await_retry();
  } else {
    failed_.push_back(calls_.size() - 1);
  }
  if (++failures_[candidate.point] == kFailuresOfAHang && on_hang_) on_hang_();
  return true;
}

/// Whether what led to this call since the failure is what had led to the failed one.
bool CallRecorder::is_aligned() const {
  constexpr std::size_t kEnough = 64;
  const std::size_t now = calls_.size() - 1;
  const std::size_t failed = failed_.back();
  const std::size_t length = std::min({now - failed - 1, failed, kEnough});
  for (std::size_t i = 1; i <= length; ++i) {
    if (calls_.kinds[now - i] != calls_.kinds[failed - i]) return false;
    if (calls_.bytes[now - i] != calls_.bytes[failed - i]) return false;
  }
  return true;
}

/// The same kind of request once more: the activations of the failed try must be gone by now. What
/// a program keeps from try to try (gradients, optimizer state) is its own affair.
void CallRecorder::check_retry() {
  const std::size_t failed = failed_.back();
  if (calls_.kinds.back() != calls_.kinds[failed] || calls_.bytes.back() != calls_.bytes[failed])
    return;
  if (is_retry_checked_ || !is_aligned()) return;
  is_retry_checked_ = true;
  is_retry_immediate_ = calls_.size() == failed + 2;
  const LiveMemoryBySite now = live_memory_by_site(machine_, filter_.host, Category::activation);
  held_ = excess_text(in_words(now, machine_), in_words(at_failure_, machine_), SiteScope::known);
}

}  // namespace ohm::engine
