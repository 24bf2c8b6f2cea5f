// Work in processes of its own: a crash, an abort or an endless loop ends one piece of work.
//
// Each piece runs in a fork of this process, which has to be single-threaded, and sends back one
// message. Its stdout and stderr are caught; it dies with this process.
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
#include "reports/model/exit_code.h"

namespace ohm::engine {

enum class WorkEnd : std::uint8_t {
  message,      ///< the whole message arrived
  crashed,      ///< a signal, an exception, or an exit before the message was whole
  timeout,      ///< killed after `timeout_seconds`
  interrupted,  ///< this process was told to end
};

struct WorkResult {
  WorkEnd end = WorkEnd::interrupted;
  std::string message;
  std::string output;        ///< what it wrote to stdout and stderr: the first kMaxOutput bytes
  std::string how_it_ended;  ///< of a crash: "killed by SIGSEGV (Segmentation fault)"
  double seconds = 0;        ///< wall time
};

/// Why a piece of work sent no message, of a sentence about it: "was killed by SIGSEGV (…)". Not
/// for one that did.
std::string why_without_message(const WorkResult& work, double timeout_seconds);

/// What the end of a piece of work means for the process: `passed` for a message.
ExitReason reason_of(WorkEnd end);

struct WorkerOptions {
  int jobs = 1;                ///< processes at once
  double timeout_seconds = 0;  ///< for each; 0: none
  double wake_seconds = 0;     ///< `keep_going` is asked at least this often; 0: after news alone
};

class WorkerPool {
 public:
  static constexpr std::size_t kMaxOutput = 64 * 1024;

  /// Runs in the new process; what it returns is the message. An exception is told as a crash.
  using Work = std::function<std::string()>;
  /// Runs here, and may submit more.
  using Done = std::function<void(WorkResult)>;

  explicit WorkerPool(const WorkerOptions& options);
  /// Kills what still runs.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Work of a smaller `order` starts first; equal ones in the order of submission.
  void submit(std::int64_t order, Work work, Done done);
  /// Work that has limits of its own: it may take longer than `timeout_seconds`.
  void submit_untimed(std::int64_t order, Work work, Done done);

  /// Until nothing is left, or `keep_going`, asked now and after every news, says no; then what
  /// runs is killed and what waits is dropped, without a word. SIGINT, SIGTERM and SIGHUP end all
  /// work as interrupted; as long as the pool lives they do nothing else.
  void run(const std::function<bool()>& keep_going);

  /// Pieces of work, so far.
  std::size_t submitted() const { return submitted_; }
  std::size_t finished() const { return finished_; }

 private:
  struct Process;
  struct Waiting {
    Work work;
    Done done;
    double timeout_seconds = 0;
  };

  void add(std::int64_t order, Waiting waiting);
  void start_next();
  void wait_for_news();
  void collect_finished();
  void kill_overdue();
  void interrupt_all();
  void drop_all();
  bool room_for_another() const;

  WorkerOptions options_;
  InterruptGuard interrupts_;
  std::multimap<std::int64_t, Waiting> waiting_;
  std::list<std::unique_ptr<Process>> running_;
  std::size_t submitted_ = 0;
  std::size_t finished_ = 0;
};

}  // namespace ohm::engine
