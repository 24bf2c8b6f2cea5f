// One scenario on its way from a file to verdicts.
//
// Loading, running and, where a reference ran out of memory, running that once more are pieces of
// work for the pool; what each brings decides about the next.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/gate/baseline.h"
#include "harness/judge/judge.h"
#include "harness/machine/machine.h"
#include "harness/process/worker_pool.h"
#include "harness/run/listed_scenario.h"
#include "harness/run/run_options.h"
#include "harness/run/variant_process.h"
#include "harness/run/variant_workers.h"
#include "reports/text/report_file.h"

namespace ohm::engine {

class ScenarioRun {
 public:
  /// `index` orders the work of several scenarios. Options, loader and pool outlive the run.
  ScenarioRun(std::size_t index, std::string path, const RunOptions& options,
              const ScenarioLoader& loader, WorkerPool& pool);
  ScenarioRun(const ScenarioRun&) = delete;
  ScenarioRun& operator=(const ScenarioRun&) = delete;

  /// Reads the file and submits the loading. A file that cannot be read finishes at once.
  void start();
  /// The same, and finished once the description is there.
  void start_listing();

  std::size_t index() const { return index_; }
  bool is_finished() const { return is_finished_; }
  /// Nothing to show: it could be loaded, and none of its variants is selected.
  bool is_empty() const { return is_finished_ && !error_ && selected_.empty() && !interrupted_; }

  ScenarioResult result() const;
  /// Why snapshots that were asked for are not there, one for each.
  std::vector<std::string> snapshot_errors() const;
  ListedScenario listing() const;
  /// The worst of the scenario and its variants.
  ExitReason exit_reason(const ScenarioResult& result) const;

 private:
  void submit_loading(bool lists_only);
  void take_description(const WorkResult& result, bool lists_only);
  bool check_snapshots();
  void check_snapshot(const std::string& path);
  VariantFiles files_of(const VariantDescription& variant, bool as_reference) const;
  void run_what_is_selected();
  void make_workers();
  void submit_variant(const VariantDescription& variant, bool as_reference);
  void take_variant(const std::string& name, bool as_reference, const WorkResult& result);
  void advance();
  void fail(ErrorResult error, ExitReason reason);

  LoadRequest load_request() const;
  VariantTask task_of(const VariantDescription& variant, bool as_reference) const;
  MeasuredVariant measured_from(const std::string& name, const WorkResult& result) const;
  std::string rerun_command(const std::string& variant) const;
  void add_source(ScenarioResult& result) const;
  void find_baseline();
  void apply_baseline(ScenarioResult& result) const;

  std::size_t index_;
  std::string path_;
  const RunOptions& options_;
  const ScenarioLoader& loader_;
  WorkerPool& pool_;

  ScriptSources sources_;
  Recording recording_;
  std::optional<Baseline> baseline_;  ///< that variants are compared with
  MeasuredScenario measured_;
  std::vector<std::string> selected_;
  std::vector<reports::ReportFile> open_pipes_;  ///< that snapshots go to
  std::optional<VariantWorkers> workers_;        ///< while variants run
  std::size_t pending_ = 0;
  bool is_finished_ = false;
  bool interrupted_ = false;
  std::optional<ErrorResult> error_;
  ExitReason error_reason_ = ExitReason::passed;
};

}  // namespace ohm::engine
