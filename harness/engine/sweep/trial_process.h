// A process for one trial: forked from a run that goes on, or at the beginning of one.
//
// Note [Fork at the fault]
// Instead of running a program again for every failure, it is run once: at each call that is to
// fail, a raw fork (libc's would give the child another thread identity) makes a copy of the whole
// process, virtual GPUs included; the copy gets the failure and runs on to its verdict, the
// original waits and goes on to the next call. A process with several threads (the ranks of a
// distributed program) cannot be copied: such a failure gets a run of its own from the start.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

namespace ohm::engine {

struct TrialLimits {
  double cpu_seconds = 2;    ///< of the child's own work
  double wall_seconds = 60;  ///< for a child that waits for something
};

class TrialProcess {
 public:
  TrialProcess();
  ~TrialProcess();
  TrialProcess(const TrialProcess&) = delete;
  TrialProcess& operator=(const TrialProcess&) = delete;

  /// Forks. True in the child, which ends with this process, or when it exceeds a limit. Throws
  /// std::runtime_error when there can be no child.
  bool fork_child(const TrialLimits& limits);

  enum class End { reported, crashed, hung };
  /// In the parent: waits for the child's end. With End::crashed the message says of what it died.
  End wait(std::string& message);

  /// In the child: the parent gets this, and the process ends. Longer messages are cut.
  [[noreturn]] void report(const std::string& message);

  /// Whether this thread is alone in its process, so that it can be forked.
  static bool can_fork();

 private:
  struct Mailbox;

  Mailbox* mailbox_;  ///< shared with the child
  pid_t child_ = -1;
};

}  // namespace ohm::engine
