// Work in processes of its own: a crash, an abort or an endless loop ends one piece of work.
//
// Each piece runs in a fork of this process, which has to be single-threaded, or of an origin that
// it has in common with others, and sends back one message. Its stdout and stderr are caught; it
// dies with this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "harness/process/interrupt.h"
#include "harness/process/work_origin.h"
#include "harness/process/work_result.h"
#include "harness/process/worker_process.h"

namespace ohm::engine {

struct WorkerOptions {
  int jobs = 1;                ///< processes at once
  double timeout_seconds = 0;  ///< for each; 0: none
  double wake_seconds = 0;     ///< `keep_going` is asked at least this often; 0: after news alone
};

class WorkerPool {
 public:
  using Work = engine::Work;
  /// May submit more.
  using Done = WorkDone;

  explicit WorkerPool(const WorkerOptions& options);
  /// Kills what still runs.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Work of a smaller `order` starts first; equal ones in the order of submission.
  void submit(std::int64_t order, Work work, Done done);
  /// Work that has limits of its own: it may take longer than `timeout_seconds`.
  void submit_untimed(std::int64_t order, Work work, Done done);

  /// Does the beginning of such work, which counts as no piece of it; `done` is told when copies
  /// can be made, or why not.
  void start(std::int64_t order, std::shared_ptr<WorkOrigin> origin, Done done);
  /// Work that goes on in a copy of the origin. Pre-condition: origin->has_begun().
  void submit_copy(std::int64_t order, std::shared_ptr<WorkOrigin> origin, std::string request,
                   Done done);

  /// Until nothing is left, or `keep_going`, asked now and after every news, says no; then what
  /// runs is killed and what waits is dropped, with no error message. kEndingSignals end all work
  /// as interrupted; as long as the pool lives they do nothing else.
  void run(const std::function<bool()>& keep_going);

  /// Pieces of work, so far.
  std::size_t submitted() const { return submitted_; }
  std::size_t finished() const { return finished_; }

 private:
  struct Waiting {
    StartProcess start;
    Done done;
    double timeout_seconds = 0;
  };

  void add(std::int64_t order, StartProcess start, Done done, double timeout_seconds);
  StartProcess fork_for(Work work) const;
  void start_next();
  void wait_for_news();
  void collect_finished();
  void kill_overdue();
  void end_running();
  void interrupt_all();
  void drop_all();
  bool room_for_another() const;

  WorkerOptions options_;
  InterruptGuard interrupts_;
  std::multimap<std::int64_t, Waiting> waiting_;
  std::list<std::unique_ptr<WorkerProcess>> running_;
  std::size_t submitted_ = 0;
  std::size_t finished_ = 0;
};

}  // namespace ohm::engine
