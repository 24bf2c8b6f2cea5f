// CUDA's driver: managed memory, as the runtime has it.
#include <cstddef>
#include <cstdint>

#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/managed.h"
#include "allocator_shim/interpose/status.h"

using namespace ohm::interpose;
using ohm::DeviceAddress;

extern "C" {
Status cudaMemRangeGetAttribute(void* data, std::size_t data_bytes, int attribute,
                                const void* pointer, std::size_t bytes);
}

namespace {

const void* pointer_to(DeviceAddress address) { return reinterpret_cast<const void*>(address); }

}  // namespace

OHM_EXPORTED Status cuMemPrefetchAsync(DeviceAddress address, std::size_t bytes, int device,
                                       Stream* stream) {
  OHM_CONTEXT_CALL;
  if (device != kHostLocation && !gpus().has(device)) return Status::invalid_device;
  return prefetch_managed(pointer_to(address), bytes, device, stream);
}

OHM_EXPORTED Status cuMemPrefetchAsync_v2(DeviceAddress address, std::size_t bytes,
                                          MemoryLocation location, unsigned flags, Stream* stream) {
  OHM_CONTEXT_CALL;
  if (flags != 0 || location.type == MemoryLocation::Type::none) return Status::invalid_value;
  return prefetch_managed(pointer_to(address), bytes, location.number(), stream);
}

OHM_EXPORTED Status cuMemAdvise(DeviceAddress address, std::size_t bytes, int advice, int device) {
  OHM_CONTEXT_CALL;
  return advise_managed(pointer_to(address), bytes, advice, device);
}

OHM_EXPORTED Status cuMemAdvise_v2(DeviceAddress address, std::size_t bytes, int advice,
                                   MemoryLocation location) {
  OHM_CONTEXT_CALL;
  return advise_managed(pointer_to(address), bytes, advice, location.number());
}

OHM_EXPORTED Status cuMemRangeGetAttribute(void* data, std::size_t data_bytes, int attribute,
                                           DeviceAddress address, std::size_t bytes) {
  OHM_CONTEXT_CALL;
  return cudaMemRangeGetAttribute(data, data_bytes, attribute, pointer_to(address), bytes);
}
