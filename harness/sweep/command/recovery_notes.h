// What recoveries did otherwise than the run without faults, where that is no verdict.
//
// A program that has caught an out-of-memory error and ended well may have done its work again, or
// have left it out. What it does not print any more, and asks for no more, tell them apart no
// better than a guess: a good program says "batch 32" instead of "batch 64", and one that goes on
// with its host's memory asks for less. And what is alive when a failed request is made again, and
// was not when it failed, is the failed attempt more often than not: on a card that is full there
// is no room beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/sweep/command/failing_memory.h"
#include "harness/sweep/trial.h"

namespace ohm::engine {

class RecoveryNotes {
 public:
  /// Of a program that ends so without faults.
  explicit RecoveryNotes(const CommandOutcome& fault_free) : fault_free_(fault_free) {}

  /// The latest of each task counts.
  void add(std::size_t task, const std::string& plan, const CommandOutcome& outcome,
           const TrialVerdict& verdict);

  /// A sentence each.
  std::vector<std::string> texts() const;

 private:
  struct Recovery {
    std::string plan;
    std::optional<std::string> left_out;  ///< the first line that is printed without faults
    bool was_granted_less = false;
    std::int64_t more_when_again = 0;  ///< bytes
  };

  std::string of_work() const;
  std::string of_attempts() const;

  const CommandOutcome& fault_free_;
  std::map<std::size_t, Recovery> recoveries_;  ///< by task
};

}  // namespace ohm::engine
