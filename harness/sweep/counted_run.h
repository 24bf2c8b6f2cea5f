// A run of a workload in which nothing fails: the requests that there are to fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "reports/model/sweep_result.h"

namespace ohm::engine {

/// The calls of a run, in their order. Arrays of plain numbers, for there may be many.
struct RecordedCalls {
  std::vector<std::uint64_t> points;
  std::vector<std::uint64_t> kinds;  ///< hashes of level, device, category and op: any line
  std::vector<std::uint64_t> bytes;
  /// Not 0: made by the thread that a copy of the process has.
  std::vector<std::uint8_t> can_be_copied;

  std::size_t size() const { return points.size(); }
  friend bool operator==(const RecordedCalls&, const RecordedCalls&) = default;
};

/// Each workload keeps more of it in a struct of its own, which begins with this.
struct CountedRun {
  RecordedCalls calls;
  std::vector<SweepPoint> points;     ///< in the order in which they are first passed
  std::vector<std::uint64_t> hashes;  ///< of the points
  std::int64_t peak_bytes = 0;        ///< allocated, on one GPU
  double seconds = 0;
  /// False: each call can fail in one form alone.
  bool has_forms = true;
  std::size_t left_out = 0;  ///< failures that were not chosen, and are none of `calls`

  std::size_t point_index(std::size_t call) const;
  const SweepPoint& point_of(std::size_t call) const { return points[point_index(call)]; }
};

/// For each call how often its point has been passed by then, from 1.
std::vector<std::uint64_t> occurrences(const RecordedCalls& calls);

/// The first call of which two runs make another one, or which only one of them makes; the number
/// of calls where they make the same.
std::size_t first_difference(const RecordedCalls& a, const RecordedCalls& b);

/// Of all calls and their bytes: equal for runs without a difference.
std::uint64_t hash_of(const RecordedCalls& calls);

}  // namespace ohm::engine
