// Page-locked memory of the host, as the GPUs know it.
#include <mutex>
#include <optional>

#include "allocator_shim/interpose/address_ranges.h"
#include "allocator_shim/interpose/gpu_system.h"

namespace ohm::interpose {

bool GpuSystem::add_pinned(const void* address, std::size_t bytes, Pinned how, unsigned flags) {
  const auto begin = reinterpret_cast<DeviceAddress>(address);
  const std::lock_guard guard(mutex_);
  const auto next = pinned_.lower_bound(begin);
  const bool meets_next = next != pinned_.end() && next->first - begin < bytes;
  if (meets_next || holder(pinned_, begin) != pinned_.end()) return false;
  pinned_[begin] = {bytes, how, flags, current()};
  return true;
}

bool GpuSystem::remove_pinned(const void* address, Pinned how) {
  const std::lock_guard guard(mutex_);
  const auto found = pinned_.find(reinterpret_cast<DeviceAddress>(address));
  if (found == pinned_.end() || found->second.how != how) return false;
  pinned_.erase(found);
  return true;
}

/// What was allocated stays the host's: programs may still have its address.
void GpuSystem::forget_pinned(int device) {
  const std::lock_guard guard(mutex_);
  std::erase_if(pinned_, [device](const auto& range) {
    return range.second.device == device && range.second.how != Pinned::variable;
  });
}

bool GpuSystem::is_pinned(const void* address) {
  const std::lock_guard guard(mutex_);
  return holder(pinned_, reinterpret_cast<DeviceAddress>(address)) != pinned_.end();
}

bool GpuSystem::is_variable(const void* address) {
  const std::lock_guard guard(mutex_);
  const auto found = holder(pinned_, reinterpret_cast<DeviceAddress>(address));
  return found != pinned_.end() && found->second.how == Pinned::variable;
}

std::optional<DeviceRange> GpuSystem::pinned_range(const void* address) {
  const std::lock_guard guard(mutex_);
  const auto found = holder(pinned_, reinterpret_cast<DeviceAddress>(address));
  if (found == pinned_.end()) return std::nullopt;
  return DeviceRange{found->second.device, found->first, found->second.bytes};
}

std::optional<unsigned> GpuSystem::pinned_flags(const void* address) {
  const std::lock_guard guard(mutex_);
  const auto found = holder(pinned_, reinterpret_cast<DeviceAddress>(address));
  return found == pinned_.end() ? std::nullopt : std::optional(found->second.flags);
}

}  // namespace ohm::interpose
