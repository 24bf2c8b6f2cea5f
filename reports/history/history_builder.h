// A builder that turns events into a MemoryHistory.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "allocator_shim/observe/event_record.h"
#include "reports/history/live_memory.h"
#include "reports/model/memory_history.h"

namespace ohm::reports {

/// More buckets than any screen has columns, and still few enough for a file.
inline constexpr std::uint32_t kMaxBuckets = 8192;

class HistoryBuilder {
 public:
  /// Of so many devices and, in all, so many events.
  HistoryBuilder(std::size_t devices, std::uint32_t events);

  /// Events in their order, `time` from 0 below `events`; what is of no such device is passed over.
  void add(const MemoryEvent& event, std::uint32_t time);

  struct Totals {
    std::int64_t peak_allocated_bytes = 0;
    std::int64_t peak_reserved_bytes = 0;
    std::int64_t allocated_bytes = 0;  ///< now
    std::uint32_t peak_event = 0;
  };
  /// Up to now; before finish().
  Totals totals(std::size_t device) const;

  /// Calls visit(block) for each that counted as allocated after this event; before finish().
  template <class Visit>
  void for_each_at(std::size_t device, std::uint32_t event, Visit&& visit) const {
    for (const BlockSpan& block : devices_[device].memory.blocks()) {
      if (block.begin <= event && event < block.freed) visit(block);
    }
  }

  /// Names of devices, marks and sites are left to the caller: `site` of a block is its SiteId.
  MemoryHistory finish();

 private:
  struct Device {
    LiveMemory memory;
    DeviceMemoryHistory history;
    std::int64_t peak_bytes = 0;
    std::int64_t peak_reserved_bytes = 0;
  };

  void open_buckets(Device& device, std::size_t count) const;

  std::vector<Device> devices_;
  MemoryHistory history_;
};

}  // namespace ohm::reports
