// Work that Slurm does as a job array: submitted, followed, and submitted again where a task
// ended without a report. What is known is in the folder, so that another run goes on from there.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/checkpoint/checkpoint.h"
#include "harness/process/interrupt.h"
#include "harness/slurm/array_folder.h"
#include "harness/slurm/slurm_commands.h"

namespace ohm::engine {

/// How many shards are where; where there are types of cards, those of each count.
struct ArrayCounts {
  std::size_t shards = 0;
  std::size_t finished = 0;
  std::size_t running = 0;
  std::size_t waiting = 0;
  std::size_t submitted_again = 0;  ///< tasks, by this process
};

/// Told about an array while it is followed.
class ArrayObserver {
 public:
  virtual ~ArrayObserver() = default;
  virtual void on_submitted(const std::vector<SlurmJob>& jobs) = 0;
  virtual void on_counts(const ArrayCounts& counts) = 0;
  /// A task ended without a report, and its shard ("2", "2 on a100") is submitted again. `how` it
  /// ended, in Slurm's word; empty: Slurm keeps no accounts.
  virtual void on_again(const std::string& shard, const std::string& how) = 0;
};

struct ArrayOptions {
  std::vector<std::string> slurm_options;  ///< of sbatch, for the array and for the merge
  std::size_t most_tasks = 3;              ///< that a shard is given by one run, all together
  double most_seconds_between_looks = 15;
};

class ArrayRun {
 public:
  /// Throws std::invalid_argument where the folder is of other work, or in use.
  ArrayRun(const ArrayWork& work, ArrayOptions options, ArrayObserver& observer);

  /// Until all shards have their reports, or a signal arrived: 0, or the signal. Throws
  /// SlurmUnavailable and std::invalid_argument; what runs then goes on, and what is known stays.
  int follow();

  const ArrayFolder& folder() const { return folder_; }
  /// That wait or run still, the one that merges among them.
  std::vector<SlurmJob> jobs_at_work() const;

 private:
  struct Shard {
    SlurmTask task;                ///< the last one; an empty job: none
    std::size_t tasks = 0;         ///< that this run submitted
    std::size_t looks_absent = 0;  ///< since it was last seen in the queue
  };

  void take_known_jobs();
  bool look();
  std::map<SlurmTask, std::string> queue();
  void note(const std::map<SlurmTask, std::string>& queue, const std::set<ArrayPiece>& finished);
  std::vector<ArrayPiece> lost(const std::map<SlurmTask, std::string>& queue,
                               const std::set<ArrayPiece>& finished);
  void require_another_try(const ArrayPiece& piece) const;
  void submit(const std::vector<ArrayPiece>& pieces);
  void require_known_type(std::size_t card_type) const;
  void submit_array(const std::vector<ArrayPiece>& pieces, std::size_t offset);
  void submit_merge();
  std::string type_name(std::size_t card_type) const;
  std::vector<std::string> slurm_options_of(std::size_t card_type) const;
  std::string text_of(const ArrayPiece& piece, bool has_count) const;
  bool wait(const InterruptGuard& interrupts, double seconds) const;

  ArrayWork work_;
  ArrayOptions options_;
  ArrayObserver& observer_;
  ArrayFolder folder_;
  Checkpoint known_;
  std::map<ArrayPiece, Shard> shards_;
  std::vector<SlurmJob> jobs_;
  SlurmJob merge_job_;
  std::set<SlurmJob> queued_jobs_;  ///< of the shards, when squeue last answered
  ArrayCounts counts_;
  std::size_t silent_looks_ = 0;  ///< in a row: squeue did not answer
};

}  // namespace ohm::engine
