#include "harness/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <list>
#include <utility>

#include "harness/judge/scenario_validation.h"
#include "harness/process/interrupt.h"
#include "harness/run/shard_work.h"
#include "harness/run/variant_process.h"
#include "harness/run/worker_messages.h"
#include "harness/scenario/script_errors.h"
#include "harness/scenario/script_sources.h"
#include "harness/sweep/cost_share.h"
#include "harness/sweep/variant_workload.h"
#include "harness/sweep/workload_sweep.h"

namespace ohm::engine {

namespace {

/// A variant as a workload, and its sweep.
struct VariantSweep {
  VariantWorkload workload;
  WorkloadSweep sweep;

  VariantSweep(const SweepOptions& options, const ScenarioLoader& loader, WorkerPool& pool,
               std::int64_t order, const ScenarioDescription& scenario,
               const VariantDescription& variant, const ScriptSources& sources)
      : workload(options, loader, pool, order, scenario, variant, sources),
        sweep({static_cast<const SweepRules&>(options),
               ShardCut::neighbours,
               options.run.checkpoint,
               {},
               {}},
              workload) {}
};

/// One file: loaded, its variants swept.
class ScenarioSweep {
 public:
  ScenarioSweep(std::size_t index, std::string path, const SweepOptions& options,
                const ScenarioLoader& loader, WorkerPool& pool, Checkpoint* found)
      : order_(static_cast<std::int64_t>(index)),
        path_(std::move(path)),
        options_(options),
        loader_(loader),
        pool_(pool),
        found_(found) {}

  void start() {
    try {
      sources_ = read_script_sources(path_);
    } catch (const ScriptError& error) {
      return fail(error_result(error), ExitReason::script_error);
    }
    if (std::optional<std::string> known = known_description()) {
      is_planned_ = true;
      return take_description({WorkEnd::message, std::move(*known), {}, {}});
    }
    const auto load = [this] { return encoded(load_scenario(loader_, load_request())); };
    pool_.submit(order_, load, [this](const WorkResult& result) { take_description(result); });
  }

  bool is_finished() const {
    return error_ || (is_loaded_ &&
                      std::all_of(variants_.begin(), variants_.end(),
                                  [](const VariantSweep& one) { return one.sweep.is_finished(); }));
  }
  bool is_empty() const { return is_loaded_ && variants_.empty(); }

  /// Those whose requests are known before any of them has run.
  std::vector<WorkloadSweep*> known_variants() {
    std::vector<WorkloadSweep*> known;
    for (VariantSweep& variant : variants_) {
      if (variant.sweep.is_known()) known.push_back(&variant.sweep);
    }
    return known;
  }

  /// To be asked for once.
  SweptScenario result() {
    SweptScenario swept;
    swept.file = path_;
    swept.name = description_.name.empty() ? std::filesystem::path(path_).stem().string()
                                           : description_.name;
    swept.error = error_;
    for (VariantSweep& variant : variants_) swept.variants.push_back(variant.sweep.result());
    return swept;
  }

  ExitReason exit_reason(const SweptScenario& swept) const {
    ExitReason reason = error_ ? error_reason_ : ExitReason::passed;
    for (const VariantSweep& variant : variants_) {
      reason = worse_of(reason, variant.sweep.error_reason());
    }
    for (const SweptVariant& variant : swept.variants) {
      reason = worse_of(reason, exit_reason_of(variant));
    }
    return reason;
  }

 private:
  LoadRequest load_request() const { return engine::load_request(options_.run, path_, sources_); }

  std::string piece() const { return std::to_string(order_); }
  const Checkpoint* before() const { return found_ != nullptr ? found_ : options_.fault_free; }
  /// Without it nothing else of the scenario is taken as known: what is shared out by its cost has
  /// to be known before anything runs.
  std::optional<std::string> known_description() const {
    return before() == nullptr ? std::nullopt : before()->find(piece());
  }

  void fail(ErrorResult error, ExitReason reason) {
    error_ = std::move(error);
    error_reason_ = reason;
  }

  void take_description(const WorkResult& result) {
    if (result.end != WorkEnd::message) {
      const std::string why = why_without_message(result, options_.run.timeout_seconds);
      return fail({fmt::format("loading {} {}", path_, why), path_, 0, {}, {}},
                  reason_of(result.end));
    }
    LoadedScenario loaded = decoded_scenario(result.message);
    if (found_ != nullptr && !loaded.error) found_->add(piece(), result.message);
    add_modules(loaded, sources_);
    if (loaded.error) return fail(std::move(*loaded.error), ExitReason::script_error);
    try {
      description_ = validated(std::move(loaded.description));
    } catch (const ScriptError& error) {
      return fail(error_result(error), ExitReason::script_error);
    }
    const std::vector<std::string> selected =
        selected_variants(description_, options_.run.selection);
    for (const VariantDescription& variant : description_.variants) {
      if (std::find(selected.begin(), selected.end(), variant.name) == selected.end()) continue;
      WorkloadSweep& sweep =
          variants_.emplace_back(options_, loader_, pool_, order_, description_, variant, sources_)
              .sweep;
      if (is_planned_) sweep.known_in(*before());
      if (found_ != nullptr) sweep.only_without_faults(*found_);
      sweep.start();
    }
    is_loaded_ = true;
  }

  std::int64_t order_;
  std::string path_;
  const SweepOptions& options_;
  const ScenarioLoader& loader_;
  WorkerPool& pool_;
  Checkpoint* found_;  ///< by run_without_faults(); nullptr: faults are injected
  ScriptSources sources_;
  ScenarioDescription description_;
  std::list<VariantSweep> variants_;
  bool is_loaded_ = false;
  bool is_planned_ = false;
  std::optional<ErrorResult> error_;
  ExitReason error_reason_ = ExitReason::passed;
};

SweepResult result_for(const SweepOptions& options) {
  SweepResult result = result_without_scenarios(options, options.filter.level);
  result.shard = shard_result(options.shard, options.run);
  result.host = options.filter.host;
  result.depth = options.trials.depth;
  return result;
}

}  // namespace

int SweepOutcome::exit_code() const { return process_code(result.exit_reason, signal); }

CheckpointedWork checkpointed_work(const SweepOptions& options) {
  CheckpointedWork work = checkpointed_work(options.shard, options.run);
  for (const auto& [name, value] : settings_of(options, options.filter.level)) {
    work.settings[name] = value;
  }
  work.settings["host"] = options.filter.host ? "true" : "false";
  work.settings["depth"] = std::to_string(options.trials.depth);
  return work;
}

namespace {

std::vector<WorkloadSweep*> known_variants(std::list<ScenarioSweep>& scenarios) {
  std::vector<WorkloadSweep*> known;
  for (ScenarioSweep& scenario : scenarios) {
    for (WorkloadSweep* const variant : scenario.known_variants()) known.push_back(variant);
  }
  return known;
}

/// Of what is known before, by its cost; what comes to be known later is shared out by its numbers.
/// Returns a name of the costs.
std::string share_out(std::list<ScenarioSweep>& scenarios, const Shard& shard) {
  const std::vector<WorkloadSweep*> known = known_variants(scenarios);
  std::vector<GroupCost> costs;
  std::vector<double> seconds;
  for (const WorkloadSweep* const variant : known) {
    costs.push_back(variant->cost());
    seconds.push_back(variant->cost().seconds);
  }
  const CostShare share(seconds, shard);
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (share.has_part_of(i)) {
      known[i]->begin(share.part_of(i, known[i]->costs()));
    } else {
      known[i]->leave_to_others();
    }
  }
  return name_of_costs(costs);
}

/// As which a plan says that it is whole.
constexpr const char* kAllOfThePlan = "all";

}  // namespace

CheckpointedWork planned_work(const SweepOptions& options) {
  SweepOptions whole = options;
  whole.shard = Shard();
  return checkpointed_work(whole);
}

bool is_whole_plan(const Checkpoint& plan) { return plan.find(kAllOfThePlan).has_value(); }

int run_without_faults(const SweepOptions& options, const ScenarioLoader& loader,
                       Checkpoint& known) {
  if (is_whole_plan(known)) return 0;
  WorkerPool pool({std::max(1, options.run.jobs), options.run.timeout_seconds});
  std::list<ScenarioSweep> scenarios;
  for (std::size_t i = 0; i < options.run.files.size(); ++i) {
    scenarios.emplace_back(i, options.run.files[i], options, loader, pool, &known).start();
  }
  pool.run([] { return true; });
  if (InterruptGuard::signal() == 0) known.add(kAllOfThePlan, {});
  known.sync();
  return InterruptGuard::signal();
}

std::vector<std::vector<double>> planned_costs(const SweepOptions& options,
                                               const ScenarioLoader& loader) {
  WorkerPool pool({});
  std::list<ScenarioSweep> scenarios;
  for (std::size_t i = 0; i < options.run.files.size(); ++i) {
    scenarios.emplace_back(i, options.run.files[i], options, loader, pool, nullptr).start();
  }
  std::vector<std::vector<double>> costs;
  for (WorkloadSweep* const variant : known_variants(scenarios)) costs.push_back(variant->costs());
  return costs;
}

SweepOutcome run_sweep(const SweepOptions& options, const ScenarioLoader& loader,
                       SweepObserver& observer) {
  WorkerPool pool({std::max(1, options.run.jobs), options.run.timeout_seconds});
  std::list<ScenarioSweep> scenarios;
  for (std::size_t i = 0; i < options.run.files.size(); ++i) {
    scenarios.emplace_back(i, options.run.files[i], options, loader, pool, nullptr).start();
  }
  const std::string plan = share_out(scenarios, options.shard);
  SweepOutcome outcome{result_for(options), 0};
  if (outcome.result.shard) outcome.result.shard->settings["plan"] = plan;
  SweepResult& result = outcome.result;
  auto next = scenarios.begin();
  pool.run([&] {
    observer.on_progress(pool.finished(), pool.submitted());
    for (; next != scenarios.end() && next->is_finished(); ++next) {
      if (next->is_empty()) continue;
      result.scenarios.push_back(next->result());
      result.exit_reason = worse_of(result.exit_reason, next->exit_reason(result.scenarios.back()));
      observer.on_scenario(result.scenarios.back());
    }
    return true;
  });
  outcome.signal = InterruptGuard::signal();
  if (outcome.signal != 0) {
    result.exit_reason = worse_of(result.exit_reason, ExitReason::interrupted);
  } else if (result.scenarios.empty()) {
    result.exit_reason = ExitReason::nothing_selected;
  }
  return outcome;
}

}  // namespace ohm::engine
