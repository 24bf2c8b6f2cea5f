// An allocator that refuses requests where a fault plan says so, as if the device were full.
#pragma once

#include "allocator_shim/device/request_allocator.h"
#include "allocator_shim/fault/fault_plan.h"
#include "allocator_shim/observe/event_record.h"

namespace ohm {

/// A refused request reaches nobody behind this; it throws an OutOfMemory with the figures and the
/// message of the moment, marked as injected, with the plan's text. It counts in num_ooms, as a
/// program would see it. A failure further down, of a request for which the plan made a call of the
/// device fail, is marked as injected too. Requests of 0 bytes are not counted: there is nothing to
/// refuse.
class FaultyAllocator final : public RequestAllocator {
 public:
  /// `upstream`, `plan` and `events` outlive this; `device` is the index that the plan knows it by;
  /// `events`, which may be nullptr, gets an `oom` for each refusal.
  FaultyAllocator(RequestAllocator& upstream, FaultPlan& plan, int device,
                  EventSink* events = nullptr)
      : upstream_(upstream), plan_(plan), device_(device), events_(events) {}

  Allocation allocate(const AllocationRequest& request) override;
  void free(BlockHandle block) override { upstream_.free(block); }
  void record_stream(BlockHandle block, StreamId stream) override {
    upstream_.record_stream(block, stream);
  }
  void set_category(BlockHandle block, Category category) override {
    upstream_.set_category(block, category);
  }
  void empty_cache() override { upstream_.empty_cache(); }
  const MemoryStats& stats() const override;
  void reset_peak_stats() override { upstream_.reset_peak_stats(); }
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
  [[noreturn]] void refuse(const AllocationRequest& request);

  RequestAllocator& upstream_;
  FaultPlan& plan_;
  int device_;
  EventSink* events_;
  std::int64_t refusals_ = 0;  ///< since the accumulated counters were reset
  mutable MemoryStats stats_;  ///< upstream's with the refusals
};

}  // namespace ohm
