// The sweep of one variant: two fault-free runs, the calls that fail, and the verdicts on them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/checkpoint/checkpoint.h"
#include "harness/process/worker_pool.h"
#include "harness/sweep/cost_share.h"
#include "harness/sweep/sweep_options.h"

namespace ohm::engine {

class VariantSweep {
 public:
  /// All of these outlive the sweep. `order` is that of its work among others'.
  VariantSweep(const SweepOptions& options, const ScenarioLoader& loader, WorkerPool& pool,
               std::int64_t order, const ScenarioDescription& scenario,
               const VariantDescription& variant, const ScriptSources& sources);
  VariantSweep(const VariantSweep&) = delete;
  VariantSweep& operator=(const VariantSweep&) = delete;

  /// Without faults first; where that is known begin() goes on, if anything is left to do.
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
  /// To be asked for once: what it was made of is let go, for forks are slower with it.
  SweptVariant result();
  /// What it means for the process that the variant could not be swept; `passed` where it was.
  ExitReason error_reason() const { return error_reason_; }

 private:
  void submit_fault_free();
  void take_fault_free(const WorkResult& result);
  bool take_error(const WorkResult& result, const std::string& what);
  void read_plan();
  void choose_tasks();
  void take_share(const std::vector<bool>& share);
  void submit_tasks();
  void make_slices();
  void take_known();
  void keep(std::size_t task, const TaskVerdict& verdict) const;
  std::string fault_free_piece() const;
  std::string cost_piece() const;
  std::string piece_of(const FaultTask& task) const;
  void take_tasks(std::size_t slice, const WorkResult& result);
  void fail(std::string message, std::string hint, ExitReason reason);

  SweptVariant described() const;
  void let_go();
  void add_verdict(SweptVariant& swept, const FaultTask& task, const TaskVerdict& found) const;
  void add_failed(SweptVariant& swept, const FaultTask& task, const std::string& plan,
                  const TrialVerdict& found) const;
  std::string plan_of(const FaultTask& task) const;
  std::size_t point_index(const FaultTask& task) const;
  const SweepPoint& point_of(const FaultTask& task) const {
    return fault_free_.front().points[point_index(task)];
  }

  const SweepOptions& options_;
  const ScenarioLoader& loader_;
  WorkerPool& pool_;
  std::int64_t order_;
  const ScenarioDescription& scenario_;
  const VariantDescription& variant_;
  TrialSetup setup_;
  TrialsOptions trials_;
  std::vector<FaultFreeRun> fault_free_;
  std::vector<std::uint64_t> occurrences_;  ///< of each call's point, up to it
  std::vector<FaultTask> chosen_;           ///< of all shards
  std::vector<FaultTask> tasks_;
  std::size_t not_tried_ = 0;  ///< by any shard
  std::size_t beyond_budget_ = 0;
  std::vector<std::optional<TaskVerdict>> verdicts_;  ///< nullopt: not tested yet
  std::vector<std::vector<std::size_t>> slices_;      ///< indices of tasks, each for one worker
  std::size_t pending_ = 0;
  bool is_finished_ = false;
  std::optional<GroupCost> cost_;       ///< nullopt: its requests are not known before it runs
  const Checkpoint* before_ = nullptr;  ///< nullptr: the fault-free run is not known
  Checkpoint* found_ = nullptr;         ///< nullptr: the faults are injected
  std::optional<ErrorResult> error_;
  ExitReason error_reason_ = ExitReason::passed;
};

}  // namespace ohm::engine
