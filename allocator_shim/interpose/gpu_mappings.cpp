// Memory and addresses of the GPUs apart, as expandable segments use them.
#include <mutex>
#include <optional>
#include <stdexcept>

#include "allocator_shim/interpose/address_ranges.h"
#include "allocator_shim/interpose/gpu_system.h"

namespace ohm::interpose {

Status GpuSystem::reserve(int device, std::size_t bytes, DeviceAddress& address) {
  const std::lock_guard guard(mutex_);
  address = 0;
  if (!has(device)) return Status::invalid_device;
  if (bytes == 0 || bytes % AddressSpace::kGranuleBytes != 0) return Status::invalid_value;
  const Status opened = open(device);
  if (opened != Status::success) return opened;
  try {
    address = used(device).reserve_range(bytes);
  } catch (const std::runtime_error&) {
    return Status::out_of_memory;
  }
  gpus_[static_cast<std::size_t>(device)].ranges.emplace(address, bytes);
  return Status::success;
}

Status GpuSystem::release_range(DeviceAddress address) {
  const std::lock_guard guard(mutex_);
  Gpu* gpu = owner(address);
  if (gpu == nullptr) return Status::invalid_value;
  const auto range = gpu->ranges.find(address);
  if (range == gpu->ranges.end()) return Status::invalid_value;
  const auto mapping = gpu->mappings.lower_bound(address);
  const bool is_mapped = mapping != gpu->mappings.end() && mapping->first - address < range->second;
  if (is_mapped) return Status::invalid_value;
  gpu->memory->release_range(address, range->second);
  gpu->ranges.erase(range);
  return Status::success;
}

Status GpuSystem::create(int device, std::size_t bytes, PhysicalMemory*& memory) {
  memory = nullptr;
  if (is_refused(bytes)) return Status::out_of_memory;
  const std::lock_guard guard(mutex_);
  if (!has(device)) return Status::invalid_device;
  if (bytes == 0 || bytes % AddressSpace::kGranuleBytes != 0) return Status::invalid_value;
  if (fails_by_plan(FaultLevel::map, device, bytes)) {
    return not_granted(device, bytes, NotGranted::by_plan);
  }
  if (open(device) != Status::success || !used(device).create_chunk(bytes)) {
    no_room(device);
    return not_granted(device, bytes, NotGranted::by_card);
  }
  memory = physical_.create(device, bytes);
  if (memory == nullptr) return Status::out_of_memory;
  if (DeviceRecord* const record = DeviceRecord::of_process()) {
    record->add_chunk(device, memory, bytes);
  }
  return Status::success;
}

void GpuSystem::drop(PhysicalMemory* memory) {
  if (--memory->references > 0) return;
  used(memory->device).release_chunk(memory->bytes);
  if (DeviceRecord* const record = DeviceRecord::of_process()) record->remove_chunk(memory);
  physical_.destroy(memory);
}

Status GpuSystem::release(PhysicalMemory* memory) {
  const std::lock_guard guard(mutex_);
  if (!is_physical(memory) || memory->handles == 0) return Status::invalid_value;
  --memory->handles;
  drop(memory);
  return Status::success;
}

Status GpuSystem::retain(DeviceAddress address, PhysicalMemory*& memory) {
  const std::lock_guard guard(mutex_);
  const Gpu* const gpu = owner(address);
  if (gpu == nullptr) return Status::invalid_value;
  const auto mapping = holder(gpu->mappings, address);
  if (mapping == gpu->mappings.end()) return Status::invalid_value;
  memory = mapping->second.memory;
  ++memory->references;
  ++memory->handles;
  return Status::success;
}

Status GpuSystem::map(DeviceAddress address, std::size_t bytes, PhysicalMemory* memory) {
  const std::lock_guard guard(mutex_);
  if (!is_physical(memory)) return Status::invalid_value;
  Gpu* gpu = owner(address);
  if (gpu == nullptr || bytes != memory->bytes) return Status::invalid_value;
  const auto range = holder(gpu->ranges, address);
  const bool fits = range != gpu->ranges.end() && address - range->first + bytes <= range->second;
  const auto next = gpu->mappings.lower_bound(address);
  const bool meets_other = holder(gpu->mappings, address) != gpu->mappings.end() ||
                           (next != gpu->mappings.end() && next->first - address < bytes);
  if (!fits || meets_other || address % AddressSpace::kGranuleBytes != 0) {
    return Status::invalid_value;
  }
  try {
    gpu->memory->map_chunk(address, bytes);
  } catch (const HostRefusal& refusal) {
    return refused(refusal);
  }
  gpu->mappings.emplace(address, Mapping{bytes, memory});
  ++memory->references;
  return Status::success;
}

Status GpuSystem::set_access(DeviceAddress address, std::size_t bytes, bool is_accessible) {
  const std::lock_guard guard(mutex_);
  Gpu* gpu = owner(address);
  if (gpu == nullptr || bytes == 0) return Status::invalid_value;
  const DeviceAddress end = address + bytes;
  const auto first = gpu->mappings.find(address);
  auto mapping = first;
  for (DeviceAddress at = address; at < end; ++mapping) {
    if (mapping == gpu->mappings.end() || mapping->first != at) return Status::invalid_value;
    at += mapping->second.bytes;
  }
  for (auto one = first; one != mapping; ++one) one->second.is_accessible = is_accessible;
  return Status::success;
}

std::optional<bool> GpuSystem::has_access(DeviceAddress address) {
  const std::lock_guard guard(mutex_);
  const Gpu* const gpu = owner(address);
  if (gpu == nullptr) return std::nullopt;
  const auto mapping = holder(gpu->mappings, address);
  return mapping == gpu->mappings.end() ? std::nullopt
                                        : std::optional(mapping->second.is_accessible);
}

Status GpuSystem::unmap(DeviceAddress address, std::size_t bytes) {
  const std::lock_guard guard(mutex_);
  Gpu* gpu = owner(address);
  if (gpu == nullptr) return Status::invalid_value;
  // One call may end several mappings that follow each other.
  auto mapping = gpu->mappings.find(address);
  for (const DeviceAddress end = address + bytes; address < end;) {
    if (mapping == gpu->mappings.end() || mapping->first != address) return Status::invalid_value;
    gpu->memory->unmap_chunk(address, mapping->second.bytes);
    drop(mapping->second.memory);
    address += mapping->second.bytes;
    mapping = gpu->mappings.erase(mapping);
  }
  return Status::success;
}

}  // namespace ohm::interpose
