#include "harness/sweep/command/copied_memory.h"

#include <functional>
#include <map>
#include <numeric>
#include <utility>

namespace ohm::engine {

namespace {

std::vector<std::size_t> all_of(const std::vector<FaultTask>& tasks) {
  std::vector<std::size_t> all(tasks.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

struct OwnRuns {
  std::vector<std::size_t> tasks;  ///< that have one
  int jobs = 1;                    ///< runs at a time
  std::function<std::unique_ptr<OwnRun>(std::size_t task)> make;
};

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

std::string CopiedMemory::sharing() const {
  if (engine_ == SweepEngine::fork) return "in a copy of the command";
  return jobs_ > 1 ? "beside other runs of the command" : "";
}

void CopiedMemory::fail(const CountedCommand& counted, const std::vector<FaultTask>& tasks,
                        const OnEnd& on_end) {
  uncopied_ = {};
  Left left{all_of(tasks), {}};
  if (engine_ == SweepEngine::fork && !tasks.empty()) {
    left = fail_in_copies(counted, tasks, on_end);
    if (!left.tasks.empty()) uncopied_ = {left.tasks.size(), left.why};
  }
  const int jobs = counted.shares_changed_files ? 1 : jobs_;
  fail_in_runs(counted, tasks, left.tasks, jobs, on_end);
}

void CopiedMemory::fail_alone(const CountedCommand& counted, const std::vector<FaultTask>& tasks,
                              const OnEnd& on_end) {
  fail_in_runs(counted, tasks, all_of(tasks), has_own_folders() ? jobs_ : 1, on_end);
}

/// A run that takes too long beside others is made again, with none beside it.
void CopiedMemory::fail_in_runs(const CountedCommand& counted, const std::vector<FaultTask>& tasks,
                                const std::vector<std::size_t>& which, int jobs,
                                const OnEnd& on_end) const {
  const auto make = [&](std::size_t task) { return own_run(counted, tasks[task]); };
  const std::vector<std::size_t> overdue =
      overdue_of(runner_, {which, jobs, make}, jobs <= 1, on_end);
  if (!overdue.empty()) overdue_of(runner_, {overdue, 1, make}, true, on_end);
}

}  // namespace ohm::engine
