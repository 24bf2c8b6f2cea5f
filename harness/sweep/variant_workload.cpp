#include "harness/sweep/variant_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "allocator_shim/fault/fault_point.h"
#include "harness/run/rerun_command.h"
#include "harness/run/variant_machine.h"
#include "harness/scenario/script_errors.h"
#include "harness/sweep/cost_share.h"
#include "harness/sweep/fault_costs.h"
#include "harness/sweep/sweep_messages.h"

namespace ohm::engine {

VariantWorkload::VariantWorkload(const SweepOptions& options, const ScenarioLoader& loader,
                                 WorkerPool& pool, std::int64_t order,
                                 const ScenarioDescription& scenario,
                                 const VariantDescription& variant, const ScriptSources& sources)
    : options_(options),
      loader_(loader),
      pool_(pool),
      order_(order),
      scenario_(scenario),
      variant_(variant),
      setup_{load_request(options.run, scenario.file, sources), variant.name,
             machine_for(scenario, variant, options.run), options.filter},
      trials_(options.trials) {}

std::string VariantWorkload::piece() const { return fmt::format("{}/{}", order_, variant_.name); }

void VariantWorkload::describe(SweptVariant& swept) const {
  swept.name = variant_.name;
  swept.role = variant_.role;
  swept.of = variant_.of;
  swept.line = variant_.line;
  swept.values = setup_.machine.gpu.values;
}

WorkloadError VariantWorkload::error(std::string message, std::string hint,
                                     ExitReason reason) const {
  return {ErrorResult{std::move(message), scenario_.file, variant_.line, {}, std::move(hint)},
          reason};
}

/// Pre-condition: it timed out or crashed.
WorkloadError VariantWorkload::error_of(const WorkResult& result, const std::string& what) const {
  if (result.end == WorkEnd::timeout) {
    const std::string why = why_without_message(result, options_.run.timeout_seconds);
    return error(fmt::format("{} {}", what, why), {}, reason_of(result.end));
  }
  return error(fmt::format("the process of {} was {}", what, result.how_it_ended), result.output,
               reason_of(result.end));
}

// ---- without faults -----------------------------------------------------------------------------

void VariantWorkload::count(OnCount on_end) {
  pool_.submit(
      order_, [this] { return encoded(fault_free_run(loader_, setup_)); },
      [this, on_end = std::move(on_end)](const WorkResult& result) { on_end(counted_by(result)); });
}

CountEnd VariantWorkload::counted_by(const WorkResult& result) const {
  if (result.end == WorkEnd::interrupted) {
    return {nullptr, error("the sweep was interrupted before its requests were counted", {},
                           reason_of(result.end))};
  }
  if (result.end != WorkEnd::message) {
    return {nullptr, error_of(result, variant_.name + " without faults")};
  }
  auto run = std::make_shared<FaultFreeRun>(decoded_fault_free_run(result.message));
  const Outcome outcome = run->ending.outcome;
  const bool has_failed = outcome == Outcome::error || outcome == Outcome::timeout;
  if (has_failed && !variant_.raises) {
    return {nullptr, error(run->ending.message, "ohm run shows where it comes from",
                           ExitReason::script_error)};
  }
  return {std::move(run), std::nullopt};
}

std::string VariantWorkload::difference(const CountedRun& a, const CountedRun& b) const {
  const std::size_t call = first_difference(a.calls, b.calls);
  if (call < a.calls.size() && call < b.calls.size()) {
    return fmt::format("request {} is one of {} bytes at {} and one of {} bytes at {}", call + 1,
                       a.calls.bytes[call], fault_point_text(a.calls.points[call], 0),
                       b.calls.bytes[call], fault_point_text(b.calls.points[call], 0));
  }
  if (a.calls.size() == b.calls.size()) return {};
  return fmt::format("one makes {} requests, the other {}", a.calls.size(), b.calls.size());
}

std::string VariantWorkload::encoded_run(const CountedRun& run) const {
  return encoded(static_cast<const FaultFreeRun&>(run));
}

std::shared_ptr<CountedRun> VariantWorkload::decoded_run(std::string_view bytes) const {
  return std::make_shared<FaultFreeRun>(decoded_fault_free_run(bytes));
}

// ---- with faults --------------------------------------------------------------------------------

void VariantWorkload::fail(const CountedRun& counted, FaultBatch batch) {
  constexpr double kTimesFaultFree = 10;
  const auto& fault_free = static_cast<const FaultFreeRun&>(counted);
  batch_ = std::move(batch);
  make_slices(counted);
  trials_.limits.cpu_seconds =
      std::max(options_.trials.limits.cpu_seconds, kTimesFaultFree * fault_free.seconds);
  pending_ = slices_.size();
  for (std::size_t slice = 0; slice < slices_.size(); ++slice) submit(slice, fault_free);
}

/// Each as long as the others, and of calls that follow each other: states that one of them leaves
/// are often the next one's, too.
void VariantWorkload::make_slices(const CountedRun& counted) {
  constexpr std::size_t kFewestInASlice = 16;
  const std::vector<FaultTask>& tasks = batch_.tasks;
  const auto jobs = static_cast<std::size_t>(options_.run.jobs);
  const std::size_t count = std::clamp<std::size_t>(tasks.size() / kFewestInASlice, 1, jobs);
  const std::vector<double> costs = fault_costs(tasks, counted);
  slices_.clear();
  for (std::size_t slice = 0; slice < count; ++slice) {
    const std::vector<bool> part = CostShare({cost_of(costs)}, {slice, count}).part_of(0, costs);
    std::vector<std::size_t> mine;
    for (const auto& [number, index] : numbered_by_call(tasks)) {
      if (part[number]) mine.push_back(index);
    }
    if (!mine.empty()) slices_.push_back(std::move(mine));
  }
}

/// Each fault has limits of its own; many of them may take long.
void VariantWorkload::submit(std::size_t slice, const FaultFreeRun& fault_free) {
  pool_.submit_untimed(
      order_, [this, slice, &fault_free] { return encoded(run_slice(slice, fault_free)); },
      [this, slice](const WorkResult& result) { take_slice(slice, result); });
}

/// In the worker.
std::vector<TaskVerdict> VariantWorkload::run_slice(std::size_t slice,
                                                    const FaultFreeRun& fault_free) const {
  std::vector<FaultTask> tasks;
  for (const std::size_t task : slices_[slice]) tasks.push_back(batch_.tasks[task]);
  const auto keep = [&](std::size_t task, const TaskVerdict& verdict) {
    if (batch_.keep) batch_.keep(slices_[slice][task], verdict);
  };
  return run_tasks(loader_, setup_, fault_free, tasks, trials_, keep);
}

void VariantWorkload::take_slice(std::size_t slice, const WorkResult& result) {
  if (result.end == WorkEnd::timeout || result.end == WorkEnd::crashed) {
    return batch_.on_error(error_of(result, "the sweep of " + variant_.name));
  }
  if (result.end == WorkEnd::message) {
    std::vector<TaskVerdict> verdicts = decoded_verdicts(result.message);
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
      batch_.on_verdict(slices_[slice][i], std::move(verdicts[i]));
    }
  }
  if (--pending_ > 0) return;
  const FaultBatch done = std::exchange(batch_, {});
  slices_ = {};
  done.on_end();
}

/// From a persistent failure on everything fails.
std::string VariantWorkload::plan_of(const CountedRun& counted, const FaultTask& task,
                                     std::uint64_t occurrence) const {
  std::string plan = fault_point_text(counted.calls.points[task.call], occurrence);
  if (task.form == FaultForm::transient) return plan;
  plan += " -> from(1)";
  if (counted.point_of(task.call).device == "cpu") plan += " & device(cpu)";
  if (options_.filter.level != FaultLevel::request) {
    plan += fmt::format(" & level({})", name_of(options_.filter.level));
  }
  return plan;
}

std::string VariantWorkload::rerun_command(const std::string& plan) const {
  return engine::rerun_command(options_.run, scenario_.file, scenario_, variant_.name, plan);
}

}  // namespace ohm::engine
