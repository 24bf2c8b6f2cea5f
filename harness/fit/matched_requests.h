// Requests of several recordings of one program that are the same one at different values: by the
// stack that made them, the step, and their order among those of that stack in it. Where recordings
// have different numbers of them, as libraries choose other kernels at other sizes, the requests
// and frees around them that are matched tell which ones they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "harness/fit/size_law.h"
#include "harness/fit/varied_recording.h"

namespace ohm::engine {

/// The recordings, and which of their GPUs.
struct RecordingsOfGpu {
  std::span<const VariedRecording> recordings;  ///< by ascending value
  std::size_t gpu = 0;                          ///< index in VariedRecording::gpus

  const RecordedGpu& of(std::size_t recording) const { return recordings[recording].gpus[gpu]; }
};

/// Requests of one stack in one step, of which the recordings have different numbers.
struct UnmatchedRequests {
  std::uint32_t step = 0;           ///< 0: before the end of the first
  std::vector<std::size_t> counts;  ///< of each recording
  std::size_t in = 0;               ///< a recording that has some,
  std::uint32_t life = 0;           ///< and the first one there
};

class MatchedRequests {
 public:
  /// Lives that began before the recording must be the same ones everywhere.
  explicit MatchedRequests(const RecordingsOfGpu& recordings);

  static constexpr std::uint32_t kUnmatched = std::numeric_limits<std::uint32_t>::max();

  /// The law of a life of a recording; nullptr: there is no counterpart.
  const SizeLaw* law_of(std::size_t recording, std::uint32_t life) const {
    const std::uint32_t match = matches_[recording][life];
    return match == kUnmatched ? nullptr : &laws_[match];
  }
  const std::vector<SizeLaw>& laws() const { return laws_; }
  const std::vector<UnmatchedRequests>& unmatched() const { return unmatched_; }

  /// Of a recording, up to its end: requests, and their bytes.
  struct Part {
    std::size_t requests = 0;
    std::size_t bytes = 0;
  };
  const Part& compared(std::size_t recording) const { return compared_[recording]; }
  const Part& left_over(std::size_t recording) const { return left_over_[recording]; }

  /// Events up to which the recordings are compared: the end of the last step that all of them have
  /// where one has more of them than another, else all.
  std::size_t end(std::size_t recording) const { return ends_[recording]; }
  std::size_t steps() const { return steps_; }  ///< that are compared
  bool is_cut() const { return is_cut_; }

  /// Whether every recording asks and frees in the same order, as far as requests are matched.
  bool has_one_order() const { return has_one_order_; }

 private:
  void find_ends(const RecordingsOfGpu& recordings);
  void match(const RecordingsOfGpu& recordings);
  bool match_some(const RecordingsOfGpu& recordings);
  void add_part(const RecordingsOfGpu& recordings);
  std::vector<std::uint64_t> order_in(const RecordingsOfGpu& recordings,
                                      std::size_t recording) const;

  std::vector<std::vector<std::uint32_t>> matches_;
  std::vector<SizeLaw> laws_;
  std::vector<UnmatchedRequests> unmatched_;
  std::vector<Part> compared_;
  std::vector<Part> left_over_;
  std::vector<std::size_t> ends_;
  std::size_t steps_ = 0;
  bool is_cut_ = false;
  bool has_one_order_ = true;
};

}  // namespace ohm::engine
