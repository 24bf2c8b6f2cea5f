// Two lists of allocator events, one of virtual GPUs and one of real cards: where they differ.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "allocator_shim/observe/event_record.h"
#include "allocator_shim/observe/site.h"
#include "reports/model/verification_result.h"

namespace ohm::engine {

/// What one machine did.
struct RecordedEvents {
  std::vector<MemoryEvent> events;
  std::unordered_map<SiteId, Site> sites;  ///< of the events

  const Site& site_of(std::size_t index) const { return sites.at(events[index].site); }
};

/// Adds to `found` the differences, and the workspaces of libraries, which are none. Addresses are
/// the driver's own and not compared.
void compare_events(const RecordedEvents& on_virtual, const RecordedEvents& on_card,
                    VerifiedVariant& found);

}  // namespace ohm::engine
