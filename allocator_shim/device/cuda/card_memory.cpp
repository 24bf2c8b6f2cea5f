#include "allocator_shim/device/cuda/card_memory.h"

#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "allocator_shim/base/assert.h"
#include "allocator_shim/base/format_bytes.h"
#include "allocator_shim/device/address_space.h"

namespace ohm::cuda {
namespace {

AllocationProperties properties_on(const Card& card) {
  AllocationProperties properties;
  properties.type = kPinnedAllocation;
  properties.location = {kDeviceLocation, card.ordinal()};
  return properties;
}

std::size_t granularity_of(const Card& card) {
  const AllocationProperties properties = properties_on(card);
  std::size_t bytes = 0;
  card.driver().check(card.current().chunk_granularity(&bytes, &properties, kMinimumGranularity),
                      "cuMemGetAllocationGranularity");
  return bytes;
}

std::size_t sum_of(const std::map<DeviceAddress, std::size_t>& parts) {
  return std::accumulate(parts.begin(), parts.end(), std::size_t{0},
                         [](std::size_t sum, const auto& part) { return sum + part.second; });
}

}  // namespace

CardMemory::CardMemory(std::shared_ptr<const Card> card, std::shared_ptr<const Nvml> nvml)
    : card_(std::move(card)), nvml_(std::move(nvml)) {
  const std::size_t granularity = granularity_of(*card_);
  if (granularity == 0 || AddressSpace::kGranuleBytes % granularity != 0) {
    throw GpuUnavailable(card_->properties().name + " maps memory in pieces of " +
                         human_bytes(granularity) + ", not of 2 MiB");
  }
}

CardMemory::~CardMemory() { leave_card(); }

// ---- segments -----------------------------------------------------------------------------------

std::optional<DeviceAddress> CardMemory::allocate_segment(std::size_t bytes) {
  Pointer address = 0;
  const Result result = card_->current().memory_allocate(&address, bytes);
  if (result == kOutOfMemory) return std::nullopt;
  card_->driver().check(result, "cuMemAlloc_v2");
  segments_.emplace(address, bytes);
  return address;
}

void CardMemory::free_segment(DeviceAddress address, [[maybe_unused]] std::size_t bytes) {
  const auto found = segments_.find(address);
  OHM_ASSERT(found != segments_.end() && found->second == bytes,
             "a segment is given back as it was handed out");
  segments_.erase(found);
  if (!gives_back()) return;
  card_->driver().check_release(card_->current().memory_free(address), "cuMemFree_v2");
}

// ---- ranges and what is mapped there ------------------------------------------------------------

DeviceAddress CardMemory::reserve_range(std::size_t bytes) {
  Pointer address = 0;
  card_->driver().check(card_->current().address_reserve(&address, bytes, 0, 0, 0),
                        "cuMemAddressReserve");
  ranges_.emplace(address, bytes);
  return address;
}

void CardMemory::release_range(DeviceAddress address, std::size_t bytes) {
  ranges_.erase(address);
  if (!gives_back()) return;
  card_->driver().check_release(card_->current().address_free(address, bytes), "cuMemAddressFree");
}

bool CardMemory::try_map_chunk(DeviceAddress address, std::size_t bytes) {
  const DriverFunctions& functions = card_->current();
  const AllocationProperties properties = properties_on(*card_);
  AllocationHandle handle = 0;
  const Result created = functions.chunk_create(&handle, bytes, &properties, 0);
  if (created == kOutOfMemory) return false;
  card_->driver().check(created, "cuMemCreate");
  const Result mapped = functions.chunk_map(address, bytes, 0, handle, 0);
  // A mapping keeps its memory: the handle is not needed any more.
  const Result released = functions.chunk_release(handle);
  card_->driver().check(mapped, "cuMemMap");
  chunks_.emplace(address, bytes);
  card_->driver().check(released, "cuMemRelease");
  return true;
}

bool CardMemory::map(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) {
  OHM_ASSERT(bytes % chunk_bytes == 0, "a part of a chunk cannot be mapped");
  std::size_t done = 0;
  while (done < bytes && try_map_chunk(address + done, chunk_bytes)) done += chunk_bytes;
  if (done < bytes) {
    if (done > 0) unmap(address, done, chunk_bytes);
    return false;
  }
  const AccessDescription access = {{kDeviceLocation, card_->ordinal()}, kReadWriteAccess};
  card_->driver().check(card_->current().chunk_set_access(address, bytes, &access, 1),
                        "cuMemSetAccess");
  return true;
}

void CardMemory::unmap_chunk(DeviceAddress address, std::size_t bytes) {
  chunks_.erase(address);
  if (!gives_back()) return;
  card_->driver().check_release(card_->current().chunk_unmap(address, bytes), "cuMemUnmap");
}

void CardMemory::unmap(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) {
  OHM_ASSERT(bytes % chunk_bytes == 0, "a part of a chunk cannot be unmapped");
  // Unlike cuMemFree, cuMemUnmap does not wait for what still uses the memory.
  if (gives_back()) card_->synchronize();
  for (std::size_t done = 0; done < bytes; done += chunk_bytes) {
    unmap_chunk(address + done, chunk_bytes);
  }
}

// ---- what is held -------------------------------------------------------------------------------

std::size_t CardMemory::held_bytes() const { return sum_of(segments_) + sum_of(chunks_); }

std::vector<DeviceProcess> CardMemory::processes() const {
  if (!nvml_) return {};
  return nvml_->processes(card_->properties().pci_bus_id, static_cast<std::uint32_t>(::getpid()));
}

std::size_t CardMemory::context_bytes() const {
  for (const DeviceProcess& process : processes()) {
    if (process.is_own) return process.bytes - std::min(process.bytes, held_bytes());
  }
  return 0;
}

// Nobody is left to be told of failures: memory that cannot be freed goes with the process.
void CardMemory::leave_card() {
  if (!gives_back()) return;
  has_left_ = true;
  if (segments_.empty() && ranges_.empty()) return;
  try {
    const DriverFunctions& functions = card_->current();
    card_->synchronize();
    for (const auto& [address, bytes] : chunks_) functions.chunk_unmap(address, bytes);
    for (const auto& [address, bytes] : ranges_) functions.address_free(address, bytes);
    for (const auto& [address, bytes] : segments_) functions.memory_free(address);
  } catch (const DriverError&) {
    return;
  }
}

}  // namespace ohm::cuda
