// The ranks of a distributed program, in one process: threads that take turns.
//
// One rank runs at a time; it runs until it waits for others or ends, then the next one in rank
// order goes on. The same program therefore does the same in the same order on every run. Each rank
// has its own ExecutionState and, by default, its own GPU.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/tensor/context.h"

namespace ohm::parallel {

class RankSchedule {
 public:
  /// What a rank cannot go on without.
  struct Wait {
    std::string_view call;  ///< that it waits in: "all_reduce"
    std::function<bool()> is_over;
    std::function<std::vector<int>()> missing;  ///< the ranks that have to do something before
  };

  RankSchedule(int world_size, Context& context);
  RankSchedule(const RankSchedule&) = delete;
  RankSchedule& operator=(const RankSchedule&) = delete;

  /// Runs body(0) … body(world_size − 1) to their ends, and rethrows what the first failing rank
  /// threw.
  void run(const std::function<void(int rank)>& body);

  int world_size() const { return static_cast<int>(ranks_.size()); }
  /// The running one.
  int rank() const { return running_; }

  // Of the running rank. Both let the other ranks go on first.

  /// Returns once the wait is over. Throws std::runtime_error where it cannot end: a rank failed,
  /// or one that is missing has ended, or each rank waits for another one.
  void wait(const Wait& wait);
  /// Returns once the wait is over, or no other rank can go on.
  void let_others_go_on(const Wait& wait);
  /// Throws std::runtime_error when a rank has failed, or one of `ranks` has ended.
  void require_running(std::string_view call, const std::vector<int>& ranks) const;

  /// A stream for one more group of ranks, or for two of them; after many, one of the first again.
  StreamId next_stream();

 private:
  enum class Phase : std::uint8_t { ready, letting_others, waiting, ended };
  struct Rank {
    Phase phase = Phase::ready;
    const Wait* wait = nullptr;
    ExecutionState state;
    std::exception_ptr error;
  };

  void rank_main(int rank, const std::function<void(int rank)>& body);
  void pause(Phase phase, const Wait& wait);
  void wait_for_turn(int rank);
  void pass_turn_from(int rank);
  bool can_go_on(const Rank& rank, Phase most_patient) const;
  std::string deadlock(std::string_view call) const;

  Rank& running() { return ranks_[static_cast<std::size_t>(running_)]; }

  Context& context_;
  std::vector<Rank> ranks_;
  int running_ = 0;
  int first_failed_ = -1;
  StreamId streams_ = 0;
  std::mutex mutex_;
  std::condition_variable turn_changed_;
};

/// "rank 1", "ranks 0 and 2", "ranks 0, 1 and 2".
std::string names_of_ranks(const std::vector<int>& ranks);

}  // namespace ohm::parallel
