// Host memory as a device: "cpu", counted like the others.
#pragma once

#include <cstddef>
#include <limits>

#include "allocator_shim/device/device_memory.h"
#include "allocator_shim/device/request_allocator.h"
#include "allocator_shim/device/value_budget.h"
#include "allocator_shim/observe/event_record.h"

namespace ohm {

struct HostMemoryOptions {
  /// What may be in use at once; beyond it a request is out of memory.
  std::size_t capacity_bytes = std::size_t{64} << 30U;
  ValueMode values = ValueMode::size_only;
  ValueBudget* budget = nullptr;  ///< of values, not owned; nullptr: as much as the host has
};

/// No pools and no cache: a block is what was asked for, as PyTorch's CPU allocator does it.
/// Addresses are synthetic, ascending and never reused. Every stream is the host's own.
/// Blocks that are still live when the allocator ends are given back then.
class HostMemoryAllocator final : public RequestAllocator {
 public:
  /// `events` may be nullptr and has to outlive the allocator.
  explicit HostMemoryAllocator(const HostMemoryOptions& options, EventSink* events = nullptr);
  ~HostMemoryAllocator() override;

  /// Throws HostRefusal, too.
  Allocation allocate(const AllocationRequest& request) override;
  void free(BlockHandle block) override;
  void record_stream(BlockHandle block, StreamId stream) override;
  void set_category(BlockHandle block, Category category) override;
  void empty_cache() override;
  const MemoryStats& stats() const override { return stats_; }
  void reset_peak_stats() override;
  void reset_accumulated_stats() override;
  DeviceMemoryInfo info() const override;
  CategoryBytes allocated_bytes_by_category() const override { return category_bytes_; }
  CategoryBytes peak_bytes_by_category() const override { return peak_category_bytes_; }
  std::vector<LiveBlock> live_blocks() const override;
  OutOfMemoryReport failure_report(const AllocationRequest& request) const override;

 private:
  struct Block;

  std::size_t used_bytes() const;
  /// nullptr: the host has none left.
  void* allocate_values(std::size_t bytes);
  void free_values(const Block& block);
  void count(const Block& block);
  void record(EventAction action, const Block& block);

  HostMemoryOptions options_;
  EventSink* events_;
  ValueShare values_;
  MemoryStats stats_;
  CategoryBytes category_bytes_ = {};
  CategoryBytes peak_category_bytes_ = {};
  DeviceAddress next_address_;
  Block* first_ = nullptr;  ///< live blocks, linked in address order
  Block* last_ = nullptr;
};

}  // namespace ohm
