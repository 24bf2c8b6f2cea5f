#include "harness/sweep/command/device_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "harness/process/program_file.h"
#include "harness/process/shell_quote.h"

namespace ohm::engine {

namespace {

/// Faults that are tried where no option asks for more.
constexpr std::size_t kMostFaults = 60;
/// Of a program with one bug there are many alike.
constexpr std::size_t kMostKills = 10;

std::size_t most_faults(const PointChoice& points) {
  if (points.kind == PointChoice::Kind::all) return ~std::size_t{0};
  return points.kind == PointChoice::Kind::sample ? points.sample : kMostFaults;
}

/// Of a fault whose call no run without faults makes again.
CommandOutcome without_fault() {
  CommandOutcome outcome;
  outcome.fault.emplace();
  return outcome;
}

}  // namespace

// ---- without faults -----------------------------------------------------------------------------

PlannedFault DeviceFaults::planned_count() const {
  PlannedFault fault;
  fault.lists_calls = true;
  return fault;
}

/// Sites of the second run that are others than in the first decide nothing: threads may take turns
/// in another order.
void DeviceFaults::take_count(const FaultedRun& run, CountedCommand& counted) {
  counted.description = "GPU faults";
  const TracedCalls traced = read_call_traces(run.folder());
  if (traced.sites.empty()) {
    counted.problem = "no process of the command made a call of CUDA that can fail";
    return;
  }
  const char* const search_path = std::getenv("PATH");
  const std::string program =
      find_program(options().command.words.front(), search_path == nullptr ? "" : search_path);
  const std::vector<SitePoint> points = points_of_sites(traced, run.folder(), program);
  if (!is_counted()) take_first_calls(traced, points);
  std::set<std::uint64_t> passed;
  for (const SitePoint& point : points) {
    if (!is_counted() || stable_.contains(point.number)) passed.insert(point.number);
  }
  stable_ = std::move(passed);
  static_cast<CountedRun&>(counted).calls = calls_.calls;
  counted.points = calls_.points;
  counted.hashes = calls_.hashes;
  counted.has_forms = false;
  counted.left_out = left_out_;
}

void DeviceFaults::take_first_calls(const TracedCalls& traced,
                                    const std::vector<SitePoint>& points) {
  sites_ = traced.sites;
  ChosenCallFaults chosen =
      chosen_call_faults(sites_, options().points, most_faults(options().points));
  faults_ = std::move(chosen.faults);
  left_out_ = chosen.left_out;
  for (const CallFault& fault : faults_) {
    const SitePoint& point = points[fault.site];
    if (std::find(calls_.hashes.begin(), calls_.hashes.end(), point.number) ==
        calls_.hashes.end()) {
      calls_.points.push_back(point.point);
      calls_.hashes.push_back(point.number);
    }
    add_call(point.number, calls_.calls);
  }
}

void DeviceFaults::note_size(const CountedCommand& counted) const {
  const double runs = std::ceil(static_cast<double>(faults_.size()) / options().command.jobs);
  const double seconds = std::ceil(runs * counted.seconds);
  options().on_note(fmt::format(
      "{} faults at {} call sites, each in a run of {:.1f} s: about {}{}", faults_.size(),
      calls_.points.size(), counted.seconds,
      seconds < 100 ? fmt::format("{} s", seconds) : fmt::format("{} min", std::ceil(seconds / 60)),
      left_out_text(left_out_)));
}

// ---- with faults --------------------------------------------------------------------------------

void DeviceFaults::fail(const CountedCommand& counted, const std::vector<FaultTask>& tasks,
                        const OnEnd& on_end) {
  not_reached_ = 0;
  const std::size_t many = 2 * static_cast<std::size_t>(std::max(1, options().command.jobs));
  std::vector<FaultTrial> trials;
  for (std::size_t task = 0; task < tasks.size(); ++task) {
    const CallFault& fault = faults_[tasks[task].call];
    if (stable_.contains(counted.calls.points[tasks[task].call])) {
      FaultTrial& trial = trials.emplace_back();
      trial.task = task;
      trial.fault.plan = plan_text(sites_[fault.site], fault);
    } else {
      ++not_reached_;
      on_end(task, without_fault());
    }
    if (trials.size() < many && task + 1 < tasks.size()) continue;
    fail_some(counted, std::exchange(trials, {}), on_end);
  }
  note_not_reached();
}

void DeviceFaults::note_not_reached() const {
  if (not_reached_ == 0) return;
  options().on_note(fmt::format(
      "{} faults were not injected: their calls were not reached, because the command makes other "
      "calls, or in another order, in each run",
      not_reached_));
}

void DeviceFaults::fail_some(const CountedCommand& counted, std::vector<FaultTrial> trials,
                             const OnEnd& on_end) {
  const double seconds = seconds_for_faulted(counted.seconds);
  run_trials(trials, seconds, options().command.jobs);
  restart(counted, trials, seconds);
  for (const FaultTrial& trial : trials) {
    if (trial.outcome.fault->process == 0) ++not_reached_;
    on_end(trial.task, trial.outcome);
  }
}

/// See Note [Restarts]. Each has a folder of its own, as the trials have: they run beside each
/// other.
void DeviceFaults::restart(const CountedCommand& counted, std::vector<FaultTrial>& trials,
                           double seconds) {
  std::vector<FaultTrial*> failed;
  for (FaultTrial& trial : trials) {
    const CommandOutcome& outcome = trial.outcome;
    const bool has_given_up = outcome.status != counted.outcome.status && !outcome.is_overdue;
    if (has_given_up && outcome.fault->process != 0 && trial.folder->has_changed()) {
      failed.push_back(&trial);
    }
  }
  const auto outcomes = restarted(failed, seconds, options().command.jobs);
  for (std::size_t i = 0; i < failed.size(); ++i) {
    failed[i]->outcome.fault->restarted = outcomes[i];
  }
  std::erase_if(failed, [&](const FaultTrial* trial) {
    return !needs_kill(expected(counted), trial->outcome);
  });
  failed.resize(std::min(failed.size(), kMostKills - kills_));
  kills_ += failed.size();
  kill_and_restart(failed, seconds);
  for (FaultTrial* const trial : failed) {
    FaultedEnd& fault = *trial->outcome.fault;
    const bool fails_in_both =
        fault.restarted->status != 0 && fault.restarted_after_kill->status != 0;
    if (fails_in_both) fault.restarts_after_success = restarts_after_success(counted, seconds);
  }
}

/// Tried once.
bool DeviceFaults::restarts_after_success(const CountedCommand& counted, double seconds) {
  if (restarts_after_success_) return *restarts_after_success_;
  std::vector<FaultTrial> trials(1);
  run_trials(trials, seconds, 1);
  const int status = counted.outcome.status;
  restarts_after_success_ = trials[0].outcome.status == status &&
                            restarted({&trials[0]}, seconds, 1)[0]->status == status;
  return *restarts_after_success_;
}

void DeviceFaults::kill_and_restart(const std::vector<FaultTrial*>& trials, double seconds) const {
  std::vector<FaultTrial> killed(trials.size());
  std::vector<FaultTrial*> to_restart;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const std::string& plan = trials[i]->fault.plan;
    killed[i].fault.plan = plan.substr(0, plan.find("->")) + "-> error(killed)";
    to_restart.push_back(&killed[i]);
  }
  run_trials(killed, seconds, options().command.jobs);
  const auto outcomes = restarted(to_restart, seconds, options().command.jobs);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    FaultedEnd& fault = *trials[i]->outcome.fault;
    fault.printed_before_kill = killed[i].outcome.printed.value_or("");
    fault.restarted_after_kill = outcomes[i];
  }
}

TrialVerdict DeviceFaults::verdict(const CountedCommand& counted,
                                   const CommandOutcome& outcome) const {
  return call_fault_verdict(expected(counted), outcome);
}

std::string DeviceFaults::plan_of(const FaultTask& task) const {
  const CallFault& fault = faults_[task.call];
  return plan_text(sites_[fault.site], fault);
}

std::string DeviceFaults::option_of(const std::string& plan) const {
  return " --fault-once --fault " + shell_quoted(plan);
}

}  // namespace ohm::engine
