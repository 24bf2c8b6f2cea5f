#include "harness/sweep/command/command_faults.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "harness/process/shell_quote.h"
#include "harness/process/stopwatch.h"

namespace ohm::engine {

namespace {

/// The script, or the program.
std::string name_of_command(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word.ends_with(".py")) return std::filesystem::path(word).stem();
  }
  return std::filesystem::path(words.front()).filename();
}

}  // namespace

CountedCommand CommandFaults::count() {
  const FaultedFolder folder;
  const FaultedRun run(options_.command, folder, planned_count());
  const Stopwatch stopwatch;
  const CommandEnd end = ended(run.command(options_.command.timeout_seconds));
  CountedCommand counted;
  counted.program = name_of_command(options_.command.words);
  counted.outcome = run.outcome(end);
  counted.cause = counted.outcome.fault->cause;
  counted.network_host = run.text("network");
  counted.seconds = stopwatch.seconds();
  if (end.status == 0) take_count(run, counted);
  const std::string printed = counted.outcome.printed.value_or("");
  const int steps = counted.outcome.fault->optimizer_steps;
  if (!is_counted_) {
    printed_ = printed;
    steps_ = steps;
  }
  if (steps != steps_) steps_ = 0;
  lines_ = lines_in_both(printed_, printed);
  if (is_counted_ && end.status == 0 && counted.problem.empty()) note_size(counted);
  is_counted_ = true;
  return counted;
}

void CommandFaults::run_trials(std::vector<FaultTrial>& trials, double seconds,
                               int jobs_at_first) const {
  std::vector<std::size_t> left(trials.size());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  for (const int jobs : {jobs_at_first, 1}) {
    std::map<std::size_t, std::unique_ptr<FaultedRun>> at_work;
    std::vector<std::size_t> overdue;
    CommandBatch batch;
    batch.count = left.size();
    batch.jobs = jobs;
    // A restart that is tried again finds what the first one found.
    const bool may_be_tried_again = jobs > 1;
    const bool is_tried_again = jobs != jobs_at_first;
    batch.command = [&](std::size_t number) {
      FaultTrial& trial = trials[left[number]];
      if (!trial.is_restart) trial.folder = std::make_unique<FaultedFolder>();
      if (trial.is_restart && is_tried_again) trial.folder->scratch().put_back();
      if (trial.is_restart && may_be_tried_again) trial.folder->scratch().keep();
      auto run = std::make_unique<FaultedRun>(options_.command, *trial.folder, trial.fault);
      ChildCommand child = run->command(seconds);
      at_work.emplace(number, std::move(run));
      return child;
    };
    batch.on_end = [&](std::size_t number, const CommandEnd& end) {
      trials[left[number]].outcome = at_work.extract(number).mapped()->outcome(end);
      if (end.is_overdue) overdue.push_back(left[number]);
    };
    runner_.run_each(batch);
    left = std::move(overdue);
    if (jobs_at_first == 1 || left.empty()) return;
  }
}

std::vector<std::shared_ptr<const CommandOutcome>> CommandFaults::restarted(
    const std::vector<FaultTrial*>& trials, double seconds, int jobs) const {
  std::vector<FaultTrial> restarts;
  for (FaultTrial* const trial : trials) {
    FaultTrial& restart = restarts.emplace_back();
    restart.folder = std::move(trial->folder);
    restart.is_restart = true;
  }
  run_trials(restarts, seconds, jobs);
  std::vector<std::shared_ptr<const CommandOutcome>> outcomes;
  for (FaultTrial& restart : restarts) {
    outcomes.push_back(std::make_shared<CommandOutcome>(std::move(restart.outcome)));
  }
  return outcomes;
}

CommandEnd CommandFaults::ended(const ChildCommand& command) const {
  const CommandEnd end = runner_.run(command);
  if (end.asked_to_end != 0) throw CommandInterrupted(end.asked_to_end);
  return end;
}

std::string CommandFaults::left_out_text(std::size_t left_out) {
  if (left_out == 0) return {};
  return fmt::format("; {} faults left out; --points all tries them", left_out);
}

void CommandFaults::add_call(std::uint64_t number, RecordedCalls& calls) {
  calls.points.push_back(number);
  calls.kinds.push_back(0);
  calls.bytes.push_back(0);
  calls.can_be_copied.push_back(0);
}

std::string CommandFaults::rerun_command(const std::string& plan) const {
  const FaultedCommand& command = options_.command;
  return fmt::format("ohm exec --one-thread --gpu {}{}{} -- {}", shell_quoted(command.gpus),
                     command.values.words(), plan.empty() ? "" : option_of(plan),
                     shell_command(command.words));
}

}  // namespace ohm::engine
