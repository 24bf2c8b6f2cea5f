// CUDA's driver: what an address is.
#include <cstddef>
#include <cstdint>
#include <optional>

#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/status.h"

using namespace ohm::interpose;
using ohm::DeviceAddress;

namespace {

/// CUpointer_attribute.
enum class PointerAttribute : int {
  context = 1,
  memory_type,
  device_pointer,
  host_pointer,
  peer_tokens,
  synchronizes_copies,
  buffer_id,
  is_managed,
  device_ordinal,
  is_legacy_shareable,
  range_start,
  range_size,
  is_mapped,
  allowed_handle_types,
  is_peer_only,
  access_flags,
  pool,
  mapping_size,
  mapping_base,
  mapping_id,
  last = 22
};

// Numbers of CUmemorytype.
constexpr unsigned kHostMemory = 1;
constexpr unsigned kDeviceMemory = 2;

/// Memory that the driver knows.
struct KnownMemory {
  int device = 0;
  DeviceAddress begin = 0;
  std::size_t bytes = 0;
  bool is_managed = false;
  bool is_of_host = false;  ///< page-locked
};

std::optional<KnownMemory> memory_at(DeviceAddress address) {
  const auto* const pointer = reinterpret_cast<const void*>(address);
  if (const auto range = gpus().find(address)) {
    return KnownMemory{range->device, range->address, range->bytes, false, false};
  }
  if (const auto range = gpus().managed_range(address)) {
    return KnownMemory{range->device, range->address, range->bytes, true, false};
  }
  if (const auto range = gpus().pinned_range(pointer)) {
    return KnownMemory{range->device, range->address, range->bytes, false,
                       !gpus().is_variable(pointer)};
  }
  return std::nullopt;
}

template <typename Value>
Status write(void* to, Value value) {
  *static_cast<Value*>(to) = value;
  return Status::success;
}

Status tell_attribute(const KnownMemory& memory, PointerAttribute attribute, DeviceAddress address,
                      void* value) {
  switch (attribute) {
    case PointerAttribute::context: {
      const Context* const context = gpus().context_of(address);
      return write(value, context != nullptr ? context : primary_context(memory.device));
    }
    case PointerAttribute::memory_type:
      return write<unsigned>(value, memory.is_of_host ? kHostMemory : kDeviceMemory);
    case PointerAttribute::device_pointer:
      return write<DeviceAddress>(value, address);
    case PointerAttribute::host_pointer: {
      const bool is_reached = memory.is_of_host || memory.is_managed;
      write<DeviceAddress>(value, is_reached ? address : 0);
      return is_reached ? Status::success : Status::invalid_value;
    }
    case PointerAttribute::buffer_id:
    case PointerAttribute::mapping_id:
      return write<std::uint64_t>(value, memory.begin);
    case PointerAttribute::is_managed:
      return write<unsigned>(value, memory.is_managed ? 1 : 0);
    case PointerAttribute::device_ordinal:
      return write<int>(value, memory.device);
    case PointerAttribute::range_start:
    case PointerAttribute::mapping_base:
      return write<DeviceAddress>(value, memory.begin);
    case PointerAttribute::range_size:
    case PointerAttribute::mapping_size:
      return write<std::size_t>(value, memory.bytes);
    case PointerAttribute::is_mapped:
      return write<unsigned>(value, 1);
    case PointerAttribute::synchronizes_copies:
      return write<unsigned>(value, 0);
    default:
      break;
  }
  const bool is_attribute =
      attribute >= PointerAttribute::context && attribute <= PointerAttribute::last;
  return is_attribute ? Status::not_supported : Status::invalid_value;
}

}  // namespace

OHM_EXPORTED Status cuPointerGetAttribute(void* value, int attribute, DeviceAddress address) {
  OHM_DRIVER_CALL;
  if (value == nullptr) return Status::invalid_value;
  const auto memory = memory_at(address);
  if (!memory) return Status::invalid_value;
  return tell_attribute(*memory, static_cast<PointerAttribute>(attribute), address, value);
}

/// Of an address that nobody knows, attributes are 0.
OHM_EXPORTED Status cuPointerGetAttributes(unsigned count, const int* attributes, void** values,
                                           DeviceAddress address) {
  OHM_CONTEXT_CALL;
  if (count == 0 || attributes == nullptr || values == nullptr) return Status::invalid_value;
  for (unsigned i = 0; i < count; ++i) cuPointerGetAttribute(values[i], attributes[i], address);
  return Status::success;
}
