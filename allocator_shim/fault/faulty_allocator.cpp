#include "allocator_shim/fault/faulty_allocator.h"

#include <utility>

namespace ohm {

Allocation FaultyAllocator::allocate(const AllocationRequest& request) {
  if (request.bytes > 0) {
    FaultCandidate candidate;
    candidate.device = device_;
    candidate.bytes = request.bytes;
    candidate.category = request.category;
    candidate.site = request.site;
    if (plan_.should_fail(candidate)) refuse(request);
  }
  const std::uint64_t faults_before = plan_.faults();
  try {
    return upstream().allocate(request);
  } catch (const OutOfMemory& error) {
    if (plan_.faults() == faults_before || error.report().injected) throw;
    OutOfMemoryReport report = error.report();
    report.injected = true;
    report.policy = plan_.text();
    throw OutOfMemory(std::move(report));
  }
}

void FaultyAllocator::refuse(const AllocationRequest& request) {
  ++refusals_;
  OutOfMemoryReport report = upstream().failure_report(request);
  report.injected = true;
  report.policy = plan_.text();
  if (events_ != nullptr) {
    MemoryEvent event;
    event.address = report.free_bytes;
    event.bytes = request.bytes;
    event.site = request.site;
    event.stream = request.stream;
    event.device = static_cast<std::int8_t>(device_);
    event.action = EventAction::oom;
    event.category = request.category;
    events_->add(event);
  }
  throw OutOfMemory(std::move(report));
}

const MemoryStats& FaultyAllocator::stats() const {
  if (refusals_ == 0) return upstream().stats();
  stats_ = upstream().stats();
  stats_.num_ooms += refusals_;
  return stats_;
}

void FaultyAllocator::reset_accumulated_stats() {
  upstream().reset_accumulated_stats();
  refusals_ = 0;
}

}  // namespace ohm
