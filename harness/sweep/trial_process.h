// A process for trials: forked from a run that goes on, or at the beginning of one.
//
// Note [Fork at the fault]
// Instead of running a program again for every failure, it is run once: at each call that is to
// fail, a raw fork (libc's would give the child another thread identity) makes a copy of the whole
// process, virtual GPUs included; the copy gets the failure and runs on to its verdict, the
// original waits and goes on to the next call. A process with several threads (the ranks of a
// distributed program) cannot be copied: such a failure gets a run of its own from the start. A
// copy that can goes back after its verdict, and on to the next calls: see Note [Back instead of a
// copy]. It goes back to the call that was its first, or to a later one, once the way from there to
// the next call that fails has cost as much as another image does.
//
// Note [In turn]
// Most of what a copy costs is the kernel's work for it, page by page: as much as a few hundred
// requests without values. As long as the calls before a failure take less than that, one process
// makes trial after trial from the start, each on a machine of its own. It makes none after one
// whose verdict is not good, for what that left could show in the next.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

namespace ohm::engine {

struct TrialLimits {
  double cpu_seconds = 2;    ///< of the child's own work
  double wall_seconds = 60;  ///< for a child that waits for something
};

/// No limits.
constexpr TrialLimits kBetweenTrials = {0, 0};

class TrialProcess {
 public:
  TrialProcess();
  ~TrialProcess();
  TrialProcess(const TrialProcess&) = delete;
  TrialProcess& operator=(const TrialProcess&) = delete;

  /// Forks. True in the child, which ends with this process, or when it exceeds a limit. Throws
  /// std::runtime_error when there can be no child.
  bool fork_child(const TrialLimits& limits);

  /// In the child: another trial begins, with its own limits; without any: none does.
  static void renew(const TrialLimits& limits);

  enum class End { left, crashed, hung };
  struct Ended {
    End end = End::left;
    std::vector<std::string> messages;  ///< all that were posted
    std::string how;                    ///< with End::crashed, of what it died
  };
  /// In the parent: waits for the child's end. Throws std::runtime_error where the child was killed
  /// with SIGKILL: no trial does that to itself, so that it is not a verdict.
  Ended wait();

  /// In the child: the parent gets this when it has waited. A message that is alone is cut where
  /// it is too long; one that there is no room for any more ends the process.
  void post(const std::string& message);
  [[noreturn]] void leave();
  /// In the child: what was posted, without so many of the first.
  std::vector<std::string> messages_after(std::size_t count) const;

  /// Whether this thread is alone in its process, so that it can be forked.
  static bool can_fork();

 private:
  struct Mailbox;

  Mailbox* mailbox_;  ///< shared with the child
  pid_t child_ = -1;
};

}  // namespace ohm::engine
