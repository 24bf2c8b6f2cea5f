// A recorder of every call that a sweep could make fail; it fails one when told to.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "allocator_shim/fault/fault_source.h"
#include "harness/machine/machine.h"
#include "harness/scenario/scenario_program.h"
#include "harness/sweep/counted_run.h"
#include "harness/sweep/live_memory_by_site.h"
#include "harness/sweep/program_settings.h"
#include "reports/model/sweep_result.h"

namespace ohm::engine {

/// Which calls are swept.
struct CallFilter {
  FaultLevel level = FaultLevel::request;
  bool host = false;  ///< requests for host memory too

  bool means(const FaultCandidate& call) const;
};

class CallRecorder final : public FaultSource {
 public:
  /// Asked at each call, by its index, until one is to fail: which form; nullopt: it succeeds.
  using Decide = std::function<std::optional<FaultForm>(std::size_t index)>;
  /// Called when one point fails again and again: the program goes round in circles.
  using OnHang = std::function<void()>;

  CallRecorder(Machine& machine, ScenarioProgram& program, const CallFilter& filter, Decide decide)
      : machine_(machine), program_(program), filter_(filter), decide_(std::move(decide)) {}

  void on_hang(OnHang callback) { on_hang_ = std::move(callback); }
  /// A second failure in a chain: asked at each call after the first.
  void then(Decide decide) { then_ = std::move(decide); }

  bool should_fail(const FaultCandidate& candidate) override;
  std::uint64_t faults() const override { return faults_; }
  const std::string& text() const override { return text_; }
  bool wants_points() const override { return true; }

  /// From now on nothing fails and nothing is recorded.
  void disarm() { is_armed_ = false; }

  const RecordedCalls& calls() const { return calls_; }
  /// Of each point, the first call.
  const std::vector<SweepPoint>& points() const { return points_; }
  const std::vector<std::uint64_t>& point_hashes() const { return hashes_; }

  bool has_fired() const { return faults_ != 0; }
  /// The index of the call that failed first.
  std::size_t target() const { return target_; }
  /// Calls after the first failure, from this index of calls() on.
  std::size_t calls_before_recovery() const { return target_ + 1; }
  /// The indices of all calls that failed, in their order.
  const std::vector<std::size_t>& failed() const { return failed_; }
  /// Whether nothing failed but one call that a plan of the variant's own makes fail, too: the run
  /// is the fault-free one.
  bool has_changed_nothing() const { return is_planned_ && failed_.size() == 1; }
  /// Whether a second failure followed the first one.
  bool has_chained() const { return form_ == FaultForm::transient && failed_.size() > 1; }
  /// As the program had made them when the first call failed.
  const ProgramSettings& settings_at_failure() const { return settings_at_failure_; }
  /// Whether an out-of-memory error left an allocator since the first failure: otherwise the
  /// caching allocator survived it by itself.
  bool reached_program() const;
  // Of the last failure in a chain.

  /// What was alive when the failed request was made again, beyond what was when it failed.
  const std::string& held_by_failed_try() const { return held_; }
  /// Whether the very next call after the failure was that request.
  bool is_retry_immediate() const { return is_retry_immediate_; }
  /// Of the first failure.
  FaultForm form() const { return form_; }

  /// A point that failed so often makes no progress.
  static constexpr int kFailuresOfAHang = 1000;

 private:
  void note(const FaultCandidate& candidate);
  bool fire(const FaultCandidate& candidate, FaultForm form);
  bool fail_again(const FaultCandidate& candidate);
  void await_retry();
  bool is_aligned() const;
  void check_retry();

  Machine& machine_;
  ScenarioProgram& program_;
  CallFilter filter_;
  Decide decide_;
  Decide then_;
  OnHang on_hang_;
  bool is_armed_ = true;
  RecordedCalls calls_;
  std::vector<SweepPoint> points_;
  std::vector<std::uint64_t> hashes_;
  std::map<std::uint64_t, std::size_t> point_index_;
  std::uint64_t faults_ = 0;
  std::string text_ = "sweep";
  FaultForm form_ = FaultForm::transient;
  std::size_t target_ = 0;
  std::uint64_t planned_faults_ = 0;  ///< of the machine, at the newest call
  bool is_planned_ = false;           ///< the first failure
  bool is_target_on_host_ = false;
  std::vector<std::size_t> failed_;
  ProgramSettings settings_at_failure_;
  std::int64_t ooms_before_ = 0;
  std::map<std::uint64_t, int> failures_;
  LiveMemoryBySite at_failure_;
  bool is_retry_checked_ = false;
  bool is_retry_immediate_ = false;
  std::string held_;
};

}  // namespace ohm::engine
