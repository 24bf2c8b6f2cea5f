#include "harness/run/variant_workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "harness/process/live_board.h"
#include "harness/run/worker_messages.h"

namespace ohm::engine {

namespace {

// Requests to origins: to keep the group that begins with a task, or to run a task.
constexpr char kKeep = 'k';
constexpr char kRun = 'r';

/// What a worker does, with a program or with none.
template <class Run>
std::string result_of(const VariantTask& task, Run&& run) {
  std::optional<LiveEntry> live;
  if (task.live_board != nullptr) live.emplace(*task.live_board, task.shown_as);
  return encoded(run(live ? &*live : nullptr));
}

}  // namespace

VariantWorkers::VariantWorkers(std::int64_t order, const ScenarioLoader& loader,
                               LoadRequest request, Tasks tasks, WorkerPool& pool,
                               Checkpoint* checkpoint)
    : order_(order),
      loader_(loader),
      request_(std::move(request)),
      tasks_(std::move(tasks)),
      pool_(pool),
      checkpoint_(checkpoint) {}

/// Keeps the message, too.
WorkDone VariantWorkers::kept(const std::string& piece, WorkDone done) const {
  return [checkpoint = checkpoint_, piece, done = std::move(done)](WorkResult result) {
    if (result.end == WorkEnd::message) checkpoint->add(piece, result.message);
    done(std::move(result));
  };
}

void VariantWorkers::submit(std::size_t task, WorkDone done) {
  if (checkpoint_ != nullptr) {
    const std::string piece = fmt::format("{}/{}", order_, task);
    if (const std::optional<std::string> known = checkpoint_->find(piece)) {
      return pool_.submit(
          order_, [known] { return *known; }, std::move(done));
    }
    done = kept(piece, std::move(done));
  }
  const MachineOptions machine = tasks_.at(task).machine;
  // A driver is opened with the machine, and cannot be used in a copy of the process that did.
  if (machine.cuda) return submit_alone({task, std::move(done)});
  group_of(task, loading_of(machine)).waiting.push_back({task, std::move(done)});
  begin_next();
}

VariantWorkers::Loading& VariantWorkers::loading_of(const MachineOptions& machine) {
  const auto known = std::find_if(
      loadings_.begin(), loadings_.end(),
      [&machine](const Loading& other) { return is_same_without_gpus(other.machine, machine); });
  return known == loadings_.end() ? loadings_.emplace_back(Loading{machine, nullptr}) : *known;
}

VariantWorkers::Group& VariantWorkers::group_of(std::size_t task, Loading& loading) {
  const std::size_t first_task = task - task % kMostTogether;
  const auto known = std::find_if(groups_.rbegin(), groups_.rend(), [&](const Group& other) {
    return other.first_task == first_task && other.loading == &loading;
  });
  return known == groups_.rend() ? groups_.emplace_back(Group{first_task, &loading, nullptr, 0, {}})
                                 : *known;
}

std::vector<VariantTask> VariantWorkers::tasks_from(std::size_t first_task) const {
  std::vector<VariantTask> tasks;
  const std::size_t end = std::min(first_task + kMostTogether, tasks_.count);
  for (std::size_t task = first_task; task < end; ++task) tasks.push_back(tasks_.at(task));
  return tasks;
}

void VariantWorkers::begin_next() {
  for (auto group = groups_.begin(); group != groups_.end() && !is_beginning_; ++group) {
    if (!group->waiting.empty()) {
      begin(*group);
    } else if (group->running == 0) {
      group->origin.reset();
    }
  }
}

void VariantWorkers::begin(Group& group) {
  Loading& loading = *group.loading;
  if (!loading.origin) {
    loading.origin = loader_for(loading.machine);
    return start(loading.origin);
  }
  // Each variant of a file that cannot be loaded says so itself.
  if (!loading.origin->has_begun() || (group.origin && !group.origin->has_begun())) {
    for (Waiting& waiting : std::exchange(group.waiting, {})) submit_alone(std::move(waiting));
  } else if (group.origin) {
    for (Waiting& waiting : std::exchange(group.waiting, {}))
      submit_copy(group, std::move(waiting));
  } else if (tasks_.count <= kMostTogether) {
    group.origin = loading.origin;
    begin(group);
  } else {
    group.origin =
        std::make_shared<WorkOrigin>(loading.origin, kKeep + std::to_string(group.first_task));
    start(group.origin);
  }
}

/// A loaded file, in the processes that run variants of it.
class VariantWorkers::Program {
 public:
  Program(const VariantWorkers& workers, const MachineOptions& machine)
      : workers_(workers), loaded_(workers.loader_, workers.request_, machine) {}

  /// A copy of this process has all that this one has: with the others' tasks, what it costs would
  /// grow with their number.
  void keep(std::size_t first_task) {
    first_ = first_task;
    kept_ = workers_.tasks_from(first_task);
    workers_.tasks_.forget();
    std::vector<std::string> variants;
    for (const VariantTask& task : kept_) variants.push_back(task.variant);
    loaded_.keep_only(variants);
  }

  std::string run(std::size_t number) {
    const VariantTask task = kept_.empty() ? workers_.tasks_.at(number) : kept_.at(number - first_);
    return result_of(task, [&](LiveEntry* live) {
      return loaded_.run(task.variant, task.machine, task.files, task.recording, live);
    });
  }

 private:
  const VariantWorkers& workers_;
  LoadedProgram loaded_;
  std::size_t first_ = 0;
  std::vector<VariantTask> kept_;  ///< from the first on; empty: all are there
};

std::shared_ptr<WorkOrigin> VariantWorkers::loader_for(const MachineOptions& machine) const {
  const auto program = std::make_shared<std::optional<Program>>();
  const auto load = [this, program, machine] { program->emplace(*this, machine); };
  const auto go_on = [program](const std::string& request) {
    const std::size_t number = std::stoul(request.substr(1));
    if (request.front() == kRun) return (*program)->run(number);
    (*program)->keep(number);
    return std::string();
  };
  return std::make_shared<WorkOrigin>(load, go_on);
}

void VariantWorkers::start(const std::shared_ptr<WorkOrigin>& origin) {
  is_beginning_ = true;
  pool_.start(order_, origin, [this](const WorkResult& /*result*/) {
    is_beginning_ = false;
    begin_next();
  });
}

void VariantWorkers::submit_copy(Group& group, Waiting waiting) {
  ++group.running;
  pool_.submit_copy(order_, group.origin, kRun + std::to_string(waiting.task),
                    [&group, done = std::move(waiting.done)](WorkResult result) {
                      --group.running;
                      done(std::move(result));
                    });
}

void VariantWorkers::submit_alone(Waiting waiting) {
  const auto run = [this, number = waiting.task] {
    const VariantTask task = tasks_.at(number);
    return result_of(task, [&](LiveEntry* live) {
      return run_variant(loader_, request_, task.variant, task.machine, task.files, task.recording,
                         live);
    });
  };
  pool_.submit(order_, run, std::move(waiting.done));
}

}  // namespace ohm::engine
