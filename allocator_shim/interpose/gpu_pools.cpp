// Stream-ordered and managed memory of the GPUs.
#include <sys/mman.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "allocator_shim/interpose/address_ranges.h"
#include "allocator_shim/interpose/gpu_system.h"

namespace ohm::interpose {
namespace {

/// More addresses than any host has memory for.
constexpr std::size_t kMostManagedBytes = std::size_t{1} << 46U;

}  // namespace

MemoryPool* GpuSystem::default_pool(int device) {
  const std::lock_guard guard(mutex_);
  if (!has(device)) return nullptr;
  return pool_at(gpus_[static_cast<std::size_t>(device)].default_pool, device, 0);
}

MemoryPool* GpuSystem::graph_pool(int device) {
  const std::lock_guard guard(mutex_);
  if (!has(device)) return nullptr;
  return pool_at(gpus_[static_cast<std::size_t>(device)].graph_pool, device, UINT64_MAX);
}

/// Made when it is first asked for.
MemoryPool* GpuSystem::pool_at(MemoryPool*& place, int device, std::uint64_t release_threshold) {
  if (place != nullptr) return place;
  place = pools_.create();
  place->device = device;
  place->release_threshold = release_threshold;
  live_pools_.push_back(place);
  return place;
}

MemoryPool* GpuSystem::current_pool(int device) {
  MemoryPool* const first = default_pool(device);
  if (first == nullptr) return nullptr;
  const std::lock_guard guard(mutex_);
  MemoryPool* const chosen = gpus_[static_cast<std::size_t>(device)].current_pool;
  return chosen == nullptr ? first : chosen;
}

Status GpuSystem::choose_pool(int device, MemoryPool* pool) {
  const std::lock_guard guard(mutex_);
  if (!has(device)) return Status::invalid_device;
  if (!is_pool(pool) || pool->device != device) return Status::invalid_value;
  gpus_[static_cast<std::size_t>(device)].current_pool = pool;
  return Status::success;
}

MemoryPool* GpuSystem::create_pool(int device, std::size_t most_bytes, int handle_types) {
  const std::lock_guard guard(mutex_);
  MemoryPool* const pool = has(device) ? pools_.create() : nullptr;
  if (pool == nullptr) return nullptr;
  pool->device = device;
  pool->most_bytes = AddressSpace::round_up(most_bytes);
  pool->handle_types = handle_types;
  live_pools_.push_back(pool);
  return pool;
}

Status GpuSystem::destroy_pool(MemoryPool* pool) {
  const std::lock_guard guard(mutex_);
  if (!is_pool(pool)) return Status::invalid_value;
  Gpu& gpu = gpus_[static_cast<std::size_t>(pool->device)];
  if (gpu.default_pool == pool) return Status::invalid_value;
  if (gpu.current_pool == pool) gpu.current_pool = nullptr;
  std::erase(live_pools_, pool);
  pool->is_destroyed = true;
  end_pool(pool);
  return Status::success;
}

/// Of one that the program destroyed: blocks that are still in use keep it.
void GpuSystem::end_pool(MemoryPool* pool) {
  trim(*pool, 0);
  if (pool->used_bytes == 0) pools_.destroy(pool);
}

Status GpuSystem::allocate_from(MemoryPool* pool, std::size_t bytes, const Context* context,
                                DeviceAddress& address) {
  address = 0;
  if (bytes != 0 && is_refused(bytes)) return Status::out_of_memory;
  const std::lock_guard guard(mutex_);
  if (!is_pool(pool) || bytes == 0) return Status::invalid_value;
  const int device = pool->device;
  if (bytes > profile_.capacity_bytes) return not_granted(device, bytes, NotGranted::by_card);
  const std::size_t segment_bytes = AddressSpace::round_up(bytes);
  if (fails_by_plan(FaultLevel::segment, device, segment_bytes)) {
    return not_granted(device, bytes, NotGranted::by_plan);
  }
  const std::size_t block_bytes = SegmentedMemory::in_units(bytes);
  auto block = pool->memory.take(block_bytes);
  const bool is_cached = block.has_value();
  if (!is_cached) {
    const bool is_full =
        pool->most_bytes != 0 && pool->reserved_bytes() + segment_bytes > pool->most_bytes;
    if (is_full) return not_granted(device, bytes, NotGranted::by_card);
    if (take(device, segment_bytes, address) != Status::success) {
      return not_granted(device, bytes, NotGranted::by_card);
    }
    pool->add_segment(address, segment_bytes);
    block = pool->memory.take(block_bytes);
  }
  address = *block;
  pool->note_used(block_bytes);
  gpus_[static_cast<std::size_t>(device)].blocks[address] = {bytes, block_bytes, context, pool};
  record_request(device, address, bytes, is_cached ? 0 : segment_bytes);
  return Status::success;
}

const MemoryPool* GpuSystem::pool_of(DeviceAddress address) {
  const std::lock_guard guard(mutex_);
  const Gpu* const gpu = owner(address);
  if (gpu == nullptr) return nullptr;
  const auto block = gpu->blocks.find(address);
  return block == gpu->blocks.end() ? nullptr : block->second.pool;
}

void GpuSystem::trim(MemoryPool& pool, std::size_t kept_bytes) {
  while (pool.reserved_bytes() > kept_bytes) {
    const auto segment = pool.memory.remove_free_segment();
    if (!segment) return;
    give_back(used(pool.device), segment->address, segment->bytes, recorded_site());
  }
}

Status GpuSystem::trim_pool(MemoryPool* pool, std::size_t kept_bytes) {
  return with_pool(pool, [&](MemoryPool& one) {
    trim(one, kept_bytes);
    return Status::success;
  });
}

void GpuSystem::trim_pools() {
  const std::lock_guard guard(mutex_);
  for (MemoryPool* pool : live_pools_) trim(*pool, pool->release_threshold);
}

Status GpuSystem::allocate_managed(std::size_t bytes, DeviceAddress& address) {
  address = 0;
  if (is_refused(bytes)) return Status::out_of_memory;
  const std::lock_guard guard(mutex_);
  if (bytes > kMostManagedBytes) return not_granted(current(), bytes, NotGranted::by_card);
  const std::size_t rounded = AddressSpace::round_up(bytes);
  if (fails_by_plan(FaultLevel::segment, current(), rounded)) {
    return not_granted(current(), bytes, NotGranted::by_plan);
  }
  if (open(current()) != Status::success) {
    return not_granted(current(), bytes, NotGranted::by_card);
  }
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* const mapped = mmap(nullptr, rounded, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  if (mapped == MAP_FAILED) return not_granted(current(), bytes, NotGranted::by_card);
  address = reinterpret_cast<DeviceAddress>(mapped);
  managed_[address] = ManagedRange{.bytes = rounded, .requested_bytes = bytes, .owner = current()};
  record_request(current(), address, bytes, rounded);
  return Status::success;
}

Status GpuSystem::free_managed(DeviceAddress address) {
  const auto range = managed_.find(address);
  const bool is_given = range != managed_.end() && range->second.owner != kNobody;
  if (!is_given) return failed_free(address);
  leave(range->second);
  munmap(reinterpret_cast<void*>(address), range->second.bytes);
  managed_.erase(range);
  if (DeviceRecord* const record = DeviceRecord::of_process()) {
    const std::uint32_t site = record->site_of_call();
    record->remove_block(address, site);
    record->remove_segment(address, site);
  }
  return Status::success;
}

void GpuSystem::free_all_managed(int device) {
  const std::lock_guard guard(mutex_);
  for (auto range = managed_.begin(); range != managed_.end();) {
    const auto [address, managed] = *range++;
    if (managed.owner == device) free_managed(address);
  }
}

void GpuSystem::adopt_managed(DeviceAddress address, std::size_t bytes) {
  const std::lock_guard guard(mutex_);
  managed_[address] = ManagedRange{.bytes = bytes, .requested_bytes = bytes, .owner = kNobody};
}

Status GpuSystem::advise(DeviceAddress address, std::size_t bytes, const ManagedAdvice& advice) {
  const std::lock_guard guard(mutex_);
  ManagedRange* const range = managed_part(address, bytes);
  if (range == nullptr) return Status::invalid_value;
  ManagedAdvice& known = range->advice;
  if (advice.is_read_mostly) known.is_read_mostly = advice.is_read_mostly;
  if (advice.preferred_location) known.preferred_location = advice.preferred_location;
  return Status::success;
}

Status GpuSystem::advice_on(DeviceAddress address, std::size_t bytes, ManagedAdvice& advice) {
  const std::lock_guard guard(mutex_);
  const ManagedRange* const range = managed_part(address, bytes);
  if (range == nullptr) return Status::invalid_value;
  advice = range->advice;
  return Status::success;
}

/// nullptr: it is not all in one.
GpuSystem::ManagedRange* GpuSystem::managed_part(DeviceAddress address, std::size_t bytes) {
  const auto found = holder(managed_, address);
  const bool is_whole =
      bytes > 0 && found != managed_.end() && bytes <= found->first + found->second.bytes - address;
  return is_whole ? &found->second : nullptr;
}

std::optional<DeviceRange> GpuSystem::managed_range(DeviceAddress address) {
  const std::lock_guard guard(mutex_);
  const auto found = holder(managed_, address);
  if (found == managed_.end()) return std::nullopt;
  const ManagedRange& range = found->second;
  const int device = range.device >= 0 ? range.device : std::max(range.owner, 0);
  return DeviceRange{device, found->first, range.requested_bytes};
}

bool GpuSystem::is_managed(const void* address) {
  const std::lock_guard guard(mutex_);
  return holder(managed_, reinterpret_cast<DeviceAddress>(address)) != managed_.end();
}

void GpuSystem::leave(ManagedRange& range) {
  if (range.resident_bytes > 0) used(range.device).release_chunk(range.resident_bytes);
  range.resident_bytes = 0;
  range.device = -1;
}

Status GpuSystem::prefetch(DeviceAddress address, std::size_t bytes, int device) {
  const std::lock_guard guard(mutex_);
  ManagedRange* const found = managed_part(address, bytes);
  if (found == nullptr) {
    if (DeviceRecord* const record = DeviceRecord::of_process()) {
      record->note_failed_use(reinterpret_cast<void*>(address));
    }
    return Status::invalid_value;
  }
  if (device != kHostLocation && !has(device)) return Status::invalid_device;
  ManagedRange& range = *found;
  range.advice.prefetched_to = device;
  if (device != range.device) leave(range);
  if (device == kHostLocation) return Status::success;
  const Status opened = open(device);
  if (opened != Status::success) return opened;
  // What does not fit stays where it is.
  const std::size_t wanted = AddressSpace::round_up(bytes);
  const std::size_t more = wanted - std::min(wanted, range.resident_bytes);
  if (used(device).info().free_bytes < more) {
    const int before = std::exchange(range.device, kHostLocation);
    make_room(device, more);
    range.device = before;
  }
  const std::size_t left = used(device).info().free_bytes;
  const std::size_t moved =
      std::min(more, left / AddressSpace::kGranuleBytes * AddressSpace::kGranuleBytes);
  if (moved > 0 && used(device).create_chunk(moved)) {
    range.device = device;
    range.resident_bytes += moved;
  }
  return Status::success;
}

}  // namespace ohm::interpose
