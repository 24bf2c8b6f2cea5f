// Stream-ordered and managed memory of the GPUs.
#include <sys/mman.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "allocator_shim/interpose/address_ranges.h"
#include "allocator_shim/interpose/gpu_system.h"

namespace ohm::interpose {
namespace {

/// Managed memory that is on no device.
constexpr int kHostLocation = -1;
/// More addresses than any host has memory for.
constexpr std::size_t kMostManagedBytes = std::size_t{1} << 46U;

}  // namespace

MemoryPool* GpuSystem::default_pool(int device) {
  const std::lock_guard guard(mutex_);
  if (!has(device)) return nullptr;
  Gpu& gpu = gpus_[static_cast<std::size_t>(device)];
  if (gpu.default_pool == nullptr) {
    gpu.default_pool = pools_.create();
    gpu.default_pool->device = device;
    live_pools_.push_back(gpu.default_pool);
  }
  return gpu.default_pool;
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

MemoryPool* GpuSystem::create_pool(int device) {
  const std::lock_guard guard(mutex_);
  MemoryPool* const pool = has(device) ? pools_.create() : nullptr;
  if (pool == nullptr) return nullptr;
  pool->device = device;
  live_pools_.push_back(pool);
  return pool;
}

Status GpuSystem::destroy_pool(MemoryPool* pool) {
  const std::lock_guard guard(mutex_);
  if (!is_pool(pool)) return Status::invalid_value;
  Gpu& gpu = gpus_[static_cast<std::size_t>(pool->device)];
  if (gpu.default_pool == pool) return Status::invalid_value;
  trim(*pool, 0);
  // What is still allocated of it is freed by its own address.
  for (auto& [address, segment] : gpu.segments) {
    if (segment.pool == pool) segment.pool = nullptr;
  }
  if (gpu.current_pool == pool) gpu.current_pool = nullptr;
  std::erase(live_pools_, pool);
  pools_.destroy(pool);
  return Status::success;
}

Status GpuSystem::allocate_from(MemoryPool* pool, std::size_t bytes, const Context* context,
                                DeviceAddress& address) {
  address = 0;
  if (bytes != 0 && is_refused(bytes)) return Status::out_of_memory;
  const std::lock_guard guard(mutex_);
  if (!is_pool(pool) || bytes == 0) return Status::invalid_value;
  const int device = pool->device;
  if (bytes > profile_.capacity_bytes) return not_granted(device, bytes, NotGranted::by_card);
  const std::size_t rounded = AddressSpace::round_up(bytes);
  if (fails_by_plan(FaultLevel::segment, device, rounded)) {
    return not_granted(device, bytes, NotGranted::by_plan);
  }
  const auto cached = pool->take(rounded);
  if (cached) {
    address = *cached;
  } else {
    if (take(device, rounded, address) != Status::success) {
      return not_granted(device, bytes, NotGranted::by_card);
    }
    pool->note_reserved(rounded);
  }
  pool->note_used(rounded);
  gpus_[static_cast<std::size_t>(device)].segments[address] = {bytes, rounded, context, pool};
  record_request(device, address, bytes, cached ? 0 : rounded);
  return Status::success;
}

void GpuSystem::trim(MemoryPool& pool, std::size_t kept_bytes) {
  while (pool.reserved_bytes > kept_bytes && !pool.cached.empty()) {
    const auto block = pool.cached.begin();
    give_back(used(pool.device), block->second, block->first);
    pool.reserved_bytes -= block->first;
    pool.cached.erase(block);
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
  managed_[address] = {rounded, current()};
  record_request(current(), address, bytes, rounded);
  return Status::success;
}

Status GpuSystem::free_managed(DeviceAddress address) {
  const auto range = managed_.find(address);
  if (range == managed_.end()) return failed_free(address);
  leave(range->second);
  munmap(reinterpret_cast<void*>(address), range->second.bytes);
  managed_.erase(range);
  if (DeviceRecord* const record = DeviceRecord::of_process()) {
    record->remove_block(address);
    record->remove_segment(address);
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
  const auto found = holder(managed_, address);
  if (found == managed_.end()) {
    if (DeviceRecord* const record = DeviceRecord::of_process()) {
      record->note_failed_use(reinterpret_cast<void*>(address));
    }
    return Status::invalid_value;
  }
  if (bytes == 0) return Status::invalid_value;
  if (bytes > found->first + found->second.bytes - address) return Status::invalid_value;
  if (device != kHostLocation && !has(device)) return Status::invalid_device;
  ManagedRange& range = found->second;
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
