#include "harness/sweep/command/own_runs.h"

#include <map>
#include <utility>

namespace ohm::engine {

namespace {

/// Tells of the runs that ended in time, or of all; the tasks of the others.
std::vector<std::size_t> overdue_of(const CommandRunner& runner, const OwnRuns& runs,
                                    bool tells_of_all, const FailingMemory::OnEnd& on_end) {
  std::map<std::size_t, std::unique_ptr<OwnRun>> at_work;
  std::vector<std::size_t> overdue;
  CommandBatch batch;
  batch.count = runs.tasks.size();
  batch.jobs = runs.jobs;
  batch.command = [&](std::size_t number) {
    auto run = runs.make(runs.tasks[number]);
    ChildCommand command = run->command();
    at_work.emplace(number, std::move(run));
    return command;
  };
  batch.on_end = [&](std::size_t number, const CommandEnd& end) {
    const auto ended = at_work.extract(number);
    const std::size_t task = runs.tasks[number];
    if (end.is_overdue && !tells_of_all) {
      overdue.push_back(task);
    } else {
      on_end(task, ended.mapped()->outcome(end));
    }
  };
  runner.run_each(batch);
  return overdue;
}

}  // namespace

void run_each(const CommandRunner& runner, const OwnRuns& runs,
              const FailingMemory::OnEnd& on_end) {
  const std::vector<std::size_t> overdue = overdue_of(runner, runs, runs.jobs <= 1, on_end);
  // What is slow beside others may be in time without them.
  if (!overdue.empty()) overdue_of(runner, {overdue, 1, runs.make}, true, on_end);
}

}  // namespace ohm::engine
