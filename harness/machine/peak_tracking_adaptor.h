// An adaptor that measures a device over a whole run, whatever the program does to the counters.
//
// It keeps the figures that the program resets: a peak does not go away because the program resets
// the statistics.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "allocator_shim/device/request_allocator_adaptor.h"

namespace ohm::engine {

/// Figures of the whole run.
struct TrackedFigures {
  std::int64_t peak_allocated_bytes = 0;
  std::int64_t peak_reserved_bytes = 0;
  CategoryBytes peak_by_category = {};  ///< of peak_allocated_bytes
  std::int64_t num_ooms = 0;            ///< injected ones included
  std::int64_t num_alloc_retries = 0;
  std::int64_t num_device_alloc = 0;
};

class PeakTrackingAdaptor final : public RequestAllocatorAdaptor {
 public:
  /// Called after every allocation that was served.
  using OnAllocation = std::function<void()>;

  /// `upstream` outlives the adaptor.
  explicit PeakTrackingAdaptor(RequestAllocator& upstream) : RequestAllocatorAdaptor(upstream) {}

  void on_allocation(OnAllocation callback) { on_allocation_ = std::move(callback); }

  /// Counts an error: the allocators behind it tell of theirs (FaultyAllocator).
  void note_out_of_memory() { ++before_reset_.num_ooms; }

  TrackedFigures figures() const;

  Allocation allocate(const AllocationRequest& request) override;
  void reset_peak_stats() override;
  void reset_accumulated_stats() override;

 private:
  OnAllocation on_allocation_;   ///< empty: none
  TrackedFigures before_reset_;  ///< what the statistics no longer say
};

}  // namespace ohm::engine
