// An adaptor that measures a device over a whole run, whatever the program does to the counters.
//
// It sees every out-of-memory error at the moment it happens, when all that was alive still is: by
// the time a caller catches the error, unwinding has freed half of it. And it keeps the figures
// that the program resets: a peak does not go away because somebody resets the statistics.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "allocator_shim/device/request_allocator.h"

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

class AllocatorWitness final : public RequestAllocator {
 public:
  /// Called before the error goes on to the caller of allocate().
  using OnOutOfMemory = std::function<void(const OutOfMemoryReport& report)>;

  /// `upstream` outlives the witness.
  AllocatorWitness(RequestAllocator& upstream, OnOutOfMemory on_out_of_memory);

  WitnessedFigures figures() const;

  Allocation allocate(const AllocationRequest& request) override;
  void free(BlockHandle block) override { upstream_.free(block); }
  void record_stream(BlockHandle block, StreamId stream) override {
    upstream_.record_stream(block, stream);
  }
  void set_category(BlockHandle block, Category category) override {
    upstream_.set_category(block, category);
  }
  void empty_cache() override { upstream_.empty_cache(); }
  const MemoryStats& stats() const override { return upstream_.stats(); }
  void reset_peak_stats() override;
  void reset_accumulated_stats() override;
  DeviceMemoryInfo info() const override { return upstream_.info(); }
  CategoryBytes allocated_bytes_by_category() const override {
    return upstream_.allocated_bytes_by_category();
  }
  CategoryBytes peak_bytes_by_category() const override {
    return upstream_.peak_bytes_by_category();
  }
  std::vector<LiveBlock> live_blocks() const override { return upstream_.live_blocks(); }
  OutOfMemoryReport failure_report(const AllocationRequest& request) const override {
    return upstream_.failure_report(request);
  }

 private:
  RequestAllocator& upstream_;
  OnOutOfMemory on_out_of_memory_;
  WitnessedFigures before_reset_;  ///< what the statistics no longer say
};

}  // namespace ohm::engine
