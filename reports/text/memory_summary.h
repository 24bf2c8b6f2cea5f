// The table of torch.cuda.memory_summary(), as it stands in a log.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "reports/text/log_text.h"

namespace ohm::reports {

/// Bytes as far as the table's unit tells.
struct MemorySummaryRow {
  double current = 0;
  double peak = 0;
};

struct MemorySummary {
  int device = 0;
  std::int64_t ooms = 0;
  std::int64_t retries = 0;  ///< of cudaMalloc
  std::optional<MemorySummaryRow> allocated;
  std::optional<MemorySummaryRow> reserved;
  std::optional<MemorySummaryRow> non_releasable;  ///< free parts of segments in use
};

/// The last table of the log; nullopt: there is none, or not its allocated memory.
std::optional<MemorySummary> find_memory_summary(const std::vector<LogLine>& lines);

}  // namespace ohm::reports
