// An index of the details that a snapshot has already.
#pragma once

#include <cstdint>

#include "allocator_shim/base/word_arena.h"
#include "allocator_shim/snapshot/snapshot.h"

namespace ohm {

/// Of one snapshot, and the only one that adds to its details.
class TraceDetails {
 public:
  /// What TraceEntry::detail can say.
  static constexpr std::uint32_t kMaxDetails = 1U << 28U;

  /// Gives the entry this detail. Throws std::length_error when the snapshot has kMaxDetails
  /// others.
  void set(Snapshot& snapshot, TraceEntry& entry, const TraceDetail& detail);

 private:
  RecordIndex index_;
  std::uint32_t last_ = 0;  ///< that was set
};

}  // namespace ohm
