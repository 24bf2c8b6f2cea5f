// An allocator that passes everything on to another one: adaptors override what they change.
#pragma once

#include "allocator_shim/device/request_allocator.h"

namespace ohm {

class RequestAllocatorAdaptor : public RequestAllocator {
 public:
  /// `upstream` outlives this.
  explicit RequestAllocatorAdaptor(RequestAllocator& upstream) : upstream_(upstream) {}

  Allocation allocate(const AllocationRequest& request) override {
    return upstream_.allocate(request);
  }
  void free(BlockHandle block) override { upstream_.free(block); }
  void record_stream(BlockHandle block, StreamId stream) override {
    upstream_.record_stream(block, stream);
  }
  void set_category(BlockHandle block, Category category) override {
    upstream_.set_category(block, category);
  }
  void empty_cache() override { upstream_.empty_cache(); }
  const MemoryStats& stats() const override { return upstream_.stats(); }
  void reset_peak_stats() override { upstream_.reset_peak_stats(); }
  void reset_accumulated_stats() override { upstream_.reset_accumulated_stats(); }
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

 protected:
  RequestAllocator& upstream() { return upstream_; }
  const RequestAllocator& upstream() const { return upstream_; }

 private:
  RequestAllocator& upstream_;
};

}  // namespace ohm
