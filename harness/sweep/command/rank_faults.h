// Ranks of a job that are lost: at each of its steps one of them is killed, in a run of its own.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "harness/sweep/command/device_faults.h"

namespace ohm::engine {

class RankFaults final : public FailingMemory {
 public:
  explicit RankFaults(FaultSweepOptions options) : options_(std::move(options)) {}

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
  void take_steps(CountedCommand& counted);
  void note_size(const CountedCommand& counted) const;

  FaultSweepOptions options_;
  CommandRunner runner_;
  std::vector<LostRank> lost_;  ///< by call
  std::string printed_;
  std::vector<std::string> lines_;  ///< that every count has printed
  bool is_counted_ = false;
  std::size_t left_out_ = 0;
};

/// "1@3": rank 1 at its third step; "1@3c": at its third collective.
std::string text_of(const LostRank& lost);
/// Throws std::invalid_argument.
LostRank parse_lost_rank(const std::string& text);

}  // namespace ohm::engine
