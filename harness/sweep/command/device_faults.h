// Failures of the GPU under a command: each kind of error is injected once at each call site, in
// a run of its own.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/sweep/command/call_sites.h"
#include "harness/sweep/command/failing_memory.h"
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
  std::unique_ptr<FaultedFolder> folder;
  CommandOutcome outcome;
};

class DeviceFaults final : public FailingMemory {
 public:
  explicit DeviceFaults(FaultSweepOptions options) : options_(std::move(options)) {}

  CountedCommand count() override;
  void fail(const CountedCommand& counted, const std::vector<FaultTask>& tasks,
            const OnEnd& on_end) override;
  std::string sharing() const override { return {}; }
  bool changes_later_runs() const override { return false; }
  Uncopied uncopied() const override { return {}; }
  void fail_alone(const CountedCommand& counted, const std::vector<FaultTask>& tasks,
                  const OnEnd& on_end) override {
    fail(counted, tasks, on_end);
  }
  TrialVerdict verdict(const CountedCommand& counted, const CommandOutcome& outcome) const override;
  std::string plan_of(const FaultTask& task) const override;
  std::string rerun_command(const std::string& plan) const override;

 private:
  void take_calls(const FaultedRun& run, CountedCommand& counted);
  void take_first_calls(const TracedCalls& traced, const std::vector<SitePoint>& points);
  void note_size(const CountedCommand& counted) const;
  void fail_some(const CountedCommand& counted, std::vector<FaultTrial> trials,
                 const OnEnd& on_end);
  void note_not_reached() const;
  void restart(const CountedCommand& counted, std::vector<FaultTrial>& trials, double seconds);

  FaultSweepOptions options_;
  CommandRunner runner_;
  // Of the first count:
  std::vector<CallSite> sites_;
  std::vector<CallFault> faults_;  ///< by call
  CountedRun calls_;
  std::set<std::uint64_t> stable_;  ///< points that every count has passed
  std::vector<std::string> lines_;  ///< that every count has printed
  std::string printed_;
  bool is_counted_ = false;
  std::size_t left_out_ = 0;
  std::size_t not_reached_ = 0;
  std::size_t kills_ = 0;  ///< runs that were tried with the process killed instead
};

/// Runs each of them with its fault; one that takes too long beside others once more, alone.
void run_trials(const CommandRunner& runner, const FaultedCommand& command,
                std::vector<FaultTrial>& trials, double seconds);

/// Starts the command again in the folder of a trial, without a fault.
std::shared_ptr<const CommandOutcome> restarted(const CommandRunner& runner,
                                                const FaultedCommand& command,
                                                const FaultedFolder& folder, double seconds);

/// A run without faults, as far as it is the same for every kind of fault.
CountedCommand counted_command(const FaultedCommand& command, const CommandEnd& end, double seconds,
                               const FaultedRun& run);

}  // namespace ohm::engine
