// A variant of a scenario as a workload. Its runs are made by worker processes of a pool: what
// comes of them is told while the pool runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/process/worker_pool.h"
#include "harness/sweep/sweep_options.h"
#include "harness/sweep/workload.h"

namespace ohm::engine {

class VariantWorkload final : public Workload {
 public:
  /// All of these outlive it. `order` is that of its work among others'.
  VariantWorkload(const SweepOptions& options, const ScenarioLoader& loader, WorkerPool& pool,
                  std::int64_t order, const ScenarioDescription& scenario,
                  const VariantDescription& variant, const ScriptSources& sources);

  void count(OnCount on_end) override;
  std::string difference(const CountedRun& a, const CountedRun& b) const override;
  void fail(const CountedRun& counted, FaultBatch batch) override;
  std::string plan_of(const CountedRun& counted, const FaultTask& task,
                      std::uint64_t occurrence) const override;
  std::string rerun_command(const std::string& plan) const override;
  const std::vector<Waiver>& waivers() const override { return variant_.waivers; }
  void describe(SweptVariant& swept) const override;
  std::string piece() const override;
  std::string encoded_run(const CountedRun& run) const override;
  std::shared_ptr<CountedRun> decoded_run(std::string_view bytes) const override;

 private:
  WorkloadError error(std::string message, std::string hint, ExitReason reason) const;
  WorkloadError error_of(const WorkResult& result, const std::string& what) const;
  CountEnd counted_by(const WorkResult& result) const;
  void make_slices(const CountedRun& counted);
  void submit(std::size_t slice, const FaultFreeRun& fault_free);
  std::vector<TaskVerdict> run_slice(std::size_t slice, const FaultFreeRun& fault_free) const;
  void take_slice(std::size_t slice, const WorkResult& result);

  const SweepOptions& options_;
  const ScenarioLoader& loader_;
  WorkerPool& pool_;
  std::int64_t order_;
  const ScenarioDescription& scenario_;
  const VariantDescription& variant_;
  TrialSetup setup_;
  TrialsOptions trials_;
  FaultBatch batch_;                              ///< that is at work
  std::vector<std::vector<std::size_t>> slices_;  ///< indices of its tasks, each for one worker
  std::size_t pending_ = 0;                       ///< slices
};

}  // namespace ohm::engine
