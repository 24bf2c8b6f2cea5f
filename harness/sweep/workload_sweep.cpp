#include "harness/sweep/workload_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "allocator_shim/fault/fault_point.h"
#include "harness/sweep/alike_verdicts.h"
#include "harness/sweep/fault_costs.h"
#include "harness/sweep/sweep_messages.h"

namespace ohm::engine {

namespace {

/// Of all faults that were judged: one note of a kind, in the order of the kinds.
std::vector<RecoveryNote> sum_of_notes(const std::vector<std::optional<TaskVerdict>>& faults) {
  std::map<RecoveryDeviation, RecoveryNote> sums;
  for (const std::optional<TaskVerdict>& fault : faults) {
    if (!fault) continue;
    for (const RecoveryNote& note : fault->notes) {
      const auto [sum, is_first] = sums.emplace(note.deviation, note);
      if (!is_first) sum->second = sum_of(sum->second, note);
    }
  }
  std::vector<RecoveryNote> all;
  for (auto& [deviation, sum] : sums) all.push_back(std::move(sum));
  return all;
}

}  // namespace

WorkloadSweep::WorkloadSweep(WorkloadSweepOptions options, Workload& workload)
    : options_(std::move(options)), workload_(workload) {}

void WorkloadSweep::fail(WorkloadError error) {
  error_ = std::move(error.error);
  error_reason_ = error.reason;
  is_finished_ = true;
}

void WorkloadSweep::note(const std::string& text) const {
  if (options_.on_note) options_.on_note(text);
}

void WorkloadSweep::interrupt() {
  is_finished_ = true;
  if (counted_ != nullptr || error_) return;
  const char* const what = "the sweep was interrupted before its requests were counted";
  fail({ErrorResult{what, {}, 0, {}, {}}, ExitReason::interrupted});
}

// ---- without faults -----------------------------------------------------------------------------

void WorkloadSweep::start() {
  const std::optional<std::string> known =
      before_ == nullptr ? std::nullopt : before_->find(cost_piece());
  if (!known) return count();
  cost_ = decoded_group_cost(*known);
  is_finished_ = found_ != nullptr;
}

void WorkloadSweep::count() {
  workload_.count([this](CountEnd end) { take_count(std::move(end)); });
}

/// Two runs have to agree.
void WorkloadSweep::take_count(CountEnd end) {
  if (end.error) return fail(std::move(*end.error));
  if (counted_ == nullptr) {
    counted_ = std::move(end.run);
    return count();
  }
  difference_ = workload_.difference(*counted_, *end.run);
  if (!difference_.empty()) {
    is_finished_ = true;
    return;
  }
  workload_.join(*counted_, *end.run);
  choose_tasks();
  if (found_ != nullptr) return keep_plan();
  take_own_share();
}

/// Kept after the run itself.
std::string WorkloadSweep::cost_piece() const { return "cost/" + workload_.piece(); }

/// As late as it is needed: a shard has a part of a few of all workloads.
void WorkloadSweep::read_plan() {
  if (counted_ != nullptr) return;
  counted_ = workload_.decoded_run(before_->find(workload_.piece()).value());
  choose_tasks();
}

void WorkloadSweep::keep_plan() {
  found_->add(workload_.piece(), workload_.encoded_run(*counted_));
  found_->add(cost_piece(), encoded(group_cost(fault_costs(chosen_, *counted_))));
  let_go();
  is_finished_ = true;
}

// ---- which faults -------------------------------------------------------------------------------

void WorkloadSweep::choose_tasks() {
  const SweepRules& rules = options_.rules;
  const RecordedCalls& calls = counted_->calls;
  occurrences_ = occurrences(calls);
  requests_ = options_.checkpoint == nullptr ? 0 : hash_of(calls);
  ChosenFaults chosen = chosen_faults(calls, rules.points, rules.forms);
  beyond_budget_ = chosen.beyond_budget;
  const std::size_t forms = counted_->has_forms ? kFaultFormNames.size() : 1;
  not_tried_ = calls.size() * forms + counted_->left_out - chosen.tasks.size();
  chosen_ = std::move(chosen.tasks);
}

/// By the numbers of the calls among those that fail.
void WorkloadSweep::take_share(const std::vector<bool>& share) {
  for (const auto& [number, index] : numbered_by_call(chosen_)) {
    if (share[number]) tasks_.push_back(chosen_[index]);
  }
  verdicts_.resize(tasks_.size());
  try_tasks(every_task(), Company::others, [this] { confirm(); });
}

/// Without a plan shards know no costs that are the same for all of them.
void WorkloadSweep::take_own_share() {
  const Shard& shard = options_.rules.shard;
  const std::size_t count = chosen_.empty() ? 0 : numbered_by_call(chosen_).back().first + 1;
  if (options_.cut == ShardCut::neighbours) {
    const std::vector<double> alike(count, 1.0);
    return take_share(CostShare({cost_of(alike)}, shard).part_of(0, alike));
  }
  std::vector<FaultTask> mine;
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    if (shard.has(i)) mine.push_back(chosen_[i]);
  }
  chosen_ = std::move(mine);
  take_share(std::vector<bool>(count, true));
}

void WorkloadSweep::begin(const std::vector<bool>& share) {
  read_plan();
  take_share(share);
}

std::vector<double> WorkloadSweep::costs() {
  read_plan();
  return fault_costs(chosen_, *counted_);
}

// ---- with faults --------------------------------------------------------------------------------

std::vector<std::size_t> WorkloadSweep::every_task() const {
  std::vector<std::size_t> all(tasks_.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Tries those of `which` that the checkpoint does not know.
void WorkloadSweep::try_tasks(const std::vector<std::size_t>& which, Company company,
                              const std::function<void()>& then) {
  std::vector<std::size_t> untried;
  for (const std::size_t task : which) {
    if (!take_known(task, company)) untried.push_back(task);
  }
  if (untried.empty()) return then();
  FaultBatch batch = batch_of(untried, which.size(), company);
  batch.on_end = [this, then] {
    is_at_work_ = false;
    if (!error_) then();
  };
  tried_ = which.size() - untried.size();
  is_at_work_ = true;
  workload_.fail(*counted_, std::move(batch));
}

FaultBatch WorkloadSweep::batch_of(const std::vector<std::size_t>& untried, std::size_t all,
                                   Company company) {
  FaultBatch batch;
  for (const std::size_t task : untried) batch.tasks.push_back(tasks_[task]);
  batch.all = all;
  batch.company = company;
  if (options_.checkpoint != nullptr) {
    batch.keep = [this, untried, company](std::size_t i, const TaskVerdict& verdict) {
      options_.checkpoint->add(piece_of(untried[i], company),
                               encoded(std::vector<TaskVerdict>{verdict}));
    };
  }
  batch.on_verdict = [this, untried, all](std::size_t i, TaskVerdict verdict) {
    verdicts_[untried[i]] = std::move(verdict);
    if (options_.on_progress) options_.on_progress(++tried_, all);
  };
  batch.on_error = [this](WorkloadError error) { fail(std::move(error)); };
  return batch;
}

bool WorkloadSweep::take_known(std::size_t task, Company company) {
  if (options_.checkpoint == nullptr) return false;
  const std::optional<std::string> known = options_.checkpoint->find(piece_of(task, company));
  if (known) verdicts_[task] = decoded_verdicts(*known).at(0);
  return known.has_value();
}

/// What is known of a workload that makes other requests now is of no use.
std::string WorkloadSweep::piece_of(std::size_t task, Company company) const {
  return fmt::format("{}/{:016x}/{}/{}/{}", workload_.piece(), requests_,
                     company == Company::none ? "alone" : "beside", tasks_[task].call,
                     name_of(tasks_[task].form));
}

/// Where processes share files, a fault finds them as others left them.
void WorkloadSweep::confirm() {
  unconfirmed_.clear();
  if (!workload_.sharing().empty()) unconfirmed_ = first_of_alike(verdicts_);
  std::reverse(unconfirmed_.begin(), unconfirmed_.end());
  confirm_next();
}

void WorkloadSweep::confirm_next() {
  if (unconfirmed_.empty()) return look_for_other_requests();
  const std::size_t task = unconfirmed_.back();
  unconfirmed_.pop_back();
  const TrialVerdict first = verdicts_[task]->verdict;
  try_tasks({task}, Company::none, [this, task, first] {
    if (is_alike(verdicts_[task]->verdict, first)) return confirm_next();
    note(
        fmt::format("{} behaves differently {} ({}) than in its own run, perhaps because files "
                    "are shared: each failure gets its own run",
                    workload_.plan_of(*counted_, tasks_[task], occurrences_[tasks_[task].call]),
                    workload_.sharing(), first.what));
    try_tasks(every_task(), Company::none, [this] { look_for_other_requests(); });
  });
}

/// Requests that runs with a fault did not make may be gone from those without, too: a program may
/// change files that it reads the next time (an index, a cache). Counts what it makes now, once.
void WorkloadSweep::look_for_other_requests() {
  const auto is_missed = [](const std::optional<TaskVerdict>& fault) {
    return fault && fault->verdict.verdict == FaultVerdict::not_reached;
  };
  // Shards would not agree on what there is to fail.
  is_finished_ = is_counted_again_ || !workload_.changes_later_runs() ||
                 !options_.rules.shard.is_whole() ||
                 std::none_of(verdicts_.begin(), verdicts_.end(), is_missed);
  if (is_finished_) return;
  is_counted_again_ = true;
  workload_.count([this](CountEnd now) { take_other_requests(std::move(now)); });
}

void WorkloadSweep::take_other_requests(CountEnd now) {
  const std::string change = now.error ? "" : workload_.difference(*counted_, *now.run);
  is_finished_ = change.empty();
  if (is_finished_) return;
  note(
      fmt::format("the fault-free request sequence has changed since it was counted ({}), perhaps "
                  "because the command changed files that it reads: it is swept again",
                  change));
  counted_ = std::move(now.run);
  tasks_.clear();
  verdicts_.clear();
  count();
}

// ---- the result ---------------------------------------------------------------------------------

std::string WorkloadSweep::waived_reason(const FaultTask& task, FaultVerdict verdict) const {
  for (const Waiver& waiver : workload_.waivers()) {
    if (!waiver.verdict.empty() && waiver.verdict != name_of(verdict)) continue;
    if (waiver.point.empty()) return waiver.reason;
    const std::optional<FaultPoint> where = parse_fault_point(waiver.point);
    if (!where || !where->is_of(counted_->calls.points[task.call])) continue;
    const bool is_meant = where->occurrence == 0 || where->occurrence == occurrences_[task.call];
    if (is_meant) return waiver.reason;
  }
  return {};
}

void WorkloadSweep::add_failed(SweptVariant& swept, const FaultTask& task, const std::string& plan,
                               const TrialVerdict& found) const {
  const SweepPoint& point = counted_->point_of(task.call);
  FailedFault failed;
  failed.plan = plan;
  failed.form = task.form;
  failed.verdict = found.verdict;
  failed.what = found.what;
  failed.call = static_cast<std::int64_t>(task.call) + 1;
  failed.bytes = static_cast<std::int64_t>(counted_->calls.bytes[task.call]);
  failed.op = point.op;
  failed.file = found.file.empty() ? point.file : found.file;
  failed.line = found.file.empty() ? point.line : found.line;
  failed.interpreter = found.interpreter;
  failed.stack = found.stack;
  failed.errors = found.errors;
  failed.rerun = workload_.rerun_command(plan);
  failed.waived = waived_reason(task, found.verdict);
  if (!failed.waived.empty()) ++swept.waived;
  swept.failed.push_back(std::move(failed));
}

void WorkloadSweep::add_verdict(SweptVariant& swept, const FaultTask& task, const std::string& plan,
                                const TrialVerdict& found) const {
  ++swept.faults;
  ++swept.verdicts[static_cast<std::size_t>(found.verdict)];
  swept.benign += found.benign ? 1 : 0;
  swept.handled += found.handled ? 1 : 0;
  swept.peak_after_faults_bytes = std::max(swept.peak_after_faults_bytes, found.peak_bytes);
  swept.repeated_calls += std::max<std::int64_t>(0, found.repeated_calls);
  if (!is_good(found.verdict)) add_failed(swept, task, plan, found);
}

void WorkloadSweep::add_task(SweptVariant& swept, std::size_t task) const {
  if (!verdicts_[task]) {
    ++swept.untested;
    return;
  }
  const TaskVerdict& found = *verdicts_[task];
  const FaultTask& fault = tasks_[task];
  SweepPoint& point = swept.points[counted_->point_index(fault.call)];
  ++point.faults;
  // Where both forms are tried, a handler is what survives a failure that passes.
  if (!found.verdict.handled && fault.form == options_.rules.forms.front()) ++point.unhandled;
  const std::string plan = workload_.plan_of(*counted_, fault, occurrences_[fault.call]);
  add_verdict(swept, fault, plan, found.verdict);
  for (const ChainVerdict& chain : found.chains) {
    const std::string second = fault_point_text(chain.point, chain.occurrence);
    add_verdict(swept, fault, fmt::format("{} -> {}", plan, second), chain.verdict);
  }
}

void WorkloadSweep::add_difference(SweptVariant& swept) const {
  ++swept.verdicts[static_cast<std::size_t>(FaultVerdict::nondeterministic)];
  FailedFault failed;
  failed.verdict = FaultVerdict::nondeterministic;
  failed.what = "two runs without faults differ: " + difference_;
  failed.rerun = workload_.rerun_command({});
  swept.failed.push_back(std::move(failed));
}

SweptVariant WorkloadSweep::result() {
  if (cost_ && !error_) read_plan();
  SweptVariant swept = described();
  if (!is_at_work_) let_go();
  return swept;
}

void WorkloadSweep::let_go() {
  counted_ = {};
  occurrences_ = {};
  chosen_ = {};
  tasks_ = {};
  verdicts_ = {};
}

SweptVariant WorkloadSweep::described() const {
  SweptVariant swept;
  workload_.describe(swept);
  swept.error = error_;
  if (error_ || counted_ == nullptr) return swept;
  swept.calls = static_cast<std::int64_t>(counted_->calls.size());
  swept.points = counted_->points;
  swept.peak_bytes = counted_->peak_bytes;
  swept.not_tried = static_cast<std::int64_t>(not_tried_);
  swept.beyond_budget = static_cast<std::int64_t>(beyond_budget_);
  if (!difference_.empty()) add_difference(swept);
  for (std::size_t task = 0; task < tasks_.size(); ++task) add_task(swept, task);
  swept.notes = sum_of_notes(verdicts_);
  return swept;
}

}  // namespace ohm::engine
