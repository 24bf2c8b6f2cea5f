#include "harness/run/runner.h"

#include <algorithm>
#include <list>

#include "harness/process/worker_pool.h"
#include "harness/run/scenario_run.h"
#include "harness/run/shard_work.h"

namespace ohm::engine {

namespace {

WorkerOptions worker_options(const RunOptions& options) {
  constexpr double kLookSeconds = 0.1;
  return {std::max(1, options.jobs), options.timeout_seconds,
          options.live_board != nullptr ? kLookSeconds : 0};
}

/// Several scenarios at once; their results leave in the order of the files.
class Runner {
 public:
  Runner(const RunOptions& options, const ScenarioLoader& loader, RunObserver& observer)
      : options_(options), observer_(observer), pool_(worker_options(options)) {
    result_.shard = shard_result(options.shard, options);
    for (std::size_t i = 0; i < options.files.size(); ++i) {
      if (!options.shard.has(i)) continue;
      scenarios_.emplace_back(i, options.files[i], options, loader, pool_);
    }
    next_ = scenarios_.begin();
  }

  RunOutcome run() {
    for (ScenarioRun& scenario : scenarios_) scenario.start();
    pool_.run([this] {
      observer_.on_progress(pool_.finished(), pool_.submitted());
      return emit_finished();
    });
    RunOutcome outcome{std::move(result_), InterruptGuard::signal(), std::move(errors_)};
    if (outcome.signal != 0) {
      outcome.result.exit_reason = worse_of(outcome.result.exit_reason, ExitReason::interrupted);
    } else if (outcome.result.scenarios.empty() && options_.shard.is_whole()) {
      outcome.result.exit_reason = ExitReason::nothing_selected;
    }
    return outcome;
  }

 private:
  /// False when the run is to end early.
  bool emit_finished() {
    for (; next_ != scenarios_.end() && next_->is_finished(); ++next_) {
      if (next_->is_empty()) continue;
      result_.scenarios.push_back(next_->result());
      if (result_.shard) {
        result_.shard->files.push_back(static_cast<std::int64_t>(next_->index()) + 1);
      }
      const ScenarioResult& scenario = result_.scenarios.back();
      for (std::string& error : next_->snapshot_errors()) errors_.push_back(std::move(error));
      result_.exit_reason = worse_of(result_.exit_reason, next_->exit_reason(scenario));
      observer_.on_scenario(scenario);
      if (options_.fail_fast && scenario.verdict != Verdict::passed) return false;
    }
    return true;
  }

  const RunOptions& options_;
  RunObserver& observer_;
  WorkerPool pool_;
  std::list<ScenarioRun> scenarios_;
  std::list<ScenarioRun>::iterator next_;
  RunResult result_;
  std::vector<std::string> errors_;
};

}  // namespace

int RunOutcome::exit_code() const { return process_code(result.exit_reason, signal); }

RunOutcome run_scenarios(const RunOptions& options, const ScenarioLoader& loader,
                         RunObserver& observer) {
  return Runner(options, loader, observer).run();
}

std::vector<ListedScenario> list_scenarios(const RunOptions& options,
                                           const ScenarioLoader& loader) {
  WorkerPool pool(worker_options(options));
  std::list<ScenarioRun> scenarios;
  for (std::size_t i = 0; i < options.files.size(); ++i) {
    scenarios.emplace_back(i, options.files[i], options, loader, pool).start_listing();
  }
  pool.run([] { return true; });
  std::vector<ListedScenario> listed;
  for (const ScenarioRun& scenario : scenarios) listed.push_back(scenario.listing());
  return listed;
}

}  // namespace ohm::engine
