// A trial: one run of a variant within a sweep, and the verdict on it.
//
// A trial is a process: it loads the scenario on a fresh machine, runs the variant with calls
// failing as it is told, and then looks at what is left. The fault-free run is a trial in which
// nothing fails; every other one is judged against it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "harness/judge/measured_variant.h"
#include "harness/machine/machine.h"
#include "harness/machine/unmeasured_run.h"
#include "harness/scenario/scenario_program.h"
#include "harness/sweep/call_recorder.h"
#include "harness/sweep/counted_run.h"
#include "harness/sweep/end_state.h"
#include "harness/sweep/partial_step_detector.h"
#include "reports/model/sweep_result.h"
#include "runtime/tensor/context.h"

namespace ohm::engine {

/// What is run, the same for all trials of a variant.
struct TrialSetup {
  LoadRequest request;
  std::string variant;
  MachineOptions machine;
  CallFilter filter;
};

/// How a variant ended.
struct TrialEnding {
  Outcome outcome = Outcome::not_run;
  bool is_injected = false;  ///< with outcome oom
  std::string message;       ///< of the error
  ReturnedValues values;
};

/// The fault-free run of a variant.
struct FaultFreeRun : CountedRun {
  TrialEnding ending;
  EndState left;
  std::string built_on;  ///< as of PartialStepDetector, after it has gone on
  // When it has gone on, as a trial does that is shown to be usable:
  TrialEnding later;
  EndMemory memory_later;
  ModuleCounts modules_later;
};

/// What one trial came to.
struct TrialVerdict {
  FaultVerdict verdict = FaultVerdict::not_reached;
  bool handled = false;
  bool benign = false;
  bool ended_at_failure = false;  ///< the program made no call after the one that failed
  std::string what;               ///< one sentence, of a verdict that is not good
  // Of a script, where the request failed, of a verdict that is not good:
  std::string interpreter;  ///< that is to blame; empty: the script is
  std::string file;         ///< its innermost line; empty: none, or no script
  int line = 0;
  std::vector<std::string> stack;  ///< "file:line in function", the outermost first
  std::string errors;  ///< the end of a command's standard error, of a verdict that is not good
  // Of a program that went on by itself:
  std::int64_t peak_bytes = 0;      ///< allocated, on one GPU
  std::int64_t repeated_calls = 0;  ///< that the fault-free run makes less
  /// Of what the program left, once it was shown to be usable; 0: it was not, or
  /// such a state cannot be told from others.
  std::uint64_t state_key = 0;
};

/// The verdict on a program that does not end.
TrialVerdict hung();

/// States that a program was shown to go on from: equal states need no second proof.
using UsableStates = std::unordered_set<std::uint64_t>;

class Trial {
 public:
  Trial(const ScenarioLoader& loader, const TrialSetup& setup, CallRecorder::Decide decide);
  ~Trial();
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  CallRecorder& recorder() { return recorder_; }

  /// Runs the variant to its end. Throws what is not an error of the script's.
  void run();

  /// After run(): what there is to compare others with. Goes on with the program as judged() does.
  FaultFreeRun fault_free();

  /// After run(): the verdict. Goes on with the program to see that it can.
  TrialVerdict judged(const FaultFreeRun& fault_free, const UsableStates& usable);

 private:
  TrialEnding ending_of(const std::function<ReturnedValues()>& body);
  std::int64_t peak_bytes() const;
  std::string broken_invariant();
  TrialEnding go_on();
  std::string unusable(const FaultFreeRun& fault_free, FaultVerdict so_far);
  static bool worsen(TrialVerdict& found, FaultVerdict verdict, const std::string& what);
  void judge_later(const FaultFreeRun& fault_free, TrialVerdict& found);
  bool judge_end_state(const FaultFreeRun& fault_free, const EndState& end, TrialVerdict& found);
  bool began_as(const FaultFreeRun& fault_free) const;
  std::string partial_step(const FaultFreeRun& fault_free) const;
  std::uint64_t state_key(const EndState& left, FaultVerdict so_far);
  TrialVerdict judged_ending(const FaultFreeRun& fault_free) const;
  TrialVerdict judged_values(const FaultFreeRun& fault_free) const;

  const TrialSetup& setup_;
  Machine machine_;
  ContextGuard context_;
  std::unique_ptr<ScenarioProgram> program_;
  CallRecorder recorder_;
  PartialStepDetector steps_;
  std::unique_ptr<UnmeasuredRun> run_;
  ProgramSettings settings_at_start_;
  TrialEnding ending_;
};

/// A trial in which nothing fails.
FaultFreeRun fault_free_run(const ScenarioLoader& loader, const TrialSetup& setup);

}  // namespace ohm::engine
