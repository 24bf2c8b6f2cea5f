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
#include "harness/process/work_result.h"

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

/// A child of this process that does one piece of work.
class WorkerProcess {
 public:
  /// Forks. Of what the child prints `most_output` bytes are kept; 0 seconds: no timeout.
  WorkerProcess(const Work& work, WorkDone done_with_it, double timeout_seconds,
                std::size_t most_output, const InterruptGuard& interrupts);

  bool is_finished() const { return !message.is_open() && !output.is_open(); }
  /// Seconds until it is overdue; nullopt without a timeout.
  std::optional<double> seconds_left() const;
  /// Ends it: one that does not go by itself in a second is made to.
  void kill() const;
  /// Waits for its end; once only.
  WorkResult reap();

  PipeReader message{SIZE_MAX};
  PipeReader output;
  bool is_overdue = false;
  WorkDone done;

 private:
  static constexpr int kGraceMilliseconds = 10'000;

  void send(int signal) const;
  void wait_for_end(int milliseconds) const;

  pid_t pid_ = -1;
  std::chrono::steady_clock::time_point started_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
};

}  // namespace ohm::engine
