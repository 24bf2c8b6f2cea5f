// The folder of work that an array of jobs does: what is submitted, what came back.
//
//   work           what the work is, and the jobs that were submitted (a checkpoint)
//   plan           what all shards have in common, as far as a command has something (a checkpoint)
//   shard.sh       what each task of the array runs
//   merge.sh       what the job that depends on the array runs
//   known/00001    what shard 1 knows, for a task that is started again (a checkpoint)
//   logs/00001     what its tasks had to say, if anything
//   reports/00001.json
//   ended/00001    the exit code of its last task
//   merged.json    the report of all shards
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/checkpoint/checkpoint.h"

namespace ohm::engine {

/// A command whose shards the tasks are.
struct ArrayWork {
  std::string folder;                ///< that this machine and the nodes share
  std::string program;               ///< the path of ohm, on the nodes too
  std::vector<std::string> command;  ///< arguments of all shards alike
  std::size_t shards = 0;
  /// What the shard with this number, from 1, depends on; of 0: all of them.
  std::function<CheckpointedWork(std::size_t shard)> described;
};

class ArrayFolder {
 public:
  /// Makes what is not there yet. Throws std::invalid_argument: the folder cannot be written.
  explicit ArrayFolder(const ArrayWork& work);

  std::string work_path() const { return path_of("work"); }
  std::string shard_script() const { return path_of("shard.sh"); }
  std::string merge_script() const { return path_of("merge.sh"); }
  std::string merged_path() const { return path_of("merged.json"); }
  std::string report_path(std::size_t shard) const;
  std::string log_path(std::size_t shard) const;
  std::string known_path(std::size_t shard) const;

  /// Of all shards, from 1; those with a report.
  std::vector<bool> finished() const;
  /// Of its last task; nullopt: it did not come to say it.
  std::optional<int> exit_code(std::size_t shard) const;
  /// The last lines that its tasks printed, or that there are none.
  std::string log_end(std::size_t shard) const;
  /// Before a shard is submitted again: what its last task said is no news.
  void forget_end(std::size_t shard) const;

 private:
  std::string path_of(const std::string& name) const { return folder_ + "/" + name; }
  void write_scripts(const ArrayWork& work) const;
  void make_checkpoints(const ArrayWork& work) const;

  std::string folder_;
  std::size_t shards_;
};

}  // namespace ohm::engine
