#include "allocator_shim/fault/faulty_allocator.h"

#include <utility>

namespace ohm {

namespace {

/// Tells the faults which request leads to calls of the device.
class ServedScope {
 public:
  ServedScope(FaultSource& faults, const FaultCandidate& request)
      : faults_(faults), previous_(std::exchange(faults.served, &request)) {}
  ~ServedScope() { faults_.served = previous_; }
  ServedScope(const ServedScope&) = delete;
  ServedScope& operator=(const ServedScope&) = delete;

 private:
  FaultSource& faults_;
  const FaultCandidate* previous_;
};

}  // namespace

FaultCandidate FaultyAllocator::candidate_of(const AllocationRequest& request) const {
  FaultCandidate candidate;
  candidate.device = device_;
  candidate.bytes = request.bytes;
  candidate.category = request.category;
  candidate.site = request.site;
  candidate.level = level_of(request.purpose);
  return candidate;
}

Allocation FaultyAllocator::allocate(const AllocationRequest& request) {
  if (faults_.is_idle() || request.bytes == 0) return serve(request);
  const FaultCandidate candidate = candidate_of(request);
  if (faults_.should_fail(candidate)) throw refusal(request);
  const ServedScope scope(faults_, candidate);
  return serve(request);
}

Allocation FaultyAllocator::serve(const AllocationRequest& request) {
  const std::uint64_t faults_before = faults_.faults();
  try {
    return upstream().allocate(request);
  } catch (const OutOfMemory& error) {
    if (faults_.faults() == faults_before || error.report().injected) {
      tell(error.report());
      throw;
    }
    OutOfMemoryReport report = error.report();
    report.injected = true;
    report.policy = faults_.text();
    tell(report);
    throw OutOfMemory(std::move(report));
  }
}

OutOfMemory FaultyAllocator::refusal(const AllocationRequest& request) {
  ++refusals_;
  OutOfMemoryReport report = upstream().failure_report(request);
  report.injected = true;
  report.policy = faults_.text();
  if (events_ != nullptr) {
    MemoryEvent event;
    event.address = report.free_bytes;
    event.bytes = request.bytes;
    event.site = request.site;
    event.stream = request.stream;
    event.device = static_cast<std::int8_t>(device_);
    event.action = EventAction::oom;
    event.category = request.category;
    event.is_injected = true;
    events_->add(event);
  }
  tell(report);
  return OutOfMemory(std::move(report));
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
