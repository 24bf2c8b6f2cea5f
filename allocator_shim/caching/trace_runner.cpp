#include "allocator_shim/caching/trace_runner.h"

#include <fmt/format.h>

#include <stdexcept>

namespace ohm {
namespace {

VirtualGpuOptions device_of(const Trace& trace) {
  VirtualGpuOptions options;
  options.address_order = trace.address_order;
  options.process_listing = ProcessListing::unavailable;  // traces were recorded without NVML
  return options;
}

CachingAllocatorOptions allocator_of(const Trace& trace, const TraceRunOptions& options) {
  CachingAllocatorOptions allocator;
  allocator.rules = options.rules;
  allocator.settings = parse_settings(options.settings.value_or(trace.settings), options.rules);
  return allocator;
}

}  // namespace

std::optional<DeviceAddress> CountingDevice::allocate_segment(std::size_t bytes) {
  ++segment_calls_;
  const std::optional<DeviceAddress> address = upstream().allocate_segment(bytes);
  if (address) {
    ranges_.push_back({*address, bytes, ranges_.size()});
  } else {
    ++failed_segment_calls_;
  }
  return address;
}

void CountingDevice::free_segment(DeviceAddress address, std::size_t bytes) {
  ++free_calls_;
  upstream().free_segment(address, bytes);
}

DeviceAddress CountingDevice::reserve_range(std::size_t bytes) {
  const DeviceAddress address = upstream().reserve_range(bytes);
  ranges_.push_back({address, bytes, ranges_.size()});
  return address;
}

TraceRunner::TraceRunner(const Trace& trace, const TraceRunOptions& options)
    : gpu_(options.capacity_bytes.value_or(trace.capacity_bytes), device_of(trace)),
      tracker_(gpu_),
      device_(tracker_),
      allocator_(device_, streams_, allocator_of(trace, options), &events_) {
  if (options.memory_fraction) allocator_.set_memory_fraction(*options.memory_fraction);
}

TraceRunner::Outcome TraceRunner::run(const TraceOperation& operation) {
  switch (operation.kind) {
    case TraceOperation::Kind::allocate:
      return allocate(operation);
    case TraceOperation::Kind::free:
    case TraceOperation::Kind::record_stream:
      return with_block(operation);
    case TraceOperation::Kind::empty_cache:
      allocator_.empty_cache();
      break;
    case TraceOperation::Kind::reset_peak:
      allocator_.reset_peak_stats();
      break;
    case TraceOperation::Kind::reset_accumulated:
      allocator_.reset_accumulated_stats();
      break;
    case TraceOperation::Kind::set_fraction:
      allocator_.set_memory_fraction(operation.fraction);
      break;
    case TraceOperation::Kind::complete_events:
      streams_.synchronize_all();
      break;
    case TraceOperation::Kind::print_stats:
      break;
  }
  return {};
}

TraceRunner::Outcome TraceRunner::allocate(const TraceOperation& operation) {
  const auto [entry, is_new] = blocks_.try_emplace(operation.id);
  if (!is_new) {
    throw std::invalid_argument(
        fmt::format("line {}: id {} is in use", operation.line, operation.id));
  }
  AllocationRequest request;
  request.bytes = operation.bytes;
  request.stream = operation.stream;
  try {
    const Allocation allocation = allocator_.allocate(request);
    entry->second = allocation.block;
    if (allocation.block == nullptr) return {};
    return {Status::ok, allocation.address, {}};
  } catch (const OutOfMemory& error) {
    return {Status::out_of_memory, std::nullopt, error.what()};
  }
}

TraceRunner::Outcome TraceRunner::with_block(const TraceOperation& operation) {
  const auto entry = blocks_.find(operation.id);
  if (entry == blocks_.end()) {
    throw std::invalid_argument(
        fmt::format("line {}: nothing was allocated as {}", operation.line, operation.id));
  }
  const std::optional<BlockHandle> block = entry->second;
  const bool is_free = operation.kind == TraceOperation::Kind::free;
  if (is_free) blocks_.erase(entry);
  if (!block) return {Status::skipped, std::nullopt, {}};
  if (is_free) {
    allocator_.free(*block);
  } else {
    allocator_.record_stream(*block, operation.stream);
  }
  return {};
}

}  // namespace ohm
