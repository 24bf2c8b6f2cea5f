#include "allocator_shim/device/pinned_host_allocator.h"

#include <algorithm>
#include <bit>

namespace ohm {
namespace {

std::size_t size_class(std::size_t power_of_two) {
  return static_cast<std::size_t>(std::countr_zero(power_of_two));
}

std::int64_t as_count(std::size_t bytes) { return static_cast<std::int64_t>(bytes); }

}  // namespace

PinnedHostAllocator::~PinnedHostAllocator() {
  for (const auto& [key, block] : blocks_) upstream().free(block->memory.block);
}

Allocation PinnedHostAllocator::hand_out(Block& block) {
  stats_.allocation.increase(1);
  stats_.allocated_bytes.increase(as_count(block.bytes));
  return {&block, block.memory.address, block.memory.values};
}

Allocation PinnedHostAllocator::allocate(const AllocationRequest& request) {
  if (request.bytes == 0) return {};
  process_events();
  constexpr std::size_t kLargestPower = std::size_t{1} << (kSizeClasses - 1);
  if (request.bytes > kLargestPower) throw OutOfMemory(failure_report(request));
  const std::size_t bytes = std::bit_ceil(request.bytes);
  std::vector<Block*>& free = free_[size_class(bytes)];
  if (!free.empty()) {
    Block& block = *free.back();
    free.pop_back();
    upstream().set_category(block.memory.block, request.category);
    return hand_out(block);
  }
  AllocationRequest rounded = request;
  rounded.bytes = bytes;
  rounded.purpose = RequestPurpose::pinned;
  auto block = std::make_unique<Block>();
  block->memory = upstream().allocate(rounded);
  block->bytes = bytes;
  Block& made = *block;
  blocks_.emplace(&made, std::move(block));
  stats_.segment.increase(1);
  stats_.reserved_bytes.increase(as_count(bytes));
  return hand_out(made);
}

void PinnedHostAllocator::make_free(Block& block) {
  free_[size_class(block.bytes)].push_back(&block);
  stats_.allocation.decrease(1);
  stats_.allocated_bytes.decrease(as_count(block.bytes));
  upstream().set_category(block.memory.block, Category::other);
}

void PinnedHostAllocator::free(BlockHandle handle) {
  if (handle == nullptr) return;
  auto& block = *static_cast<Block*>(handle);
  if (block.uses.empty()) return make_free(block);
  block.uses_left = block.uses.size();
  for (Use& use : std::exchange(block.uses, {})) {
    use.event = use.streams->record(use.stream);
    waiting_.push_back({use, &block});
  }
}

// In the order in which they were freed: the first that is not done ends it, as in PyTorch.
void PinnedHostAllocator::process_events() {
  while (!waiting_.empty()) {
    const auto [use, block] = waiting_.front();
    if (!use.streams->is_complete(use.stream, use.event)) return;
    waiting_.pop_front();
    if (--block->uses_left == 0) make_free(*block);
  }
}

void PinnedHostAllocator::set_category(BlockHandle handle, Category category) {
  if (handle == nullptr) return;
  upstream().set_category(static_cast<Block*>(handle)->memory.block, category);
}

void PinnedHostAllocator::record_use(BlockHandle handle, StreamEvents& streams, StreamId stream) {
  if (handle == nullptr) return;
  auto& block = *static_cast<Block*>(handle);
  const auto is_known = [&](const Use& use) {
    return use.streams == &streams && use.stream == stream;
  };
  if (std::any_of(block.uses.begin(), block.uses.end(), is_known)) return;
  block.uses.push_back({&streams, stream, 0});
}

void PinnedHostAllocator::empty_cache() {
  process_events();
  for (std::vector<Block*>& free : free_) {
    for (Block* block : free) {
      stats_.segment.decrease(1);
      stats_.reserved_bytes.decrease(as_count(block->bytes));
      upstream().free(block->memory.block);
      blocks_.erase(block);
    }
    free.clear();
  }
}

void PinnedHostAllocator::reset_pinned_peaks() {
  stats_.allocation.reset_peak();
  stats_.allocated_bytes.reset_peak();
  stats_.segment.reset_peak();
  stats_.reserved_bytes.reset_peak();
}

}  // namespace ohm
