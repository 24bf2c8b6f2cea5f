// Ranks of a job that are lost: at each of its steps one of them is killed, in a run of its own.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/sweep/command/command_faults.h"

namespace ohm::engine {

class RankFaults final : public CommandFaults {
 public:
  using CommandFaults::CommandFaults;

  void fail(const CountedCommand& counted, const std::vector<FaultTask>& tasks,
            const OnEnd& on_end) override;
  TrialVerdict verdict(const CountedCommand& counted, const CommandOutcome& outcome) const override;
  std::string plan_of(const FaultTask& task) const override;

 private:
  void take_count(const FaultedRun& run, CountedCommand& counted) override;
  void restart(const CountedCommand& counted, std::vector<FaultTrial>& trials, double seconds,
               int jobs) const;
  void note_size(const CountedCommand& counted) const override;
  std::string option_of(const std::string& plan) const override;

  std::vector<LostRank> lost_;  ///< by call
  std::size_t left_out_ = 0;
};

/// "1@3": rank 1 at its third step; "1@3c": at its third collective.
std::string text_of(const LostRank& lost);
/// Throws std::invalid_argument.
LostRank parse_lost_rank(const std::string& text);

}  // namespace ohm::engine
