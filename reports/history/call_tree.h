// The stacks of a snapshot as the tree of calls that a history has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "allocator_shim/observe/stack_table.h"
#include "reports/model/memory_history.h"
#include "reports/text/user_files.h"

namespace ohm::reports {

class CallTree {
 public:
  /// `files` must outlive the tree.
  CallTree(const StackTable& tables, const UserFiles& files) : tables_(tables), files_(files) {}

  /// The innermost call of this stack, 1 + its index; 0 of none.
  std::uint32_t of(StackId stack);

  /// What called it, so many calls further out; 0: none is so far.
  std::uint32_t caller(std::uint32_t call, std::size_t further_out) const;

  /// The calls and their lines go to `history`.
  void move_to(MemoryHistory& history);

 private:
  std::uint32_t line_of(FrameId frame);

  const StackTable& tables_;
  const UserFiles& files_;
  std::vector<HistoryLine> lines_;
  std::vector<HistoryCall> calls_;
  std::unordered_map<FrameId, std::uint32_t> line_ids_;
  std::unordered_map<std::uint64_t, std::uint32_t> call_ids_;  ///< by caller and line
};

/// The innermost line of the program's own that all of these calls go through, for which a call
/// stands as in a HistorySite; nullptr: there is none.
const HistoryLine* common_own_line(const MemoryHistory& history,
                                   const std::vector<std::uint32_t>& calls);

}  // namespace ohm::reports
