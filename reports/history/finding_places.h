// The blocks that show a finding, summed by what tables say of where they were made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reports/model/finding_result.h"
#include "reports/model/memory_history.h"

namespace ohm::reports {

/// A finding shows at most so many lines.
inline constexpr std::size_t kMostEvidence = 5;

class FindingPlaces {
 public:
  void add(const HistoryBlock& block);

  std::int64_t bytes() const { return bytes_; }

  /// Ascending.
  std::vector<std::uint32_t> sites() const;

  /// Different lines that made it.
  std::size_t lines(const MemoryHistory& history) const;
  /// Different ops of them, of whichever module.
  std::size_t ops(const MemoryHistory& history) const;

  /// The largest first, at most kMostEvidence.
  std::vector<FindingEvidence> evidence(const MemoryHistory& history) const;

  /// ", all called from train.py:30 in validate,": the innermost line of the program's own that all
  /// of it goes through, to be put in between. Empty: there is none, or it is the line where all of
  /// it was made.
  std::string common_caller(const MemoryHistory& history) const;

 private:
  std::map<std::uint32_t, FindingEvidence> places_;  ///< by site
  std::int64_t bytes_ = 0;
};

}  // namespace ohm::reports
