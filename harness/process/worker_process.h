// A worker process as its caller sees it: its pipes, its deadline and how it ended.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/process/interrupt.h"
#include "harness/process/work_result.h"
#include "harness/process/worker_child.h"

namespace ohm::engine {

/// Of what a worker writes to stdout and stderr, the first bytes are kept.
inline constexpr std::size_t kMaxWorkerOutput = std::size_t{64} * 1024;

/// The reading end of a pipe, and what came out of it: the first `most` bytes.
class PipeReader {
 public:
  explicit PipeReader(std::size_t most) : most_(most) {}
  ~PipeReader() { close(); }
  PipeReader(const PipeReader&) = delete;
  PipeReader& operator=(const PipeReader&) = delete;

  void open(int descriptor) { descriptor_ = descriptor; }
  /// Before it is read: this came out of it already.
  void begin_with(const std::string& text) { text_ = text; }
  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

  /// Reads what is there now; closes at the end of the file.
  void read_some();
  const std::string& text() const { return text_; }

 private:
  void close();

  std::size_t most_;
  int descriptor_ = -1;
  std::string text_;
};

struct StartedProcess {
  pid_t pid = -1;             ///< -1: it has ended already
  std::function<int()> wait;  ///< for its end; returns a status as waitpid() does. Once only
  std::string printed = {};   ///< by the process that it is a copy of
};

/// Starts a worker that writes to these; they are closed in this process afterwards.
using StartProcess = std::function<StartedProcess(const Outlets& outlets)>;

/// A child of this process that does one piece of work.
StartedProcess fork_worker(const Work& work, const Outlets& outlets,
                           const InterruptGuard& interrupts);

/// A process that does one piece of work.
class WorkerProcess {
 public:
  /// 0 seconds: no timeout.
  WorkerProcess(const StartProcess& start, WorkDone done_with_it, double timeout_seconds);

  bool is_finished() const { return !message.is_open() && !output.is_open(); }
  /// Seconds until it is overdue; nullopt without a timeout.
  std::optional<double> seconds_left() const;
  /// Asks it to end, so that it removes the files that it has not finished.
  void ask_to_end() const { send(SIGTERM); }
  /// Ends it: one that was asked and does not go by itself before `until` is made to.
  void end(std::chrono::steady_clock::time_point until) const;
  /// Waits for its end; once only.
  WorkResult reap();

  PipeReader message{SIZE_MAX};
  PipeReader output{kMaxWorkerOutput};
  bool is_overdue = false;
  WorkDone done;

 private:
  void send(int signal) const;

  StartedProcess process_;
  std::chrono::steady_clock::time_point started_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
};

/// Waits for the end of a child of this process; returns the status of waitpid().
int wait_for_child(pid_t child);

/// Asks all of them to end, then ends them: they clean up side by side.
void end_all(const std::vector<const WorkerProcess*>& processes);

}  // namespace ohm::engine
