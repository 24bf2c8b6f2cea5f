// Memory of a command whose faults are tried in copies of one run of it, where that is asked for
// and can be, and in runs of their own otherwise, several at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "harness/exec/child_command.h"
#include "harness/sweep/command/failing_memory.h"
#include "harness/sweep/fault_trials.h"

namespace ohm::engine {

/// A run in which one fault happens; the files that it needs live as long as this does.
class OwnRun {
 public:
  virtual ~OwnRun() = default;
  virtual ChildCommand command() const = 0;
  /// Once it has ended so.
  virtual CommandOutcome outcome(const CommandEnd& end) const = 0;
};

class CopiedMemory : public FailingMemory {
 public:
  /// `jobs`: copies, or runs, that are at work at a time.
  CopiedMemory(SweepEngine engine, int jobs) : engine_(engine), jobs_(jobs) {}

  void fail(const CountedCommand& counted, const std::vector<FaultTask>& tasks,
            const OnEnd& on_end) final;
  std::string sharing() const final;
  Uncopied uncopied() const final { return uncopied_; }
  void fail_alone(const CountedCommand& counted, const std::vector<FaultTask>& tasks,
                  const OnEnd& on_end) final;

 protected:
  /// Tasks that had no copy, and why the first of them had none.
  struct Left {
    std::vector<std::size_t> tasks;
    std::string why;
  };

  const CommandRunner& runner() const { return runner_; }

 private:
  /// Tries as many of the faults as it can.
  virtual Left fail_in_copies(const CountedCommand& counted, const std::vector<FaultTask>& tasks,
                              const OnEnd& on_end) = 0;
  virtual std::unique_ptr<OwnRun> own_run(const CountedCommand& counted,
                                          const FaultTask& task) const = 0;
  /// Whether runs at a time share no files.
  virtual bool has_own_folders() const { return false; }

  void fail_in_runs(const CountedCommand& counted, const std::vector<FaultTask>& tasks,
                    const std::vector<std::size_t>& which, int jobs, const OnEnd& on_end) const;

  SweepEngine engine_;
  int jobs_;
  CommandRunner runner_;
  Uncopied uncopied_;
};

}  // namespace ohm::engine
