// Faults of a command that each take a run of their own, in a copy of its folder: of its CUDA calls
// (device_faults.h), of its ranks (rank_faults.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/sweep/command/failing_memory.h"
#include "harness/sweep/command/fault_verdict.h"
#include "harness/sweep/command/faulted_run.h"
#include "harness/sweep/point_choice.h"

namespace ohm::engine {

struct FaultSweepOptions {
  FaultedCommand command;
  PointChoice points;
  std::function<void(const std::string& note)> on_note;
};

/// One fault on its way: a run with it, and what is tried after it.
struct FaultTrial {
  std::size_t task = 0;
  PlannedFault fault;
  std::unique_ptr<FaultedFolder> folder;  ///< null: it gets one when it starts
  bool is_restart = false;                ///< in the folder of another trial
  CommandOutcome outcome;
};

class CommandFaults : public FailingMemory {
 public:
  explicit CommandFaults(FaultSweepOptions options) : options_(std::move(options)) {}

  CountedCommand count() final;
  std::string sharing() const final { return {}; }
  bool changes_later_runs() const final { return false; }
  Uncopied uncopied() const final { return {}; }
  void fail_alone(const CountedCommand& counted, const std::vector<FaultTask>& tasks,
                  const OnEnd& on_end) final {
    fail(counted, tasks, on_end);
  }
  std::string rerun_command(const std::string& plan) const final;

 protected:
  const FaultSweepOptions& options() const { return options_; }
  /// Whether count() has ended before.
  bool is_counted() const { return is_counted_; }
  /// What every count has shown.
  ExpectedEnd expected(const CountedCommand& counted) const {
    return {counted.outcome, lines_, steps_};
  }

  /// Runs each of them with its fault; one that takes too long beside others once more, alone.
  void run_trials(std::vector<FaultTrial>& trials, double seconds, int jobs) const;
  /// Starts the command again in the folders of these trials, without a fault: how each ended.
  std::vector<std::shared_ptr<const CommandOutcome>> restarted(
      const std::vector<FaultTrial*>& trials, double seconds, int jobs) const;

  /// "; 12 faults left out; --points all tries them"; empty where none was.
  static std::string left_out_text(std::size_t left_out);
  /// A call that may fail, at the point of this number.
  static void add_call(std::uint64_t number, RecordedCalls& calls);

 private:
  /// What a run without faults is followed for.
  virtual PlannedFault planned_count() const { return {}; }
  /// The faults that such a run, which ended well, shows.
  virtual void take_count(const FaultedRun& run, CountedCommand& counted) = 0;
  /// Tells once how many there are, and how long they take.
  virtual void note_size(const CountedCommand& counted) const = 0;
  /// The option of `ohm exec` that takes a plan.
  virtual std::string option_of(const std::string& plan) const = 0;

  CommandEnd ended(const ChildCommand& command) const;

  FaultSweepOptions options_;
  CommandRunner runner_;
  std::string printed_;             ///< by the first count
  std::vector<std::string> lines_;  ///< that every count has printed
  int steps_ = 0;                   ///< of optimizers, in every count; 0: not known
  bool is_counted_ = false;
};

}  // namespace ohm::engine
