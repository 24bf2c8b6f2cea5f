// The sweep of one workload: two runs without faults, the requests that fail, and the verdicts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/checkpoint/checkpoint.h"
#include "harness/sweep/cost_share.h"
#include "harness/sweep/sweep_rules.h"
#include "harness/sweep/workload.h"

namespace ohm::engine {

/// How shards share the faults of a workload whose costs are not known before: neighbours stay
/// together where what one fault shows often serves the next; in turn each shard gets early and
/// late ones.
enum class ShardCut : std::uint8_t { neighbours, in_turn };

struct WorkloadSweepOptions {
  SweepRules rules;
  ShardCut cut = ShardCut::neighbours;
  Checkpoint* checkpoint = nullptr;  ///< nullptr: no verdict is kept
  /// Told of the faults that are tried together; empty: nobody is.
  std::function<void(std::size_t finished, std::size_t total)> on_progress;
  /// Told what is worth knowing, a sentence; empty: nobody is.
  std::function<void(const std::string& note)> on_note;
};

class WorkloadSweep {
 public:
  /// `workload` outlives the sweep.
  WorkloadSweep(WorkloadSweepOptions options, Workload& workload);
  WorkloadSweep(const WorkloadSweep&) = delete;
  WorkloadSweep& operator=(const WorkloadSweep&) = delete;

  /// Without faults first; where that is known begin() goes on, if anything is left to do. Throws
  /// what the workload throws.
  void start();
  bool is_known() const { return cost_.has_value(); }
  /// Before start(): where the fault-free run may be known already.
  void known_in(const Checkpoint& before) { before_ = &before; }
  /// Keeps the fault-free run there once it is known, and ends with it.
  void only_without_faults(Checkpoint& known) { found_ = &known; }
  /// Pre-condition: is_known(). Of all calls that are to fail, without reading what they are.
  const GroupCost& cost() const { return *cost_; }
  /// Pre-condition: is_known(). What each of them costs, in seconds, as far as the fault-free run
  /// tells.
  std::vector<double> costs();
  /// Pre-condition: is_known(). Of the calls that are to fail those of the share.
  void begin(const std::vector<bool>& share);
  /// Pre-condition: is_known(). None of them.
  void leave_to_others() { is_finished_ = true; }
  bool is_finished() const { return is_finished_; }
  /// This program was asked to end: what is known by now is the result.
  void interrupt();
  /// To be asked for once: what it was made of is let go, for forks are slower with it.
  SweptVariant result();
  /// What it means for the process that the workload could not be swept; `passed` where it was.
  ExitReason error_reason() const { return error_reason_; }

 private:
  void count();
  void take_count(CountEnd end);
  void read_plan();
  void keep_plan();
  void choose_tasks();
  void take_share(const std::vector<bool>& share);
  void take_own_share();
  std::vector<std::size_t> every_task() const;
  void try_tasks(const std::vector<std::size_t>& which, Company company,
                 const std::function<void()>& then);
  FaultBatch batch_of(const std::vector<std::size_t>& untried, std::size_t all, Company company);
  void confirm();
  void confirm_next();
  void look_for_other_requests();
  void take_other_requests(CountEnd now);
  bool take_known(std::size_t task, Company company);
  std::string cost_piece() const;
  std::string piece_of(std::size_t task, Company company) const;
  void fail(WorkloadError error);
  void note(const std::string& text) const;

  SweptVariant described() const;
  void let_go();
  void add_difference(SweptVariant& swept) const;
  void add_task(SweptVariant& swept, std::size_t task) const;
  void add_verdict(SweptVariant& swept, const FaultTask& task, const std::string& plan,
                   const TrialVerdict& found) const;
  void add_failed(SweptVariant& swept, const FaultTask& task, const std::string& plan,
                  const TrialVerdict& found) const;
  std::string waived_reason(const FaultTask& task, FaultVerdict verdict) const;

  WorkloadSweepOptions options_;
  Workload& workload_;
  std::shared_ptr<CountedRun> counted_;
  std::string difference_;                  ///< of two runs without faults
  std::vector<std::uint64_t> occurrences_;  ///< of each call's point, up to it
  std::uint64_t requests_ = 0;              ///< a hash of those that are made without faults
  std::vector<FaultTask> chosen_;           ///< of all shards
  std::vector<FaultTask> tasks_;
  std::size_t not_tried_ = 0;  ///< by any shard
  std::size_t beyond_budget_ = 0;
  std::vector<std::optional<TaskVerdict>> verdicts_;  ///< nullopt: not tested yet
  std::vector<std::size_t> unconfirmed_;              ///< tasks, the last one is the next
  std::size_t tried_ = 0;                             ///< of the faults that are tried together
  bool is_at_work_ = false;
  bool is_counted_again_ = false;  ///< for its requests have changed meanwhile
  bool is_finished_ = false;
  std::optional<GroupCost> cost_;       ///< nullopt: its requests are not known before it runs
  const Checkpoint* before_ = nullptr;  ///< nullptr: the fault-free run is not known
  Checkpoint* found_ = nullptr;         ///< nullptr: the faults are injected
  std::optional<ErrorResult> error_;
  ExitReason error_reason_ = ExitReason::passed;
};

}  // namespace ohm::engine
