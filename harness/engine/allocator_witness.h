// An adaptor that measures a device over a whole run, whatever the program does to the counters.
//
// It sees every out-of-memory error at the moment it happens, when all that was alive still is: by
// the time a caller catches the error, unwinding has freed half of it. And it keeps the figures
// that the program resets: a peak does not go away because somebody resets the statistics.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "allocator_shim/device/request_allocator_adaptor.h"

namespace ohm::engine {

/// Figures of the whole run.
struct WitnessedFigures {
  std::int64_t peak_allocated_bytes = 0;
  std::int64_t peak_reserved_bytes = 0;
  CategoryBytes peak_by_category = {};  ///< of peak_allocated_bytes
  std::int64_t num_ooms = 0;            ///< injected ones included
  std::int64_t num_alloc_retries = 0;
  std::int64_t num_device_alloc = 0;
};

class AllocatorWitness final : public RequestAllocatorAdaptor {
 public:
  /// Called before the error goes on to the caller of allocate().
  using OnOutOfMemory = std::function<void(const OutOfMemoryReport& report)>;
  /// Called after every allocation that was served.
  using OnAllocation = std::function<void()>;

  /// `upstream` outlives the witness.
  AllocatorWitness(RequestAllocator& upstream, OnOutOfMemory on_out_of_memory);

  void on_allocation(OnAllocation callback) { on_allocation_ = std::move(callback); }

  WitnessedFigures figures() const;

  Allocation allocate(const AllocationRequest& request) override;
  void reset_peak_stats() override;
  void reset_accumulated_stats() override;

 private:
  OnOutOfMemory on_out_of_memory_;
  OnAllocation on_allocation_;     ///< empty: nobody watches
  WitnessedFigures before_reset_;  ///< what the statistics no longer say
};

}  // namespace ohm::engine
