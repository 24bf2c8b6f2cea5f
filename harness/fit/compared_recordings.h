// Recordings of one program at different values, told apart from those of different programs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/fit/matched_requests.h"
#include "harness/fit/varied_recording.h"

namespace ohm::engine {

class ComparedRecordings {
 public:
  /// One file for each value. Throws RecordingError that names the files and what differs.
  ComparedRecordings(const std::vector<std::string>& files, const std::vector<std::int64_t>& values,
                     const std::string& rules);

  /// By ascending value.
  const std::vector<VariedRecording>& recordings() const { return recordings_; }
  const VariedRecording& largest() const { return recordings_.back(); }
  std::size_t gpus() const { return matched_.size(); }
  const MatchedRequests& matched(std::size_t gpu) const { return matched_[gpu]; }
  const RecordedGpu& at(std::size_t recording, std::size_t gpu) const {
    return recordings_[recording].gpus[gpu];
  }
  const RuleSet& rules() const { return rules_; }

  /// Whether every recording asks for the same, in the same order.
  bool are_one_sequence() const;

 private:
  void read(const std::vector<std::string>& files, const std::vector<std::int64_t>& values);
  void refuse_other_gpus() const;
  void refuse_other_origin(const VariedRecording& recording) const;
  void refuse_other_beginning(std::size_t gpu) const;
  void refuse_other_program(std::size_t gpu) const;
  void forget_steps_of_some(std::size_t gpu);

  RuleSet rules_;
  CommonStacks stacks_;
  std::vector<VariedRecording> recordings_;
  std::vector<MatchedRequests> matched_;  ///< of each GPU
};

}  // namespace ohm::engine
