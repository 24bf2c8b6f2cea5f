#include "allocator_shim/device/host_memory_allocator.h"

#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <optional>

namespace ohm {
namespace {

constexpr DeviceAddress kFirstAddress = 0x100000000000;
constexpr std::size_t kAlignment = 64;
constexpr int kHostDevice = -1;

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

constexpr auto kAll = static_cast<std::size_t>(StatPool::all);

}  // namespace

struct HostMemoryAllocator::Block {
  LiveBlock info;
  void* values = nullptr;
  Block* previous = nullptr;
  Block* next = nullptr;
};

HostMemoryAllocator::HostMemoryAllocator(const HostMemoryOptions& options, EventSink* events)
    : options_(options), events_(events), values_(options.budget), next_address_(kFirstAddress) {}

HostMemoryAllocator::~HostMemoryAllocator() {
  while (first_ != nullptr) {
    const std::unique_ptr<Block> block(first_);
    first_ = block->next;
    std::free(block->values);
  }
}

std::size_t HostMemoryAllocator::used_bytes() const {
  return static_cast<std::size_t>(stats_.allocated_bytes[kAll].current);
}

void* HostMemoryAllocator::allocate_values(std::size_t bytes) {
  const std::size_t rounded_bytes = round_up(bytes, kAlignment);
  values_.take(rounded_bytes);
  void* const values = std::aligned_alloc(kAlignment, rounded_bytes);
  if (values == nullptr) values_.give_back(rounded_bytes);
  return values;
}

void HostMemoryAllocator::free_values(const Block& block) {
  if (block.values == nullptr) return;
  std::free(block.values);
  values_.give_back(round_up(block.info.bytes, kAlignment));
}

Allocation HostMemoryAllocator::allocate(const AllocationRequest& request) {
  if (request.bytes == 0) return {};
  const bool fits = request.bytes <= options_.capacity_bytes - used_bytes();
  if (!fits) {
    ++stats_.num_ooms;
    throw OutOfMemory(failure_report(request));
  }
  auto block = std::make_unique<Block>();
  if (options_.values == ValueMode::keeps_values) {
    block->values = allocate_values(request.bytes);
    if (block->values == nullptr) {
      ++stats_.num_ooms;
      throw OutOfMemory(failure_report(request));
    }
  }
  block->info = {next_address_, request.bytes, request.bytes, request.category, request.site};
  next_address_ += round_up(request.bytes, kAlignment);
  block->previous = last_;
  (last_ != nullptr ? last_->next : first_) = block.get();
  last_ = block.get();
  count(*block);
  record(EventAction::alloc, *block);
  const Allocation allocation = {block.get(), block->info.address, block->values};
  static_cast<void>(block.release());  // owned by the list from here on
  return allocation;
}

void HostMemoryAllocator::count(const Block& block) {
  const auto bytes = static_cast<std::int64_t>(block.info.bytes);
  const std::int64_t peak_before = stats_.allocated_bytes[kAll].peak;
  stats_.allocation[kAll].increase(1);
  stats_.active[kAll].increase(1);
  stats_.allocated_bytes[kAll].increase(bytes);
  stats_.active_bytes[kAll].increase(bytes);
  stats_.requested_bytes[kAll].increase(bytes);
  stats_.reserved_bytes[kAll].increase(bytes);
  category_bytes_[static_cast<std::size_t>(block.info.category)] += bytes;
  if (stats_.allocated_bytes[kAll].peak > peak_before) peak_category_bytes_ = category_bytes_;
}

void HostMemoryAllocator::free(BlockHandle handle) {
  if (handle == nullptr) return;
  const std::unique_ptr<Block> block(static_cast<Block*>(handle));
  (block->previous != nullptr ? block->previous->next : first_) = block->next;
  (block->next != nullptr ? block->next->previous : last_) = block->previous;
  free_values(*block);
  const auto bytes = static_cast<std::int64_t>(block->info.bytes);
  stats_.allocation[kAll].decrease(1);
  stats_.active[kAll].decrease(1);
  stats_.allocated_bytes[kAll].decrease(bytes);
  stats_.active_bytes[kAll].decrease(bytes);
  stats_.requested_bytes[kAll].decrease(bytes);
  stats_.reserved_bytes[kAll].decrease(bytes);
  category_bytes_[static_cast<std::size_t>(block->info.category)] -= bytes;
  record(EventAction::free_requested, *block);
  record(EventAction::free_completed, *block);
}

// The host waits for a device before it touches what it shares, so no stream outlives a block.
void HostMemoryAllocator::record_stream(BlockHandle, StreamId) {}

void HostMemoryAllocator::set_category(BlockHandle handle, Category category) {
  if (handle == nullptr) return;
  auto& block = *static_cast<Block*>(handle);
  if (block.info.category == category) return;
  const auto bytes = static_cast<std::int64_t>(block.info.bytes);
  category_bytes_[static_cast<std::size_t>(block.info.category)] -= bytes;
  category_bytes_[static_cast<std::size_t>(category)] += bytes;
  block.info.category = category;
  record(EventAction::relabel, block);
}

// Nothing is cached.
void HostMemoryAllocator::empty_cache() {}

void HostMemoryAllocator::reset_peak_stats() {
  stats_.reset_peak();
  peak_category_bytes_ = category_bytes_;
}

void HostMemoryAllocator::reset_accumulated_stats() { stats_.reset_accumulated(); }

DeviceMemoryInfo HostMemoryAllocator::info() const {
  return {options_.capacity_bytes - used_bytes(), options_.capacity_bytes};
}

std::vector<LiveBlock> HostMemoryAllocator::live_blocks() const {
  std::vector<LiveBlock> blocks;
  for (const Block* block = first_; block != nullptr; block = block->next) {
    blocks.push_back(block->info);
  }
  return blocks;
}

OutOfMemoryReport HostMemoryAllocator::failure_report(const AllocationRequest& request) const {
  OutOfMemoryReport report;
  report.device = kHostDevice;
  report.requested_bytes = request.bytes;
  report.segment_bytes = request.bytes;
  report.capacity_bytes = options_.capacity_bytes;
  report.free_bytes = options_.capacity_bytes - used_bytes();
  report.allocated_bytes = used_bytes();
  report.reserved_bytes = used_bytes();
  report.category = request.category;
  report.site = request.site;
  report.message = fmt::format(
      "DefaultCPUAllocator: can't allocate memory: you tried to allocate {} bytes. Error code 12 "
      "(Cannot allocate memory)",
      request.bytes);
  return report;
}

void HostMemoryAllocator::record(EventAction action, const Block& block) {
  if (events_ == nullptr) return;
  MemoryEvent event;
  event.address = block.info.address;
  event.bytes = block.info.requested_bytes;
  event.site = block.info.site;
  event.block_units = static_cast<std::uint32_t>(
      round_up(block.info.bytes, MemoryEvent::kUnitBytes) / MemoryEvent::kUnitBytes);
  event.device = kHostDevice;
  event.action = action;
  event.category = block.info.category;
  events_->add(event);
}

}  // namespace ohm
