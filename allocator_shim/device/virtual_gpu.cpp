#include "allocator_shim/device/virtual_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "allocator_shim/base/assert.h"
#include "allocator_shim/base/format_bytes.h"
#include "allocator_shim/device/host_mapping.h"

namespace ohm {
namespace {

std::size_t address_bytes(std::size_t capacity_bytes, const VirtualGpuOptions& options) {
  // Fragmentation and expandable segments, each of which reserves 1.125 times the capacity, take
  // addresses without taking memory. Addresses that are never reused need more still.
  constexpr std::size_t kCapacities = 16;
  constexpr std::size_t kWithoutReuse = std::size_t{1} << 46U;
  const std::size_t bytes = AddressSpace::round_up(capacity_bytes) * kCapacities;
  const bool reuses = options.address_order != AddressOrder::never_reused;
  return reuses ? bytes : std::max(bytes, kWithoutReuse);
}

DeviceAddress first_address(const VirtualGpuOptions& options) {
  const auto device = static_cast<std::size_t>(options.device);
  return options.address_origin == AddressOrigin::host
             ? VirtualGpu::kFirstHostAddress + device * VirtualGpu::kHostAddressesPerDevice
             : VirtualGpu::kFirstAddress + device * VirtualGpu::kAddressesPerDevice;
}

/// Programs reserve more addresses than a card has memory, if the host lets them.
std::unique_ptr<HostMapping> mapping_at_own_address(std::size_t least_bytes,
                                                    const VirtualGpuOptions& options) {
  constexpr std::size_t kAddressBytes = VirtualGpu::kHostAddressesPerDevice / 2;
  if (least_bytes < kAddressBytes) {
    try {
      return std::make_unique<HostMapping>(kAddressBytes, options.budget, first_address(options));
    } catch (const HostRefusal&) {
      // A limit of the process (ulimit -v) leaves fewer.
    }
  }
  return std::make_unique<HostMapping>(least_bytes, options.budget, first_address(options));
}

std::unique_ptr<HostMapping> values_of(std::size_t capacity_bytes,
                                       const VirtualGpuOptions& options) {
  const bool at_own_address = options.address_origin == AddressOrigin::host;
  if (options.values == ValueMode::size_only) {
    OHM_ASSERT(!at_own_address, "there is no host memory to take the addresses of");
    return nullptr;
  }
  const std::size_t bytes = address_bytes(capacity_bytes, options);
  if (at_own_address) return mapping_at_own_address(bytes, options);
  return std::make_unique<HostMapping>(bytes, options.budget, 0);
}

AddressSpace addresses_of(std::size_t capacity_bytes, const VirtualGpuOptions& options,
                          const HostMapping* values) {
  if (options.address_origin == AddressOrigin::host) {
    const auto base = reinterpret_cast<DeviceAddress>(values->at(0));
    return {base, values->size_bytes(), options.address_order};
  }
  return {first_address(options), address_bytes(capacity_bytes, options), options.address_order};
}

VirtualGpuOptions options_for(const GpuProfile& profile, int device, ValueMode values) {
  VirtualGpuOptions options;
  options.context_bytes = profile.context_bytes;
  options.device = device;
  options.values = values;
  return options;
}

}  // namespace

VirtualGpu::VirtualGpu(std::size_t capacity_bytes, const VirtualGpuOptions& options)
    : VirtualGpu(std::make_shared<SharedGpuMemory>(capacity_bytes), options) {}

VirtualGpu::VirtualGpu(const GpuProfile& profile, int device, ValueMode values)
    : VirtualGpu(profile.capacity_bytes, options_for(profile, device, values)) {}

VirtualGpu::VirtualGpu(std::shared_ptr<SharedGpuMemory> memory, const VirtualGpuOptions& options)
    : options_(options),
      memory_(std::move(memory)),
      place_(memory_->add_process(options.process_id)),
      values_(values_of(memory_->capacity_bytes(), options)),
      addresses_(addresses_of(memory_->capacity_bytes(), options, values_.get())) {
  if (!create_chunk(options.context_bytes)) {
    throw std::invalid_argument(fmt::format(
        "[virtual gpu] a context of {} does not fit into a capacity of {} with {} in use",
        human_bytes(options.context_bytes), human_bytes(memory_->capacity_bytes()),
        human_bytes(memory_->used_bytes())));
  }
}

VirtualGpu::~VirtualGpu() { release_chunk(taken_bytes_); }

bool VirtualGpu::create_chunk(std::size_t bytes) {
  if (!memory_->take(place_, bytes)) return false;
  taken_bytes_ += bytes;
  return true;
}

void VirtualGpu::release_chunk(std::size_t bytes) {
  OHM_ASSERT(bytes <= taken_bytes_, "more given back than taken");
  taken_bytes_ -= bytes;
  memory_->give_back(place_, bytes);
}

void VirtualGpu::commit(DeviceAddress address, std::size_t bytes) {
  try {
    map_chunk(address, bytes);
  } catch (const HostRefusal&) {
    release_chunk(bytes);
    throw;
  }
}

void VirtualGpu::map_chunk(DeviceAddress address, std::size_t bytes) {
  if (values_) values_->commit(address - addresses_.base(), AddressSpace::round_up(bytes));
}

void VirtualGpu::unmap_chunk(DeviceAddress address, std::size_t bytes) {
  if (values_) values_->decommit(address - addresses_.base(), AddressSpace::round_up(bytes));
}

std::optional<DeviceAddress> VirtualGpu::allocate_segment(std::size_t bytes) {
  if (!create_chunk(bytes)) return std::nullopt;
  const std::optional<DeviceAddress> address = addresses_.allocate(bytes);
  if (!address) {
    release_chunk(bytes);
    return std::nullopt;
  }
  try {
    commit(*address, bytes);
  } catch (const HostRefusal&) {
    addresses_.release(*address, bytes);
    throw;
  }
  return address;
}

void VirtualGpu::free_segment(DeviceAddress address, std::size_t bytes) {
  unmap_chunk(address, bytes);
  addresses_.release(address, bytes);
  release_chunk(bytes);
}

DeviceAddress VirtualGpu::reserve_range(std::size_t bytes) {
  const std::optional<DeviceAddress> address = addresses_.allocate(bytes);
  if (!address) {
    throw std::runtime_error(
        fmt::format("[virtual gpu] no addresses left for a range of {}", human_bytes(bytes)));
  }
  return *address;
}

void VirtualGpu::release_range(DeviceAddress address, std::size_t bytes) {
  addresses_.release(address, bytes);
}

bool VirtualGpu::map(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) {
  OHM_ASSERT(bytes % chunk_bytes == 0, "a part of a chunk cannot be mapped");
  if (!create_chunk(bytes)) return false;
  commit(address, bytes);
  return true;
}

void VirtualGpu::unmap(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) {
  OHM_ASSERT(bytes % chunk_bytes == 0, "a part of a chunk cannot be unmapped");
  unmap_chunk(address, bytes);
  release_chunk(bytes);
}

void VirtualGpu::leave_device() {
  const std::size_t bytes = taken_bytes_;
  release_chunk(bytes);
  memory_ = std::make_shared<SharedGpuMemory>(memory_->capacity_bytes());
  place_ = memory_->add_process(options_.process_id);
  create_chunk(bytes);
}

DeviceMemoryInfo VirtualGpu::info() const {
  const std::size_t capacity_bytes = memory_->capacity_bytes();
  return {capacity_bytes - std::min(capacity_bytes, memory_->used_bytes()), capacity_bytes};
}

std::vector<DeviceProcess> VirtualGpu::processes() const {
  std::vector<DeviceProcess> processes;
  if (options_.process_listing == ProcessListing::unavailable) return processes;
  for (const SharedGpuMemory::Process& process : memory_->processes()) {
    const bool is_own = process.place == place_;
    if (is_own || process.bytes > 0) processes.push_back({process.id, is_own, process.bytes});
  }
  return processes;
}

void* VirtualGpu::host_pointer(DeviceAddress address) const {
  return values_ ? values_->at(address - addresses_.base()) : nullptr;
}

}  // namespace ohm
