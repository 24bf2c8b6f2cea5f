// CUDA's runtime: managed memory, which may be more than the card has.
#include <cstdint>
#include <cstring>

#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/managed.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/status.h"
#include "allocator_shim/interpose/work_in_flight.h"

using namespace ohm::interpose;
using ohm::DeviceAddress;

namespace {

DeviceAddress managed_address(const void* pointer) {
  return reinterpret_cast<DeviceAddress>(pointer);
}

/// cudaMemoryAdvise.
enum class Advice : int {
  set_read_mostly = 1,
  unset_read_mostly,
  set_preferred_location,
  unset_preferred_location,
  set_accessed_by,
  unset_accessed_by
};

/// cudaMemRangeAttribute, of those that are one number.
enum class RangeAttribute : int { read_mostly = 1, preferred_location = 2, prefetched_to = 4 };

constexpr unsigned kAttachGlobal = 1;
constexpr unsigned kAttachHost = 2;

}  // namespace

namespace ohm::interpose {

Status prefetch_managed(const void* pointer, std::size_t bytes, int device, const Stream* stream) {
  if (!is_stream(stream)) return Status::invalid_handle;
  const Status status = gpus().prefetch(managed_address(pointer), bytes, device);
  if (status == Status::success) note_launched(stream);
  return status;
}

Status advise_managed(const void* pointer, std::size_t bytes, int number, int location) {
  const auto advice = static_cast<Advice>(number);
  if (advice < Advice::set_read_mostly || advice > Advice::unset_accessed_by) {
    return Status::invalid_value;
  }
  const bool names_location = advice == Advice::set_preferred_location ||
                              advice == Advice::set_accessed_by ||
                              advice == Advice::unset_accessed_by;
  if (names_location && location != kHostLocation && !gpus().has(location)) {
    return Status::invalid_device;
  }
  ManagedAdvice said;
  if (advice == Advice::set_read_mostly) said.is_read_mostly = true;
  if (advice == Advice::unset_read_mostly) said.is_read_mostly = false;
  if (advice == Advice::set_preferred_location) said.preferred_location = location;
  if (advice == Advice::unset_preferred_location) said.preferred_location = kNoLocation;
  return gpus().advise(managed_address(pointer), bytes, said);
}

}  // namespace ohm::interpose

OHM_EXPORTED Status cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags) {
  OHM_RUNTIME_CALL;
  const bool is_known = flags == kAttachGlobal || flags == kAttachHost;
  if (pointer == nullptr || bytes == 0 || !is_known) return noted(Status::invalid_value);
  if (breaks_capture()) return noted(Status::capture_not_allowed);
  DeviceAddress address = 0;
  const Status status = gpus().allocate_managed(bytes, address);
  *pointer = reinterpret_cast<void*>(address);
  return noted(status);
}

OHM_VERSION(prefetch_12, cudaMemPrefetchAsync, "libcudart.so.12")
Status prefetch_12(const void* pointer, std::size_t bytes, int device, Stream* stream) {
  OHM_RUNTIME_CALL_OF("cudaMemPrefetchAsync");
  if (device != kHostLocation && !gpus().has(device)) return noted(Status::invalid_device);
  return noted(prefetch_managed(pointer, bytes, device, stream));
}

OHM_DEFAULT_VERSION(prefetch_13, cudaMemPrefetchAsync, "libcudart.so.13")
Status prefetch_13(const void* pointer, std::size_t bytes, MemoryLocation location, unsigned flags,
                   Stream* stream) {
  OHM_RUNTIME_CALL_OF("cudaMemPrefetchAsync");
  if (flags != 0 || location.type == MemoryLocation::Type::none)
    return noted(Status::invalid_value);
  return noted(prefetch_managed(pointer, bytes, location.number(), stream));
}

OHM_VERSION(advise_12, cudaMemAdvise, "libcudart.so.12")
Status advise_12(const void* pointer, std::size_t bytes, int advice, int device) {
  OHM_RUNTIME_CALL_OF("cudaMemAdvise");
  return noted(advise_managed(pointer, bytes, advice, device));
}

OHM_DEFAULT_VERSION(advise_13, cudaMemAdvise, "libcudart.so.13")
Status advise_13(const void* pointer, std::size_t bytes, int advice, MemoryLocation location) {
  OHM_RUNTIME_CALL_OF("cudaMemAdvise");
  return noted(advise_managed(pointer, bytes, advice, location.number()));
}

OHM_EXPORTED Status cudaMemRangeGetAttribute(void* data, std::size_t data_bytes, int attribute,
                                             const void* pointer, std::size_t bytes) {
  OHM_RUNTIME_CALL;
  if (data == nullptr || data_bytes != sizeof(int)) return noted(Status::invalid_value);
  ManagedAdvice known;
  const Status status = gpus().advice_on(managed_address(pointer), bytes, known);
  if (status != Status::success) return noted(status);
  int value = 0;
  switch (static_cast<RangeAttribute>(attribute)) {
    case RangeAttribute::read_mostly:
      value = known.is_read_mostly.value_or(false) ? 1 : 0;
      break;
    case RangeAttribute::preferred_location:
      value = known.preferred_location.value_or(kNoLocation);
      break;
    case RangeAttribute::prefetched_to:
      value = known.prefetched_to.value_or(kNoLocation);
      break;
    default:
      return noted(Status::not_supported);
  }
  std::memcpy(data, &value, sizeof(value));
  return Status::success;
}
