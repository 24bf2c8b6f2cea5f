// One run of a command whose CUDA calls, or whose ranks, are followed and may fail: in a copy of
// the folder, for checkpoints of one run would change the next.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/exec/child_command.h"
#include "harness/exec/record_folder.h"
#include "harness/exec/value_options.h"
#include "harness/sweep/command/failing_memory.h"
#include "harness/sweep/command/folder_changes.h"
#include "harness/sweep/command/scratch_folder.h"

namespace ohm::engine {

struct FaultedCommand {
  std::vector<std::string> words;
  std::string gpus;            ///< for parse_gpu_selection()
  int jobs = 1;                ///< runs at a time
  std::string check;           ///< an expression of Python, for __main__ at its end; empty: none
  double timeout_seconds = 0;  ///< of a run without faults; 0: none
  ValueOptions values;
};

/// A rank that is lost before it completes a step, once.
struct LostRank {
  std::string kind;  ///< of its steps: "step", "collective"
  int rank = 0;
  int step = 0;  ///< from 0
};

/// What happens in a run; nothing: it is followed alone.
struct PlannedFault {
  std::string plan;  ///< of a CUDA call; empty: none fails
  std::optional<LostRank> lost;
  bool lists_calls = false;
};

/// Makes the processes of a prepared command (gpu_command.h) bear the fault, and follows them by
/// files in `folder`, which outlives them.
void add_fault(ChildCommand& command, const std::string& folder, const PlannedFault& fault,
               const std::string& check = {});

/// A folder in which a command runs, and may be started again.
class FaultedFolder {
 public:
  FaultedFolder();
  const ScratchFolder& scratch() const { return scratch_; }
  /// Whether the command has left anything there.
  bool has_changed() const { return !changes_.since().empty(); }

 private:
  ScratchFolder scratch_;
  FolderChanges changes_;
};

class FaultedRun {
 public:
  /// `folder` outlives it. Throws as gpu_command().
  FaultedRun(const FaultedCommand& command, const FaultedFolder& folder, const PlannedFault& fault);
  /// Ends what is left running, also where the run was interrupted.
  ~FaultedRun();
  FaultedRun(const FaultedRun&) = delete;
  FaultedRun& operator=(const FaultedRun&) = delete;

  ChildCommand command(double timeout_seconds) const;
  /// Once it has ended so: ends what it has left running.
  CommandOutcome outcome(const CommandEnd& end) const;

  const std::string& folder() const { return folder_.path(); }
  std::string text(const std::string& name) const;

 private:
  RecordFolder folder_;
  ChildCommand child_;
};

/// A time limit for a run with a fault, beside one without.
double seconds_for_faulted(double fault_free_seconds);

}  // namespace ohm::engine
