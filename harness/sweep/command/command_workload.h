// A command as a workload, by one kind of its memory: a run is judged by how the command ended
// beside how it ends without faults. All work is done before count() and fail() return; both throw
// what FailingMemory throws.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/sweep/command/failing_memory.h"
#include "harness/sweep/command/folder_changes.h"
#include "harness/sweep/workload.h"

namespace ohm::engine {

struct CommandWorkloadOptions {
  std::vector<std::string> words;  ///< the command
  std::string check;               ///< empty: what the command computes is not compared
  bool in_scratch = false;
  std::vector<Waiver> waivers;
  /// What this program writes meanwhile, a file or a folder: no change that the command makes.
  std::string own_files;
  /// Told what is worth knowing before anything is failed.
  std::function<void(const std::string& note)> on_note;
};

class CommandWorkload final : public Workload {
 public:
  /// Both outlive it.
  CommandWorkload(const CommandWorkloadOptions& options, FailingMemory& memory);

  void count(OnCount on_end) override;
  std::string difference(const CountedRun& a, const CountedRun& b) const override;
  void join(CountedRun& counted, const CountedRun& again) const override;
  void fail(const CountedRun& counted, FaultBatch batch) override;
  std::string sharing() const override { return memory_.sharing(); }
  bool changes_later_runs() const override { return memory_.changes_later_runs(); }
  std::string plan_of(const CountedRun& /*counted*/, const FaultTask& task,
                      std::uint64_t /*occurrence*/) const override {
    return memory_.plan_of(task);
  }
  std::string rerun_command(const std::string& plan) const override {
    return memory_.rerun_command(plan);
  }
  const std::vector<Waiver>& waivers() const override { return options_.waivers; }
  void describe(SweptVariant& swept) const override;
  std::string piece() const override { return "command"; }

  /// Of the program, as far as a run has told it.
  const std::string& program() const { return program_; }

 private:
  std::optional<WorkloadError> error_of(const CountedCommand& counted) const;
  void take_first(const CountedCommand& counted, bool is_sound);
  void note_network(const CountedCommand& counted) const;
  void note_what_changed(const CountedCommand& counted);
  void note_not_computed(const CommandOutcome& outcome);
  void note_uncopied(std::size_t faults) const;
  TaskVerdict judged(const CountedCommand& counted, const FaultTask& task,
                     const CommandOutcome& outcome);

  static void take_place(const CommandOutcome& outcome, TrialVerdict& found);

  const CommandWorkloadOptions& options_;
  FailingMemory& memory_;
  FolderChanges changes_;  ///< since before the first run
  bool is_counted_ = false;
  bool shares_changed_files_ = false;
  std::string program_;
  std::string description_;
  bool is_checked_ = false;
  std::set<std::string> not_compared_;  ///< names that were told
};

}  // namespace ohm::engine
