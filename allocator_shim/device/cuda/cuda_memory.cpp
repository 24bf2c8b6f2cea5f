#include "allocator_shim/device/cuda/cuda_memory.h"

#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "allocator_shim/base/assert.h"
#include "allocator_shim/base/format_bytes.h"
#include "allocator_shim/device/address_space.h"

namespace ohm::cuda {
namespace {

AllocationProperties properties_on(const CudaDevice& device) {
  AllocationProperties properties;
  properties.type = kPinnedAllocation;
  properties.location = {kDeviceLocation, device.ordinal()};
  return properties;
}

std::size_t granularity_of(const CudaDevice& device) {
  const AllocationProperties properties = properties_on(device);
  std::size_t bytes = 0;
  device.driver().check(
      device.current().chunk_granularity(&bytes, &properties, kMinimumGranularity),
      "cuMemGetAllocationGranularity");
  return bytes;
}

std::size_t sum_of(const std::map<DeviceAddress, std::size_t>& parts) {
  return std::accumulate(parts.begin(), parts.end(), std::size_t{0},
                         [](std::size_t sum, const auto& part) { return sum + part.second; });
}

}  // namespace

CudaMemory::CudaMemory(std::shared_ptr<const CudaDevice> device, std::shared_ptr<const Nvml> nvml)
    : device_(std::move(device)), nvml_(std::move(nvml)) {
  const std::size_t granularity = granularity_of(*device_);
  if (granularity == 0 || AddressSpace::kGranuleBytes % granularity != 0) {
    throw GpuUnavailable(device_->properties().name + " maps memory in pieces of " +
                         human_bytes(granularity) + ", not of 2 MiB");
  }
}

CudaMemory::~CudaMemory() { leave_device(); }

// ---- segments -----------------------------------------------------------------------------------

std::optional<DeviceAddress> CudaMemory::allocate_segment(std::size_t bytes) {
  Pointer address = 0;
  Result result = device_->current().memory_allocate(&address, bytes);
  if (result == kOutOfMemory && is_less_short()) {
    result = device_->current().memory_allocate(&address, bytes);
  }
  if (result == kOutOfMemory) return std::nullopt;
  device_->driver().check(result, "cuMemAlloc_v2");
  segments_.emplace(address, bytes);
  return address;
}

void CudaMemory::free_segment(DeviceAddress address, [[maybe_unused]] std::size_t bytes) {
  const auto found = segments_.find(address);
  OHM_ASSERT(found != segments_.end() && found->second == bytes,
             "a segment is given back as it was handed out");
  segments_.erase(found);
  if (!gives_back()) return;
  device_->driver().check_release(device_->current().memory_free(address), "cuMemFree_v2");
}

// ---- ranges and what is mapped there ------------------------------------------------------------

DeviceAddress CudaMemory::reserve_range(std::size_t bytes) {
  Pointer address = 0;
  device_->driver().check(device_->current().address_reserve(&address, bytes, 0, 0, 0),
                          "cuMemAddressReserve");
  ranges_.emplace(address, bytes);
  return address;
}

void CudaMemory::release_range(DeviceAddress address, std::size_t bytes) {
  ranges_.erase(address);
  if (!gives_back()) return;
  device_->driver().check_release(device_->current().address_free(address, bytes),
                                  "cuMemAddressFree");
}

bool CudaMemory::try_map_chunk(DeviceAddress address, std::size_t bytes) {
  const DriverFunctions& functions = device_->current();
  const AllocationProperties properties = properties_on(*device_);
  AllocationHandle handle = 0;
  Result created = functions.chunk_create(&handle, bytes, &properties, 0);
  if (created == kOutOfMemory && is_less_short()) {
    created = functions.chunk_create(&handle, bytes, &properties, 0);
  }
  if (created == kOutOfMemory) return false;
  device_->driver().check(created, "cuMemCreate");
  const Result mapped = functions.chunk_map(address, bytes, 0, handle, 0);
  // A mapping keeps its memory: the handle is not needed any more.
  const Result released = functions.chunk_release(handle);
  device_->driver().check(mapped, "cuMemMap");
  chunks_.emplace(address, bytes);
  device_->driver().check(released, "cuMemRelease");
  return true;
}

bool CudaMemory::map(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) {
  OHM_ASSERT(bytes % chunk_bytes == 0, "a part of a chunk cannot be mapped");
  std::size_t done = 0;
  while (done < bytes && try_map_chunk(address + done, chunk_bytes)) done += chunk_bytes;
  if (done < bytes) {
    if (done > 0) unmap(address, done, chunk_bytes);
    return false;
  }
  const AccessDescription access = {{kDeviceLocation, device_->ordinal()}, kReadWriteAccess};
  device_->driver().check(device_->current().chunk_set_access(address, bytes, &access, 1),
                          "cuMemSetAccess");
  return true;
}

void CudaMemory::unmap_chunk(DeviceAddress address, std::size_t bytes) {
  chunks_.erase(address);
  if (!gives_back()) return;
  device_->driver().check_release(device_->current().chunk_unmap(address, bytes), "cuMemUnmap");
}

void CudaMemory::unmap(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) {
  OHM_ASSERT(bytes % chunk_bytes == 0, "a part of a chunk cannot be unmapped");
  // Unlike cuMemFree, cuMemUnmap does not wait for what still uses the memory.
  if (gives_back()) device_->synchronize();
  for (std::size_t done = 0; done < bytes; done += chunk_bytes) {
    unmap_chunk(address + done, chunk_bytes);
  }
}

// ---- what is held -------------------------------------------------------------------------------

std::size_t CudaMemory::held_bytes() const { return sum_of(segments_) + sum_of(chunks_); }

std::vector<DeviceProcess> CudaMemory::processes() const {
  if (!nvml_) return {};
  return nvml_->processes(device_->properties().pci_bus_id, static_cast<std::uint32_t>(::getpid()));
}

std::size_t CudaMemory::context_bytes() const {
  for (const DeviceProcess& process : processes()) {
    if (process.is_own) return process.bytes - std::min(process.bytes, held_bytes());
  }
  return 0;
}

// No caller is left to be told of failures: memory that cannot be freed goes with the process.
void CudaMemory::leave_device() {
  if (!gives_back()) return;
  has_left_ = true;
  if (segments_.empty() && ranges_.empty()) return;
  try {
    const DriverFunctions& functions = device_->current();
    device_->synchronize();
    for (const auto& [address, bytes] : chunks_) functions.chunk_unmap(address, bytes);
    for (const auto& [address, bytes] : ranges_) functions.address_free(address, bytes);
    for (const auto& [address, bytes] : segments_) functions.memory_free(address);
  } catch (const DriverError&) {
    return;
  }
}

}  // namespace ohm::cuda
