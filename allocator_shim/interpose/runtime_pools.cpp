// CUDA's runtime: stream-ordered memory and its pools.
#include <array>
#include <cstdint>

#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/memory_pool.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/status.h"
#include "allocator_shim/interpose/stub.h"

using namespace ohm::interpose;
using ohm::DeviceAddress;

namespace {

/// cudaMemPoolAttr.
enum class PoolAttribute : int {
  first_switch = 1,
  last_switch = 3,
  release_threshold = 4,
  reserved = 5,
  reserved_high = 6,
  used = 7,
  used_high = 8,
};

constexpr int kPinnedPool = 1;
constexpr int kPoolOnDevice = 1;
constexpr int kReadAndWriteFlags = 3;

bool is_switch(PoolAttribute attribute) {
  return attribute >= PoolAttribute::first_switch && attribute <= PoolAttribute::last_switch;
}

std::size_t switch_index(PoolAttribute attribute) {
  return static_cast<std::size_t>(attribute) -
         static_cast<std::size_t>(PoolAttribute::first_switch);
}

Status get(const MemoryPool& pool, PoolAttribute attribute, void* value) {
  auto* const number = static_cast<std::uint64_t*>(value);
  switch (attribute) {
    case PoolAttribute::release_threshold:
      *number = pool.release_threshold;
      return Status::success;
    case PoolAttribute::reserved:
      *number = pool.reserved_bytes();
      return Status::success;
    case PoolAttribute::reserved_high:
      *number = pool.reserved_high_bytes;
      return Status::success;
    case PoolAttribute::used:
      *number = pool.used_bytes;
      return Status::success;
    case PoolAttribute::used_high:
      *number = pool.used_high_bytes;
      return Status::success;
    default:
      break;
  }
  if (!is_switch(attribute)) return Status::invalid_value;
  *static_cast<int*>(value) = pool.reuse_switches.at(switch_index(attribute));
  return Status::success;
}

/// Marks are only reset.
Status set(MemoryPool& pool, PoolAttribute attribute, const void* value) {
  if (is_switch(attribute)) {
    pool.reuse_switches.at(switch_index(attribute)) = *static_cast<const int*>(value) != 0 ? 1 : 0;
    return Status::success;
  }
  const std::uint64_t number = *static_cast<const std::uint64_t*>(value);
  if (attribute == PoolAttribute::release_threshold) {
    pool.release_threshold = number;
    return Status::success;
  }
  if (number != 0) return Status::invalid_value;
  if (attribute == PoolAttribute::reserved_high) {
    pool.reserved_high_bytes = pool.reserved_bytes();
    return Status::success;
  }
  if (attribute == PoolAttribute::used_high) {
    pool.used_high_bytes = pool.used_bytes;
    return Status::success;
  }
  return Status::invalid_value;
}

Status pool_of(void** pool, MemoryPool* found) {
  *pool = found;
  return found != nullptr ? Status::success : noted(Status::invalid_device);
}

}  // namespace

OHM_EXPORTED Status cudaDeviceGetDefaultMemPool(void** pool, int device) {
  OHM_RUNTIME_CALL;
  if (pool == nullptr) return noted(Status::invalid_value);
  return pool_of(pool, gpus().default_pool(device));
}

OHM_EXPORTED Status cudaDeviceGetMemPool(void** pool, int device) {
  OHM_RUNTIME_CALL;
  if (pool == nullptr) return noted(Status::invalid_value);
  return pool_of(pool, gpus().current_pool(device));
}

OHM_EXPORTED Status cudaDeviceSetMemPool(int device, MemoryPool* pool) {
  OHM_RUNTIME_CALL;
  return noted(gpus().choose_pool(device, pool));
}

OHM_EXPORTED Status cudaMemPoolCreate(void** pool, const PoolProperties* properties) {
  OHM_RUNTIME_CALL;
  if (pool == nullptr || properties == nullptr) return noted(Status::invalid_value);
  const bool is_on_device =
      properties->allocation_type == kPinnedPool && properties->location_type == kPoolOnDevice;
  if (!is_on_device) return noted(Status::invalid_value);
  return pool_of(pool, gpus().create_pool(properties->device, properties->most_bytes,
                                          properties->handle_types));
}

OHM_EXPORTED Status cudaMemPoolDestroy(MemoryPool* pool) {
  OHM_RUNTIME_CALL;
  return noted(gpus().destroy_pool(pool));
}

OHM_EXPORTED Status cudaMemPoolTrimTo(MemoryPool* pool, std::size_t kept_bytes) {
  OHM_RUNTIME_CALL;
  return noted(gpus().trim_pool(pool, kept_bytes));
}

OHM_EXPORTED Status cudaMemPoolGetAttribute(MemoryPool* pool, int attribute, void* value) {
  OHM_RUNTIME_CALL;
  if (value == nullptr) return noted(Status::invalid_value);
  return noted(gpus().with_pool(pool, [&](MemoryPool& one) {
    return get(one, static_cast<PoolAttribute>(attribute), value);
  }));
}

OHM_EXPORTED Status cudaMemPoolSetAttribute(MemoryPool* pool, int attribute, void* value) {
  OHM_RUNTIME_CALL;
  if (value == nullptr) return noted(Status::invalid_value);
  return noted(gpus().with_pool(pool, [&](MemoryPool& one) {
    return set(one, static_cast<PoolAttribute>(attribute), value);
  }));
}

/// A pool's own GPU always reaches it.
OHM_EXPORTED Status cudaMemPoolSetAccess(MemoryPool* pool, const PoolAccess* accesses,
                                         std::size_t count) {
  OHM_RUNTIME_CALL;
  if (accesses == nullptr && count != 0) return noted(Status::invalid_value);
  return noted(gpus().with_pool(pool, [&](MemoryPool& one) {
    for (std::size_t i = 0; i < count; ++i) {
      const PoolAccess& access = accesses[i];
      if (access.location_type != kPoolOnDevice) return Status::invalid_value;
      if (!gpus().has(access.device)) return Status::invalid_device;
      const bool is_flag = access.flags == 0 || access.flags == kReadAndWriteFlags;
      if (!is_flag || (access.device == one.device && access.flags == 0)) {
        return Status::invalid_value;
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(accesses[i].device);
      one.other_devices =
          accesses[i].flags != 0 ? one.other_devices | bit : one.other_devices & ~bit;
    }
    return Status::success;
  }));
}

OHM_EXPORTED Status cudaMemPoolGetAccess(int* flags, const MemoryPool* pool,
                                         const PoolLocation* location) {
  OHM_RUNTIME_CALL;
  if (flags == nullptr || location == nullptr || !gpus().is_pool(pool)) {
    return noted(Status::invalid_value);
  }
  if (location->type != kPoolOnDevice || !gpus().has(location->device)) {
    return noted(Status::invalid_device);
  }
  const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(location->device);
  const bool has_access = location->device == pool->device || (pool->other_devices & bit) != 0;
  *flags = has_access ? kReadAndWriteFlags : 0;
  return Status::success;
}

namespace {

/// Whether another process could get it in one of these ways, which no virtual GPU has.
Status export_pool(const MemoryPool* pool, int handle_type, const char* name) {
  const bool is_right =
      gpus().is_pool(pool) && handle_type != 0 && (pool->handle_types & handle_type) == handle_type;
  if (!is_right) return noted(Status::invalid_value);
  report_unsupported(name);
  return noted(Status::not_supported);
}

}  // namespace

OHM_EXPORTED Status cudaMemPoolExportToShareableHandle(void* handle, const MemoryPool* pool,
                                                       int handle_type, unsigned flags) {
  OHM_RUNTIME_CALL;
  if (handle == nullptr || flags != 0) return noted(Status::invalid_value);
  return export_pool(pool, handle_type, __func__);
}

OHM_EXPORTED Status cudaMemPoolExportPointer(void* exported, const void* pointer) {
  OHM_RUNTIME_CALL;
  const MemoryPool* const pool = gpus().pool_of(reinterpret_cast<DeviceAddress>(pointer));
  if (exported == nullptr || pool == nullptr) return noted(Status::invalid_value);
  return export_pool(pool, pool->handle_types, __func__);
}

OHM_EXPORTED Status cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, MemoryPool* pool,
                                            Stream* stream) {
  OHM_RUNTIME_CALL;
  if (pointer == nullptr) return noted(Status::invalid_value);
  if (!is_stream(stream)) return noted(Status::invalid_handle);
  DeviceAddress address = 0;
  const Status status = gpus().allocate_from(pool, bytes, current_context(), address);
  *pointer = reinterpret_cast<void*>(address);
  return noted(status);
}

OHM_EXPORTED Status cudaMallocAsync(void** pointer, std::size_t bytes, Stream* stream) {
  OHM_RUNTIME_CALL;
  const int device = gpus().current();
  if (!is_stream(stream)) return noted(Status::invalid_handle);
  if (capture_of(stream) == nullptr) {
    return cudaMallocFromPoolAsync(pointer, bytes, gpus().current_pool(device), stream);
  }
  const Status status = cudaMallocFromPoolAsync(pointer, bytes, gpus().graph_pool(device), nullptr);
  if (status == Status::success) capture_work(stream, NodeType::allocation);
  return status;
}

OHM_EXPORTED Status cudaFreeAsync(void* pointer, Stream* stream) {
  OHM_RUNTIME_CALL;
  if (!is_stream(stream)) return noted(Status::invalid_handle);
  if (pointer == nullptr) return noted(Status::invalid_value);
  if (capture_of(stream) != nullptr) capture_work(stream, NodeType::free);
  return noted(gpus().free(reinterpret_cast<DeviceAddress>(pointer)));
}

OHM_EXPORTED Status cudaDeviceGraphMemTrim(int device) {
  OHM_RUNTIME_CALL;
  MemoryPool* const pool = gpus().graph_pool(device);
  return noted(pool == nullptr ? Status::invalid_device : gpus().trim_pool(pool, 0));
}

OHM_EXPORTED Status cudaDeviceGetGraphMemAttribute(int device, int attribute,
                                                   std::uint64_t* value) {
  OHM_RUNTIME_CALL;
  if (value == nullptr) return noted(Status::invalid_value);
  MemoryPool* const pool = gpus().graph_pool(device);
  if (pool == nullptr) return noted(Status::invalid_device);
  return noted(gpus().with_pool(pool, [&](const MemoryPool& one) {
    const std::array<std::size_t, 4> values = {one.used_bytes, one.used_high_bytes,
                                               one.reserved_bytes(), one.reserved_high_bytes};
    if (attribute < 0 || static_cast<std::size_t>(attribute) >= values.size()) {
      return Status::invalid_value;
    }
    *value = values.at(static_cast<std::size_t>(attribute));
    return Status::success;
  }));
}

/// Marks are reset, and nothing else is set.
OHM_EXPORTED Status cudaDeviceSetGraphMemAttribute(int device, int attribute,
                                                   const std::uint64_t* value) {
  OHM_RUNTIME_CALL;
  constexpr int kUsedHigh = 1;
  constexpr int kReservedHigh = 3;
  const bool is_mark = attribute == kUsedHigh || attribute == kReservedHigh;
  if (value == nullptr || *value != 0 || !is_mark) return noted(Status::invalid_value);
  MemoryPool* const pool = gpus().graph_pool(device);
  if (pool == nullptr) return noted(Status::invalid_device);
  return noted(gpus().with_pool(pool, [&](MemoryPool& one) {
    return set(one,
               attribute == kUsedHigh ? PoolAttribute::used_high : PoolAttribute::reserved_high,
               value);
  }));
}
