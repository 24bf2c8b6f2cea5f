#include "harness/machine/peak_tracking_adaptor.h"

#include <algorithm>
#include <cstddef>

namespace ohm::engine {

namespace {

const Stat& all_pools(const PooledStat& stat) {
  return stat[static_cast<std::size_t>(StatPool::all)];
}

}  // namespace

Allocation PeakTrackingAdaptor::allocate(const AllocationRequest& request) {
  const Allocation allocation = upstream().allocate(request);
  if (on_allocation_) on_allocation_();
  return allocation;
}

TrackedFigures PeakTrackingAdaptor::figures() const {
  const MemoryStats& stats = upstream().stats();
  TrackedFigures figures = before_reset_;
  const std::int64_t peak = all_pools(stats.allocated_bytes).peak;
  if (peak > figures.peak_allocated_bytes) {
    figures.peak_allocated_bytes = peak;
    figures.peak_by_category = upstream().peak_bytes_by_category();
  }
  figures.peak_reserved_bytes =
      std::max(figures.peak_reserved_bytes, all_pools(stats.reserved_bytes).peak);
  figures.num_alloc_retries += stats.num_alloc_retries;
  figures.num_device_alloc += stats.num_device_alloc;
  return figures;
}

void PeakTrackingAdaptor::reset_peak_stats() {
  const TrackedFigures now = figures();
  before_reset_.peak_allocated_bytes = now.peak_allocated_bytes;
  before_reset_.peak_reserved_bytes = now.peak_reserved_bytes;
  before_reset_.peak_by_category = now.peak_by_category;
  upstream().reset_peak_stats();
}

void PeakTrackingAdaptor::reset_accumulated_stats() {
  const std::int64_t retries_before = upstream().stats().num_alloc_retries;
  const std::int64_t allocs_before = upstream().stats().num_device_alloc;
  upstream().reset_accumulated_stats();
  before_reset_.num_alloc_retries += retries_before - upstream().stats().num_alloc_retries;
  before_reset_.num_device_alloc += allocs_before - upstream().stats().num_device_alloc;
}

}  // namespace ohm::engine
