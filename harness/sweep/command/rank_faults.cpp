#include "harness/sweep/command/rank_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "allocator_shim/fault/fault_point.h"

namespace ohm::engine {

namespace {

/// Steps at which a rank is lost where no option asks for more.
constexpr std::size_t kMostSteps = 8;

/// All of a job, one rank after the other; with `all` every rank at each step.
std::vector<LostRank> losses(const FaultedEnd& job, const PointChoice& points) {
  const int steps = job.steps.empty() ? 0 : job.steps.front();
  const int ranks = job.ranks;
  std::vector<LostRank> all;
  for (int step = 0; step < steps; ++step) {
    for (int rank = 0; rank < ranks; ++rank) {
      const bool is_wanted = points.kind == PointChoice::Kind::all || rank == step % ranks;
      if (is_wanted) all.push_back({job.step_kind, rank, step});
    }
  }
  return all;
}

/// Spread evenly, with the first and the last.
std::vector<LostRank> some_of(const std::vector<LostRank>& all, std::size_t most) {
  if (all.size() <= most) return all;
  std::vector<LostRank> some;
  for (std::size_t i = 0; i < most; ++i) {
    some.push_back(all[most == 1 ? 0 : i * (all.size() - 1) / (most - 1)]);
  }
  return some;
}

std::size_t most_losses(const PointChoice& points) {
  if (points.kind == PointChoice::Kind::all) return ~std::size_t{0};
  return points.kind == PointChoice::Kind::sample ? points.sample : kMostSteps;
}

SweepPoint point_of(const LostRank& lost, std::uint64_t number) {
  SweepPoint point;
  point.point = fault_point_text(number, 0);
  point.level = "rank";
  point.device = "cuda";
  point.op = fmt::format("rank {}", lost.rank);
  point.file = fmt::format("{} {}", lost.kind, lost.step + 1);
  point.passes = 1;
  return point;
}

}  // namespace

std::string text_of(const LostRank& lost) {
  return fmt::format("{}@{}{}", lost.rank, lost.step + 1, lost.kind == "step" ? "" : "c");
}

LostRank parse_lost_rank(const std::string& text) {
  LostRank lost{"step", 0, 0};
  const char* const end = text.data() + text.size();
  const auto rank = std::from_chars(text.data(), end, lost.rank);
  const bool has_rank = rank.ec == std::errc() && rank.ptr != end && *rank.ptr == '@';
  const auto step = std::from_chars(has_rank ? rank.ptr + 1 : end, end, lost.step);
  const bool is_collective = step.ptr + 1 == end && *step.ptr == 'c';
  if (is_collective) lost.kind = "collective";
  const bool is_whole = step.ec == std::errc() && (step.ptr == end || is_collective);
  if (!has_rank || !is_whole || lost.rank < 0 || lost.step < 1) {
    throw std::invalid_argument(fmt::format(
        "\"{}\" is not RANK@STEP, as 1@3, or RANK@COLLECTIVEc, as 1@3c, counted from 1", text));
  }
  --lost.step;
  return lost;
}

void RankFaults::take_count(const FaultedRun& /*run*/, CountedCommand& counted) {
  counted.description = "lost ranks";
  const FaultedEnd& job = *counted.outcome.fault;
  if (job.steps.empty()) {
    counted.problem =
        "no step was seen: no process of the command used an optimizer of torch.optim, or a "
        "collective of torch.distributed";
    return;
  }
  if (job.ranks == 0) {
    counted.problem = "no process of the command is a rank; start it with torchrun";
    return;
  }
  lost_ = some_of(losses(job, options().points), most_losses(options().points));
  const int steps = job.steps.front();
  left_out_ = static_cast<std::size_t>(steps) * static_cast<std::size_t>(job.ranks) - lost_.size();
  counted.has_forms = false;
  counted.left_out = left_out_;
  for (const LostRank& lost : lost_) {
    const std::uint64_t number = PointHash().add(text_of(lost)).value();
    counted.points.push_back(point_of(lost, number));
    counted.hashes.push_back(number);
    add_call(number, counted.calls);
  }
}

void RankFaults::note_size(const CountedCommand& counted) const {
  const FaultedEnd& job = *counted.outcome.fault;
  options().on_note(fmt::format(
      "{} faults at {} {}s of {} ranks, each in a run of {:.0f} s or more{}", lost_.size(),
      job.steps.front(), job.step_kind, job.ranks, counted.seconds, left_out_text(left_out_)));
}

void RankFaults::fail(const CountedCommand& counted, const std::vector<FaultTask>& tasks,
                      const OnEnd& on_end) {
  // A rank's share of the time is a run's: those that are restarted take twice as long.
  const double seconds = seconds_for_faulted(2 * counted.seconds);
  const int jobs = std::max(1, options().command.jobs / std::max(1, counted.outcome.fault->ranks));
  const auto many = static_cast<std::size_t>(jobs);
  std::size_t not_lost = 0;
  for (std::size_t first = 0; first < tasks.size(); first += many) {
    std::vector<FaultTrial> trials(std::min(many, tasks.size() - first));
    for (std::size_t i = 0; i < trials.size(); ++i) {
      trials[i].task = first + i;
      trials[i].fault.lost = lost_[tasks[first + i].call];
    }
    run_trials(trials, seconds, jobs);
    restart(counted, trials, seconds, jobs);
    for (const FaultTrial& trial : trials) {
      if (!trial.outcome.fault->is_lost) ++not_lost;
      on_end(trial.task, trial.outcome);
    }
  }
  if (not_lost > 0) {
    options().on_note(
        fmt::format("{} faults were not injected: their steps were not reached", not_lost));
  }
}

void RankFaults::restart(const CountedCommand& counted, std::vector<FaultTrial>& trials,
                         double seconds, int jobs) const {
  std::vector<FaultTrial*> ended;
  for (FaultTrial& trial : trials) {
    const CommandOutcome& outcome = trial.outcome;
    const bool is_over =
        outcome.fault->is_lost && !outcome.is_overdue && outcome.status != counted.outcome.status;
    if (is_over && outcome.fault->failed_restarts == 0 && trial.folder->has_changed()) {
      ended.push_back(&trial);
    }
  }
  const auto outcomes = restarted(ended, seconds, jobs);
  for (std::size_t i = 0; i < ended.size(); ++i) {
    ended[i]->outcome.fault->restarted = outcomes[i];
  }
}

TrialVerdict RankFaults::verdict(const CountedCommand& counted,
                                 const CommandOutcome& outcome) const {
  return lost_rank_verdict(expected(counted), outcome);
}

std::string RankFaults::plan_of(const FaultTask& task) const { return text_of(lost_[task.call]); }

std::string RankFaults::option_of(const std::string& plan) const { return " --lose-rank " + plan; }

}  // namespace ohm::engine
