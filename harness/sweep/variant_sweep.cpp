#include "harness/sweep/variant_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "allocator_shim/fault/fault_point.h"
#include "harness/checkpoint/checkpoint.h"
#include "harness/run/rerun_command.h"
#include "harness/run/variant_machine.h"
#include "harness/scenario/script_errors.h"
#include "harness/sweep/fault_costs.h"
#include "harness/sweep/sweep_messages.h"

namespace ohm::engine {

namespace {

/// Where two fault-free runs differ; empty when they do not.
std::string difference(const FaultFreeRun& a, const FaultFreeRun& b) {
  const std::size_t calls = std::min(a.calls.size(), b.calls.size());
  for (std::size_t i = 0; i < calls; ++i) {
    if (a.calls.points[i] == b.calls.points[i] && a.calls.bytes[i] == b.calls.bytes[i]) continue;
    return fmt::format("request {} is one of {} bytes at {} and one of {} bytes at {}", i + 1,
                       a.calls.bytes[i], fault_point_text(a.calls.points[i], 0), b.calls.bytes[i],
                       fault_point_text(b.calls.points[i], 0));
  }
  if (a.calls.size() == b.calls.size()) return {};
  return fmt::format("one makes {} requests, the other {}", a.calls.size(), b.calls.size());
}

bool is_waived_at(const Waiver& waiver, std::uint64_t point, std::uint64_t occurrence) {
  if (waiver.point.empty()) return true;
  const std::optional<FaultPoint> where = parse_fault_point(waiver.point);
  return where && where->is_of(point) &&
         (where->occurrence == 0 || where->occurrence == occurrence);
}

}  // namespace

VariantSweep::VariantSweep(const SweepOptions& options, const ScenarioLoader& loader,
                           WorkerPool& pool, std::int64_t order,
                           const ScenarioDescription& scenario, const VariantDescription& variant,
                           const ScriptSources& sources)
    : options_(options),
      loader_(loader),
      pool_(pool),
      order_(order),
      scenario_(scenario),
      variant_(variant),
      setup_{load_request(options.run, scenario.file, sources), variant.name,
             machine_for(scenario, variant, options.run), options.filter},
      trials_(options.trials) {}

void VariantSweep::fail(std::string message, std::string hint, ExitReason reason) {
  error_ = ErrorResult{std::move(message), scenario_.file, variant_.line, {}, std::move(hint)};
  error_reason_ = reason;
  is_finished_ = true;
}

// ---- fault-free --------------------------------------------------------------------------------

void VariantSweep::start() {
  const std::optional<std::string> known =
      before_ == nullptr ? std::nullopt : before_->find(cost_piece());
  if (!known) return submit_fault_free();
  cost_ = decoded_group_cost(*known);
  is_finished_ = found_ != nullptr;
}

std::string VariantSweep::fault_free_piece() const {
  return fmt::format("{}/{}", order_, variant_.name);
}

/// Kept after the run itself.
std::string VariantSweep::cost_piece() const {
  return fmt::format("cost/{}/{}", order_, variant_.name);
}

/// As late as it is needed: a shard has a part of a few of all variants.
void VariantSweep::read_plan() {
  if (!fault_free_.empty()) return;
  fault_free_.push_back(decoded_fault_free_run(before_->find(fault_free_piece()).value()));
  choose_tasks();
}

void VariantSweep::submit_fault_free() {
  pool_.submit(
      order_, [this] { return encoded(fault_free_run(loader_, setup_)); },
      [this](const WorkResult& result) { take_fault_free(result); });
}

bool VariantSweep::take_error(const WorkResult& result, const std::string& what) {
  switch (result.end) {
    case WorkEnd::message:
      return false;
    case WorkEnd::interrupted:
      is_finished_ = true;
      return true;
    case WorkEnd::timeout:
      fail(fmt::format("{} {}", what, why_without_message(result, options_.run.timeout_seconds)),
           {}, reason_of(result.end));
      return true;
    case WorkEnd::crashed:
      fail(fmt::format("the process of {} was {}", what, result.how_it_ended), result.output,
           reason_of(result.end));
      return true;
  }
  return true;
}

/// Two runs have to agree: a failure of "the seventh request" means nothing otherwise.
void VariantSweep::take_fault_free(const WorkResult& result) {
  if (result.end == WorkEnd::interrupted) {
    return fail("the sweep was interrupted before its requests were counted", {},
                reason_of(result.end));
  }
  if (take_error(result, variant_.name + " without faults")) return;
  fault_free_.push_back(decoded_fault_free_run(result.message));
  const FaultFreeRun& first = fault_free_.front();
  const Outcome outcome = first.ending.outcome;
  const bool has_failed = outcome == Outcome::error || outcome == Outcome::timeout;
  if (has_failed && !variant_.raises) {
    return fail(first.ending.message, "ohm run shows where it comes from",
                ExitReason::script_error);
  }
  if (fault_free_.size() == 1) return submit_fault_free();
  if (!difference(first, fault_free_.back()).empty()) {
    is_finished_ = true;
    return;
  }
  fault_free_.pop_back();
  choose_tasks();
  if (found_ != nullptr) {
    found_->add(fault_free_piece(), encoded(fault_free_.front()));
    found_->add(cost_piece(), encoded(group_cost(fault_costs(chosen_, fault_free_.front()))));
    let_go();
    is_finished_ = true;
    return;
  }
  // Without a plan shards know no costs that are the same for all of them.
  const std::size_t count = chosen_.empty() ? 0 : numbered_by_call(chosen_).back().first + 1;
  const std::vector<double> alike(count, 1.0);
  take_share(CostShare({cost_of(alike)}, options_.shard).part_of(0, alike));
}

// ---- faults -------------------------------------------------------------------------------------

void VariantSweep::choose_tasks() {
  const RecordedCalls& calls = fault_free_.front().calls;
  std::map<std::uint64_t, std::uint64_t> passes;
  occurrences_.clear();
  for (const std::uint64_t point : calls.points) occurrences_.push_back(++passes[point]);
  const ChosenFaults chosen = chosen_faults(calls, options_.points, options_.forms);
  beyond_budget_ = chosen.beyond_budget;
  not_tried_ = calls.size() * kFaultFormNames.size() - chosen.tasks.size();
  chosen_ = chosen.tasks;
}

/// By the numbers of the calls among those that fail.
void VariantSweep::take_share(const std::vector<bool>& share) {
  for (const auto& [number, index] : numbered_by_call(chosen_)) {
    if (share[number]) tasks_.push_back(chosen_[index]);
  }
  verdicts_.resize(tasks_.size());
  take_known();
  submit_tasks();
}

void VariantSweep::begin(const std::vector<bool>& share) {
  read_plan();
  take_share(share);
}

std::vector<double> VariantSweep::costs() {
  read_plan();
  return fault_costs(chosen_, fault_free_.front());
}

// ---- what is kept, for a sweep that goes on ----------------------------------------------------

std::string VariantSweep::piece_of(const FaultTask& task) const {
  return fmt::format("{}/{}/{}/{}", order_, variant_.name, task.call, name_of(task.form));
}

void VariantSweep::take_known() {
  if (options_.run.checkpoint == nullptr) return;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const std::optional<std::string> known = options_.run.checkpoint->find(piece_of(tasks_[i]));
    if (known) verdicts_[i] = decoded_verdicts(*known).at(0);
  }
}

/// In the worker, so that nothing is lost with it.
void VariantSweep::keep(std::size_t task, const TaskVerdict& verdict) const {
  if (options_.run.checkpoint == nullptr) return;
  options_.run.checkpoint->add(piece_of(tasks_[task]), encoded(std::vector<TaskVerdict>{verdict}));
}

// ---- trials -------------------------------------------------------------------------------------

/// Each as long as the others, and of calls that follow each other: states that one of them leaves
/// are often the next one's, too.
void VariantSweep::make_slices() {
  constexpr std::size_t kFewestInASlice = 16;
  std::vector<std::size_t> unknown;
  std::vector<FaultTask> tasks;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (verdicts_[i]) continue;
    unknown.push_back(i);
    tasks.push_back(tasks_[i]);
  }
  const auto jobs = static_cast<std::size_t>(options_.run.jobs);
  const std::size_t count = std::clamp<std::size_t>(tasks.size() / kFewestInASlice, 1, jobs);
  const std::vector<double> costs = fault_costs(tasks, fault_free_.front());
  for (std::size_t slice = 0; slice < count; ++slice) {
    const std::vector<bool> part = CostShare({cost_of(costs)}, {slice, count}).part_of(0, costs);
    std::vector<std::size_t> mine;
    for (const auto& [number, index] : numbered_by_call(tasks)) {
      if (part[number]) mine.push_back(unknown[index]);
    }
    if (!mine.empty()) slices_.push_back(std::move(mine));
  }
}

void VariantSweep::submit_tasks() {
  constexpr double kTimesFaultFree = 10;
  make_slices();
  trials_.limits.cpu_seconds =
      std::max(trials_.limits.cpu_seconds, kTimesFaultFree * fault_free_.front().seconds);
  is_finished_ = slices_.empty();
  for (std::size_t slice = 0; slice < slices_.size(); ++slice) {
    ++pending_;
    // Each fault has limits of its own; many of them may take long.
    pool_.submit_untimed(
        order_,
        [this, slice] {
          std::vector<FaultTask> tasks;
          for (const std::size_t task : slices_[slice]) tasks.push_back(tasks_[task]);
          const auto kept = [&](std::size_t task, const TaskVerdict& verdict) {
            keep(slices_[slice][task], verdict);
          };
          return encoded(run_tasks(loader_, setup_, fault_free_.front(), tasks, trials_, kept));
        },
        [this, slice](const WorkResult& result) { take_tasks(slice, result); });
  }
}

void VariantSweep::take_tasks(std::size_t slice, const WorkResult& result) {
  if (take_error(result, "the sweep of " + variant_.name)) return;
  std::vector<TaskVerdict> verdicts = decoded_verdicts(result.message);
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    verdicts_[slices_[slice][i]] = std::move(verdicts[i]);
  }
  if (--pending_ == 0) is_finished_ = true;
}

// ---- the result ---------------------------------------------------------------------------------

std::size_t VariantSweep::point_index(const FaultTask& task) const {
  const FaultFreeRun& fault_free = fault_free_.front();
  const auto known = std::find(fault_free.hashes.begin(), fault_free.hashes.end(),
                               fault_free.calls.points[task.call]);
  return static_cast<std::size_t>(known - fault_free.hashes.begin());
}

/// As --fault takes it. From a persistent failure on everything fails.
std::string VariantSweep::plan_of(const FaultTask& task) const {
  const std::uint64_t point = fault_free_.front().calls.points[task.call];
  std::string plan = fault_point_text(point, occurrences_[task.call]);
  if (task.form == FaultForm::transient) return plan;
  plan += " -> from(1)";
  if (point_of(task).device == "cpu") plan += " & device(cpu)";
  if (options_.filter.level != FaultLevel::request) {
    plan += fmt::format(" & level({})", name_of(options_.filter.level));
  }
  return plan;
}

void VariantSweep::add_failed(SweptVariant& swept, const FaultTask& task, const std::string& plan,
                              const TrialVerdict& found) const {
  const FaultFreeRun& fault_free = fault_free_.front();
  const std::uint64_t hash = fault_free.calls.points[task.call];
  FailedFault failed;
  failed.plan = plan;
  failed.form = task.form;
  failed.verdict = found.verdict;
  failed.what = found.what;
  failed.call = static_cast<std::int64_t>(task.call) + 1;
  failed.bytes = static_cast<std::int64_t>(fault_free.calls.bytes[task.call]);
  const SweepPoint& point = point_of(task);
  failed.op = point.op;
  failed.file = point.file;
  failed.line = point.line;
  failed.rerun = rerun_command(options_.run, scenario_.file, scenario_, variant_.name, plan);
  for (const Waiver& waiver : variant_.waivers) {
    const bool is_meant = waiver.verdict == name_of(found.verdict) &&
                          is_waived_at(waiver, hash, occurrences_[task.call]);
    if (is_meant && failed.waived.empty()) failed.waived = waiver.reason;
  }
  if (!failed.waived.empty()) ++swept.waived;
  swept.failed.push_back(std::move(failed));
}

void VariantSweep::add_verdict(SweptVariant& swept, const FaultTask& task,
                               const TaskVerdict& found) const {
  SweepPoint& point = swept.points[point_index(task)];
  const std::string plan = plan_of(task);
  const auto count = [&](const TrialVerdict& verdict, const std::string& how) {
    ++swept.faults;
    ++swept.verdicts[static_cast<std::size_t>(verdict.verdict)];
    swept.benign += verdict.benign ? 1 : 0;
    swept.handled += verdict.handled ? 1 : 0;
    swept.peak_after_faults_bytes = std::max(swept.peak_after_faults_bytes, verdict.peak_bytes);
    swept.repeated_calls += std::max<std::int64_t>(0, verdict.repeated_calls);
    if (!is_good(verdict.verdict)) add_failed(swept, task, how, verdict);
  };
  ++point.faults;
  // Where both forms are tried, a handler is what survives a failure that passes.
  if (!found.verdict.handled && task.form == options_.forms.front()) ++point.unhandled;
  count(found.verdict, plan);
  for (const ChainVerdict& chain : found.chains) {
    count(chain.verdict, plan + " -> " + fault_point_text(chain.point, chain.occurrence));
  }
}

SweptVariant VariantSweep::result() {
  if (cost_ && !error_) read_plan();
  SweptVariant swept = described();
  if (pending_ == 0) let_go();
  return swept;
}

void VariantSweep::let_go() {
  fault_free_ = {};
  occurrences_ = {};
  chosen_ = {};
  tasks_ = {};
  verdicts_ = {};
  slices_ = {};
}

SweptVariant VariantSweep::described() const {
  SweptVariant swept;
  swept.name = variant_.name;
  swept.role = variant_.role;
  swept.of = variant_.of;
  swept.line = variant_.line;
  swept.error = error_;
  swept.values = setup_.machine.gpu.values;
  if (error_ || fault_free_.empty()) return swept;
  const FaultFreeRun& fault_free = fault_free_.front();
  swept.calls = static_cast<std::int64_t>(fault_free.calls.size());
  swept.points = fault_free.points;
  swept.peak_bytes = fault_free.peak_bytes;
  swept.not_tried = static_cast<std::int64_t>(not_tried_);
  swept.beyond_budget = static_cast<std::int64_t>(beyond_budget_);
  if (fault_free_.size() > 1) {
    ++swept.verdicts[static_cast<std::size_t>(FaultVerdict::nondeterministic)];
    FailedFault failed;
    failed.verdict = FaultVerdict::nondeterministic;
    failed.what = "two runs without faults differ: " + difference(fault_free, fault_free_.back());
    failed.rerun =
        rerun_command(options_.run, scenario_.file, scenario_, variant_.name, std::string());
    swept.failed.push_back(std::move(failed));
    return swept;
  }
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (verdicts_[i]) {
      add_verdict(swept, tasks_[i], *verdicts_[i]);
    } else {
      ++swept.untested;
    }
  }
  return swept;
}

}  // namespace ohm::engine
