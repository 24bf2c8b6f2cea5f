// The folder of work that a job array does: what is submitted, what came back.
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
//
// Where cards of several types each do all of the shards, those of a type are in folders of its
// own (reports/a100/00001.json), and merged-a100.json is the report of the type, unless one report
// has what all of them found.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/checkpoint/checkpoint.h"

namespace ohm::engine {

/// A command whose shards the tasks are.
struct ArrayWork {
  std::string folder;                ///< that this machine and the nodes share
  std::string program;               ///< the path of ohm, on the nodes too
  std::vector<std::string> command;  ///< arguments of all shards alike
  std::vector<std::string> started;  ///< a command that it starts, after `--`; empty: none
  bool takes_jobs = true;            ///< --jobs, which each node has its own number of
  std::size_t shards = 0;
  /// Slurm's names of cards, each of which does all of the shards; empty: any machine does them.
  std::vector<std::string> card_types;
  bool joins_card_types = false;  ///< one report has what all of them found
  /// What the shard with this number, from 1, depends on; of 0: all of them.
  std::function<CheckpointedWork(std::size_t shard)> described;
};

/// The folder of an array of which `known` is what a shard knows; nullopt: it is none.
std::optional<std::string> array_folder_of(const std::string& known);

/// A shard, on a card of one type.
struct ArrayPiece {
  std::size_t card_type = 0;  ///< its place among the types; 0 also where there are none
  std::size_t shard = 1;      ///< from 1

  bool operator<(const ArrayPiece& other) const {
    return card_type != other.card_type ? card_type < other.card_type : shard < other.shard;
  }
};

/// Shards that make one report.
struct ArrayMerge {
  std::string card_type;             ///< empty: of all of them
  std::vector<std::string> reports;  ///< the paths of the folders that they are in
  std::string merged;                ///< the path of the report
};

class ArrayFolder {
 public:
  /// Makes what is not there yet. Throws std::invalid_argument: the folder cannot be written.
  explicit ArrayFolder(const ArrayWork& work);

  std::string work_path() const { return path_of("work"); }
  std::string shard_script() const { return path_of("shard.sh"); }
  std::string merge_script() const { return path_of("merge.sh"); }
  std::string log_path(const ArrayPiece& piece) const;
  std::string known_path(const ArrayPiece& piece) const;
  /// What stands before the names of a type's files: "a100/", or nothing.
  std::string prefix_of(std::size_t card_type) const;

  /// How often all shards are done: once, or once for each type.
  std::size_t groups() const { return card_types_.empty() ? 1 : card_types_.size(); }
  /// All of them, by type.
  const std::vector<ArrayPiece>& pieces() const { return pieces_; }
  std::vector<ArrayMerge> merges() const;

  /// Those with a report.
  std::set<ArrayPiece> finished() const;
  /// Of its last task; nullopt: it did not come to say it.
  std::optional<int> exit_code(const ArrayPiece& piece) const;
  /// The last lines that its tasks printed, or that there are none.
  std::string log_end(const ArrayPiece& piece) const;
  /// Before a shard is submitted again: what its last task said is no news.
  void forget_end(const ArrayPiece& piece) const;

 private:
  std::string path_of(const std::string& name) const { return folder_ + "/" + name; }
  std::string path_in(const std::string& part, const ArrayPiece& piece) const;
  void write_scripts(const ArrayWork& work) const;
  void make_checkpoints(const ArrayWork& work) const;

  std::string folder_;
  std::vector<std::string> card_types_;
  bool joins_card_types_;
  std::vector<ArrayPiece> pieces_;
};

}  // namespace ohm::engine
