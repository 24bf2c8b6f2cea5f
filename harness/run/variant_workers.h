// The workers of one scenario's variants.
//
// Variants begin by loading the file, which takes time for each variant that it has. So those that
// begin on the same machine share a process that has loaded it, and run in copies of that process.
// Whatever looks at all that is loaded, as each op of a script does, takes time for each variant,
// too: some of them share a copy that has let go of the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "harness/checkpoint/checkpoint.h"
#include "harness/machine/machine_options.h"
#include "harness/process/worker_pool.h"
#include "harness/run/variant_process.h"

namespace ohm::engine {

class LiveBoard;

/// One run of a variant.
struct VariantTask {
  std::string variant;
  MachineOptions machine;
  VariantFiles files;
  Recording recording = Recording::figures;
  LiveBoard* live_board = nullptr;  ///< nullptr: what it allocates is not shown
  std::string shown_as;             ///< on the board
};

class VariantWorkers {
 public:
  /// All that there can be, whether they are submitted or not: the same here and in the workers.
  struct Tasks {
    std::size_t count;
    std::function<VariantTask(std::size_t number)> at;
    /// In a worker that needs no other tasks than those it has: frees what at() reads.
    std::function<void()> forget;
  };

  /// Loader, pool and checkpoint outlive this, and this its last task. `order` is the pool's.
  /// Tasks that the checkpoint knows are not run again; nullptr: none is known, or kept.
  VariantWorkers(std::int64_t order, const ScenarioLoader& loader, LoadRequest request, Tasks tasks,
                 WorkerPool& pool, Checkpoint* checkpoint);
  VariantWorkers(const VariantWorkers&) = delete;
  VariantWorkers& operator=(const VariantWorkers&) = delete;

  /// The message is the encoded MeasuredVariant.
  void submit(std::size_t task, WorkDone done);

 private:
  static constexpr std::size_t kMostTogether = 128;

  struct Waiting {
    std::size_t task;
    WorkDone done;
  };
  /// What tasks have in common until they add GPUs.
  struct Loading {
    MachineOptions machine;
    std::shared_ptr<WorkOrigin> origin;  ///< null: it was not begun
  };
  /// Tasks that follow each other, at most kMostTogether. The next group begins when all tasks of
  /// the one before have started.
  struct Group {
    std::size_t first_task;
    Loading* loading;
    std::shared_ptr<WorkOrigin> origin;  ///< null: it has no process
    std::size_t running = 0;             ///< tasks that go on in copies of it
    std::vector<Waiting> waiting;
  };

  class Program;

  WorkDone kept(const std::string& piece, WorkDone done) const;
  Loading& loading_of(const MachineOptions& machine);
  Group& group_of(std::size_t task, Loading& loading);
  std::vector<VariantTask> tasks_from(std::size_t first_task) const;
  void begin_next();
  void begin(Group& group);
  std::shared_ptr<WorkOrigin> loader_for(const MachineOptions& machine) const;
  void start(const std::shared_ptr<WorkOrigin>& origin);
  void submit_copy(Group& group, Waiting waiting);
  void submit_alone(Waiting waiting);

  std::int64_t order_;
  const ScenarioLoader& loader_;
  LoadRequest request_;
  Tasks tasks_;
  WorkerPool& pool_;
  Checkpoint* checkpoint_;
  std::list<Loading> loadings_;
  std::list<Group> groups_;
  bool is_beginning_ = false;  ///< one of them
};

}  // namespace ohm::engine
