// Failures of the GPU under a command: each kind of error is injected once at each call site, in
// a run of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/sweep/command/call_sites.h"
#include "harness/sweep/command/command_faults.h"

namespace ohm::engine {

class DeviceFaults final : public CommandFaults {
 public:
  using CommandFaults::CommandFaults;

  void fail(const CountedCommand& counted, const std::vector<FaultTask>& tasks,
            const OnEnd& on_end) override;
  TrialVerdict verdict(const CountedCommand& counted, const CommandOutcome& outcome) const override;
  std::string plan_of(const FaultTask& task) const override;

 private:
  PlannedFault planned_count() const override;
  void take_count(const FaultedRun& run, CountedCommand& counted) override;
  void note_size(const CountedCommand& counted) const override;
  std::string option_of(const std::string& plan) const override;

  void take_first_calls(const TracedCalls& traced, const std::vector<SitePoint>& points);
  void fail_some(const CountedCommand& counted, std::vector<FaultTrial> trials,
                 const OnEnd& on_end);
  void note_not_reached() const;
  void restart(const CountedCommand& counted, std::vector<FaultTrial>& trials, double seconds);
  void kill_and_restart(const std::vector<FaultTrial*>& trials, double seconds) const;
  bool restarts_after_success(const CountedCommand& counted, double seconds);

  // Of the first count:
  std::vector<CallSite> sites_;
  std::vector<CallFault> faults_;  ///< by call
  CountedRun calls_;
  std::set<std::uint64_t> stable_;  ///< points that every count has passed
  std::size_t left_out_ = 0;
  std::size_t not_reached_ = 0;
  std::size_t kills_ = 0;  ///< runs that were tried with the process killed instead
  std::optional<bool> restarts_after_success_;  ///< nothing: not tried yet
};

}  // namespace ohm::engine
