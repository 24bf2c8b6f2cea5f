// The memory of a device that is alive at an event, by the lines that asked for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "reports/history/history_builder.h"
#include "reports/history/recorded_sites.h"
#include "reports/model/memory_result.h"

namespace ohm::reports {

struct AliveMemory {
  std::vector<HolderResult> holders;  ///< largest first
  CategoryBytes by_category = {};
};

AliveMemory alive_at(const HistoryBuilder& builder, const RecordedSites& sites, std::size_t device,
                     std::uint32_t event);

}  // namespace ohm::reports
