// Faults that have a run of the command each, several runs at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "harness/exec/child_command.h"
#include "harness/sweep/command/failing_memory.h"

namespace ohm::engine {

/// A run in which one fault happens; the files that it needs live as long as this does.
class OwnRun {
 public:
  virtual ~OwnRun() = default;
  virtual ChildCommand command() const = 0;
  /// Once it has ended so.
  virtual CommandOutcome outcome(const CommandEnd& end) const = 0;
};

struct OwnRuns {
  std::vector<std::size_t> tasks;  ///< that have one
  int jobs = 1;                    ///< runs at a time
  std::function<std::unique_ptr<OwnRun>(std::size_t task)> make;
};

/// A run that takes too long beside others is made again, with none beside it. Throws as
/// CommandRunner::run_each() does.
void run_each(const CommandRunner& runner, const OwnRuns& runs, const FailingMemory::OnEnd& on_end);

}  // namespace ohm::engine
