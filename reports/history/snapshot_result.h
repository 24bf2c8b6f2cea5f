// A memory snapshot as a result, so that every report can show it and limits can be put on it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "allocator_shim/snapshot/snapshot.h"
#include "reports/model/run_result.h"

namespace ohm::reports {

/// The variant of a snapshot.
inline constexpr const char* kRecordedVariant = "recorded";

struct RecordedRun {
  RunResult result;
  /// Bytes allocated at the end of each step: one list for each device of the result.
  std::vector<std::vector<std::int64_t>> allocated_at_marks;
  /// Whether the history shows what made up the peaks: a part of one may not.
  bool has_breakdown = true;
  /// Of each device of the result: what there is more at the end of the step that grows most, and
  /// what is alive at the end of the record. Lines of the user's, the largest first.
  std::vector<std::vector<CauseLine>> grown;
  std::vector<std::vector<CauseLine>> left;
  bool is_cut = false;  ///< the oldest events were not kept: how many steps there were is not known
};

/// One scenario named after the file, with one variant. What the history does not show of the
/// beginning is found by undoing it from the end. Blocks have the sizes that the allocator gave
/// them (block_sizes.h).
///
/// Steps are those that annotations mark, else the passes of the program's outermost loop
/// (repeated_passes.h). Without steps the peak and the out-of-memory error are in step 0; so they
/// are where the oldest events were not kept (cut_history.h).
///
/// Categories that the record does not name are told by the names of the Python functions on the
/// stack. What the record shows of pitfalls is in `findings`.
RecordedRun recorded_run(const Snapshot& snapshot, const std::string& path);

RunResult snapshot_result(const Snapshot& snapshot, const std::string& path);

}  // namespace ohm::reports
