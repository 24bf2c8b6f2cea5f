// One forked process: its pipes, its deadline and how it ended.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "harness/process/interrupt.h"
#include "harness/process/worker_pool.h"

namespace ohm::engine {

/// The reading end of a pipe, and what came out of it: the first `most` bytes.
class PipeReader {
 public:
  explicit PipeReader(std::size_t most) : most_(most) {}
  ~PipeReader() { close(); }
  PipeReader(const PipeReader&) = delete;
  PipeReader& operator=(const PipeReader&) = delete;

  void open(int descriptor) { descriptor_ = descriptor; }
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

struct WorkerPool::Process {
  Process(const Work& work, Done done_with_it, double timeout_seconds,
          const InterruptGuard& interrupts);

  bool is_finished() const { return !message.is_open() && !output.is_open(); }
  /// Seconds until it is overdue; nullopt without a timeout.
  std::optional<double> seconds_left() const;
  void kill() const;
  /// Waits for its end; once only.
  WorkResult reap();

  pid_t pid = -1;
  PipeReader message{SIZE_MAX};
  PipeReader output{WorkerPool::kMaxOutput};
  bool is_overdue = false;
  Done done;
  std::chrono::steady_clock::time_point started;
  std::optional<std::chrono::steady_clock::time_point> deadline;
};

}  // namespace ohm::engine
