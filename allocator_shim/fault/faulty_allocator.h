// An allocator that refuses requests where a fault plan says so, as if the device were full.
#pragma once

#include <functional>
#include <utility>

#include "allocator_shim/device/request_allocator_adaptor.h"
#include "allocator_shim/fault/fault_source.h"
#include "allocator_shim/observe/event_record.h"

namespace ohm {

/// A refused request does not reach `upstream`; it throws an OutOfMemory with the figures and the
/// message of the moment, marked as injected, with the plan's text. It counts in num_ooms, as a
/// program would see it. A failure further down, of a request for which the plan made a call of the
/// device fail, is marked as injected too. Requests of 0 bytes are not counted: there is nothing to
/// refuse.
class FaultyAllocator final : public RequestAllocatorAdaptor {
 public:
  /// `upstream`, `faults` and `events` outlive this; `device` is the index that the faults know it
  /// by, -1 for the host; `events`, which may be nullptr, gets an `oom` for each refusal, marked as
  /// injected. The purpose of a request says at which level it is.
  FaultyAllocator(RequestAllocator& upstream, FaultSource& faults, int device,
                  EventSink* events = nullptr)
      : RequestAllocatorAdaptor(upstream), faults_(faults), device_(device), events_(events) {}

  /// Called before an error leaves allocate(), while all that was alive still is: by the time a
  /// caller catches it, unwinding has freed half of it. (To catch and throw again for this would
  /// take as long as the rest of a refusal.)
  using OnOutOfMemory = std::function<void(const OutOfMemoryReport& report)>;
  void on_out_of_memory(OnOutOfMemory callback) { on_out_of_memory_ = std::move(callback); }

  Allocation allocate(const AllocationRequest& request) override;
  const MemoryStats& stats() const override;
  void reset_accumulated_stats() override;

 private:
  FaultCandidate candidate_of(const AllocationRequest& request) const;
  Allocation serve(const AllocationRequest& request);
  /// Counts and reports a refusal. Thrown by allocate(), which has nothing to destroy: each frame
  /// that an error cleans up on its way costs as much as throwing it.
  OutOfMemory refusal(const AllocationRequest& request);
  void tell(const OutOfMemoryReport& report) const {
    if (on_out_of_memory_) on_out_of_memory_(report);
  }

  FaultSource& faults_;
  int device_;
  EventSink* events_;
  OnOutOfMemory on_out_of_memory_;
  std::int64_t refusals_ = 0;  ///< since the accumulated counters were reset
  mutable MemoryStats stats_;  ///< upstream's with the refusals
};

}  // namespace ohm
