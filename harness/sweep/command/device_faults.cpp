#include "harness/sweep/command/device_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <utility>

#include "harness/process/program_file.h"
#include "harness/process/shell_quote.h"
#include "harness/process/stopwatch.h"
#include "harness/sweep/command/fault_verdict.h"

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

CommandEnd ended(const CommandRunner& runner, const ChildCommand& command) {
  const CommandEnd end = runner.run(command);
  if (end.asked_to_end != 0) throw CommandInterrupted(end.asked_to_end);
  return end;
}

/// Of a fault whose call no run without faults makes again.
CommandOutcome without_fault() {
  CommandOutcome outcome;
  outcome.fault.emplace();
  return outcome;
}

/// The script, or the program.
std::string name_of_command(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word.ends_with(".py")) return std::filesystem::path(word).stem();
  }
  return std::filesystem::path(words.front()).filename();
}

}  // namespace

// ---- runs ---------------------------------------------------------------------------------------

void run_trials(const CommandRunner& runner, const FaultedCommand& command,
                std::vector<FaultTrial>& trials, double seconds) {
  std::vector<std::size_t> left(trials.size());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  for (const int jobs : {command.jobs, 1}) {
    std::map<std::size_t, std::unique_ptr<FaultedRun>> at_work;
    std::vector<std::size_t> overdue;
    CommandBatch batch;
    batch.count = left.size();
    batch.jobs = jobs;
    batch.command = [&](std::size_t number) {
      FaultTrial& trial = trials[left[number]];
      trial.folder = std::make_unique<FaultedFolder>();
      auto run = std::make_unique<FaultedRun>(command, *trial.folder, trial.fault);
      ChildCommand child = run->command(seconds);
      at_work.emplace(number, std::move(run));
      return child;
    };
    batch.on_end = [&](std::size_t number, const CommandEnd& end) {
      trials[left[number]].outcome = at_work.extract(number).mapped()->outcome(end);
      if (end.is_overdue) overdue.push_back(left[number]);
    };
    runner.run_each(batch);
    left = std::move(overdue);
    if (command.jobs == 1 || left.empty()) return;
  }
}

std::shared_ptr<const CommandOutcome> restarted(const CommandRunner& runner,
                                                const FaultedCommand& command,
                                                const FaultedFolder& folder, double seconds) {
  const FaultedRun run(command, folder, {});
  return std::make_shared<CommandOutcome>(run.outcome(ended(runner, run.command(seconds))));
}

CountedCommand counted_command(const FaultedCommand& command, const CommandEnd& end, double seconds,
                               const FaultedRun& run) {
  CountedCommand counted;
  counted.program = name_of_command(command.words);
  counted.outcome = run.outcome(end);
  counted.cause = counted.outcome.fault->cause;
  counted.network_host = run.text("network");
  counted.seconds = seconds;
  return counted;
}

// ---- without faults -----------------------------------------------------------------------------

CountedCommand DeviceFaults::count() {
  const FaultedFolder folder;
  PlannedFault fault;
  fault.lists_calls = true;
  const FaultedRun run(options_.command, folder, fault);
  const Stopwatch stopwatch;
  const CommandEnd end = ended(runner_, run.command(options_.command.timeout_seconds));
  CountedCommand counted = counted_command(options_.command, end, stopwatch.seconds(), run);
  counted.description = "GPU faults";
  if (end.status == 0) take_calls(run, counted);
  // Kept here, line by line.
  const std::string printed = counted.outcome.printed.value_or("");
  lines_ = is_counted_ ? lines_in_both(printed_, printed) : lines_in_both(printed, printed);
  if (!is_counted_) printed_ = printed;
  if (is_counted_) note_size(counted);
  is_counted_ = true;
  return counted;
}

/// Sites of the second run that are others than in the first decide nothing: threads may take turns
/// in another order.
void DeviceFaults::take_calls(const FaultedRun& run, CountedCommand& counted) {
  const TracedCalls traced = read_call_traces(run.folder());
  if (traced.sites.empty()) {
    counted.problem = "no process of the command made a call of CUDA that can fail";
    return;
  }
  const char* const search_path = std::getenv("PATH");
  const std::string program =
      find_program(options_.command.words.front(), search_path == nullptr ? "" : search_path);
  const std::vector<SitePoint> points = points_of_sites(traced, run.folder(), program);
  if (!is_counted_) take_first_calls(traced, points);
  std::set<std::uint64_t> passed;
  for (const SitePoint& point : points) {
    if (!is_counted_ || stable_.contains(point.number)) passed.insert(point.number);
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
      chosen_call_faults(sites_, options_.points, most_faults(options_.points));
  faults_ = std::move(chosen.faults);
  left_out_ = chosen.left_out;
  for (const CallFault& fault : faults_) {
    const SitePoint& point = points[fault.site];
    if (std::find(calls_.hashes.begin(), calls_.hashes.end(), point.number) ==
        calls_.hashes.end()) {
      calls_.points.push_back(point.point);
      calls_.hashes.push_back(point.number);
    }
    RecordedCalls& calls = calls_.calls;
    calls.points.push_back(point.number);
    calls.kinds.push_back(0);
    calls.bytes.push_back(0);
    calls.can_be_copied.push_back(0);
  }
}

void DeviceFaults::note_size(const CountedCommand& counted) const {
  const double runs = std::ceil(static_cast<double>(faults_.size()) / options_.command.jobs);
  const double seconds = std::ceil(runs * counted.seconds);
  options_.on_note(fmt::format(
      "{} faults at {} call sites, each in a run of {:.1f} s: about {}{}", faults_.size(),
      calls_.points.size(), counted.seconds,
      seconds < 100 ? fmt::format("{} s", seconds) : fmt::format("{} min", std::ceil(seconds / 60)),
      left_out_ == 0 ? ""
                     : fmt::format("; {} faults left out; --points all tries them", left_out_)));
}

// ---- with faults --------------------------------------------------------------------------------

void DeviceFaults::fail(const CountedCommand& counted, const std::vector<FaultTask>& tasks,
                        const OnEnd& on_end) {
  not_reached_ = 0;
  const std::size_t many = 2 * static_cast<std::size_t>(std::max(1, options_.command.jobs));
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
  options_.on_note(fmt::format(
      "{} faults were not injected: their calls were not reached, because the command makes other "
      "calls, or in another order, in each run",
      not_reached_));
}

void DeviceFaults::fail_some(const CountedCommand& counted, std::vector<FaultTrial> trials,
                             const OnEnd& on_end) {
  const double seconds = seconds_for_faulted(counted.seconds);
  run_trials(runner_, options_.command, trials, seconds);
  restart(counted, trials, seconds);
  for (const FaultTrial& trial : trials) {
    if (trial.outcome.fault->process == 0) ++not_reached_;
    on_end(trial.task, trial.outcome);
  }
}

/// See Note [Restarts].
void DeviceFaults::restart(const CountedCommand& counted, std::vector<FaultTrial>& trials,
                           double seconds) {
  const FaultedCommand& command = options_.command;
  for (FaultTrial& trial : trials) {
    CommandOutcome& outcome = trial.outcome;
    const bool has_given_up = outcome.status != counted.outcome.status && !outcome.is_overdue;
    if (!has_given_up || outcome.fault->process == 0 || !trial.folder->has_changed()) continue;
    outcome.fault->restarted = restarted(runner_, command, *trial.folder, seconds);
    if (!needs_kill({counted.outcome, lines_}, outcome) || kills_ == kMostKills) continue;
    ++kills_;
    std::vector<FaultTrial> killed(1);
    const std::string& plan = trial.fault.plan;
    killed[0].fault.plan = plan.substr(0, plan.find("->")) + "-> error(killed)";
    run_trials(runner_, command, killed, seconds);
    outcome.fault->printed_before_kill = killed[0].outcome.printed.value_or("");
    outcome.fault->restarted_after_kill = restarted(runner_, command, *killed[0].folder, seconds);
  }
}

TrialVerdict DeviceFaults::verdict(const CountedCommand& counted,
                                   const CommandOutcome& outcome) const {
  return call_fault_verdict({counted.outcome, lines_}, outcome);
}

std::string DeviceFaults::plan_of(const FaultTask& task) const {
  const CallFault& fault = faults_[task.call];
  return plan_text(sites_[fault.site], fault);
}

std::string DeviceFaults::rerun_command(const std::string& plan) const {
  const FaultedCommand& command = options_.command;
  std::string text = "ohm exec --one-thread --gpu " + shell_quoted(command.gpus);
  text += command.values.words();
  if (!plan.empty()) text += " --fault-once --fault " + shell_quoted(plan);
  return text + " -- " + shell_command(command.words);
}

}  // namespace ohm::engine
