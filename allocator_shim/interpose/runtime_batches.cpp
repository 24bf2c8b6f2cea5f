// CUDA's runtime: several copies or prefetches with one call, and copies between GPUs in three
// dimensions.
#include <cstddef>
#include <cstdint>

#include "allocator_shim/interpose/copies.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/managed.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/status.h"
#include "allocator_shim/interpose/volume_copy.h"

using namespace ohm::interpose;

extern "C" Status cudaMemRangeGetAttribute(void* data, std::size_t data_bytes, int attribute,
                                           const void* pointer, std::size_t bytes);

namespace {

/// cudaMemcpyAttributes.
struct CopyAttributes {
  int access_order;  ///< 1 to 3
  MemoryLocation from, to;
  unsigned flags;
};

/// Where what is said of the members of a list begins: the first at 0, each after the one before.
bool are_beginnings(const std::size_t* begins, std::size_t count, std::size_t most) {
  if (begins == nullptr || count == 0 || count > most || begins[0] != 0) return false;
  for (std::size_t i = 1; i < count; ++i) {
    if (begins[i] <= begins[i - 1] || begins[i] >= most) return false;
  }
  return true;
}

bool are_attributes(const CopyAttributes* attributes, std::size_t count) {
  constexpr int kLastOrder = 3;
  if (attributes == nullptr) return false;
  for (std::size_t i = 0; i < count; ++i) {
    const int order = attributes[i].access_order;
    if (order < 1 || order > kLastOrder) return false;
  }
  return true;
}

/// cudaMemcpy3DPeerParms.
struct PeerVolumeCopy {
  Array* from_array;
  Position from_position;
  PitchedPointer from;
  int from_device;
  Array* to_array;
  Position to_position;
  PitchedPointer to;
  int to_device;
  Extent extent;

  bool has_devices() const { return gpus().has(from_device) && gpus().has(to_device); }
  VolumeCopy volume() const {
    return {from_array,  from_position,
            from,        to_array,
            to_position, to,
            extent,      static_cast<int>(Direction::device_to_device)};
  }
};

}  // namespace

/// In any order, on a stream that is not the legacy one.
OHM_DEFAULT_VERSION(copy_batch_13, cudaMemcpyBatchAsync, "libcudart.so.13")
Status copy_batch_13(void* const* to, const void* const* from, const std::size_t* bytes,
                     std::size_t count, const CopyAttributes* attributes, const std::size_t* begins,
                     std::size_t attribute_count, Stream* stream) {
  OHM_RUNTIME_CALL_OF("cudaMemcpyBatchAsync");
  if (!is_stream(stream)) return noted(Status::invalid_handle);
  const bool is_right = to != nullptr && from != nullptr && bytes != nullptr && count != 0 &&
                        !is_legacy(stream) && are_beginnings(begins, attribute_count, count) &&
                        are_attributes(attributes, attribute_count);
  if (!is_right) return noted(Status::invalid_value);
  for (std::size_t i = 0; i < count; ++i) {
    const Status status = copy_on(stream, to[i], from[i], bytes[i], Direction::unified);
    if (status != Status::success) return noted(status);
  }
  return Status::success;
}

/// `failed`: a copy that could not be made.
OHM_VERSION(copy_batch_12, cudaMemcpyBatchAsync, "libcudart.so.12")
Status copy_batch_12(void* const* to, const void* const* from, const std::size_t* bytes,
                     std::size_t count, const CopyAttributes* attributes, const std::size_t* begins,
                     std::size_t attribute_count, std::size_t* failed, Stream* stream) {
  if (failed != nullptr) *failed = SIZE_MAX;
  return copy_batch_13(to, from, bytes, count, attributes, begins, attribute_count, stream);
}

OHM_EXPORTED Status cudaMemPrefetchBatchAsync(void* const* pointers, const std::size_t* bytes,
                                              std::size_t count, const MemoryLocation* locations,
                                              const std::size_t* begins, std::size_t location_count,
                                              std::uint64_t flags, Stream* stream) {
  OHM_RUNTIME_CALL;
  if (!is_stream(stream)) return noted(Status::invalid_handle);
  const bool is_right = pointers != nullptr && bytes != nullptr && count != 0 &&
                        locations != nullptr && flags == 0 && !is_legacy(stream) &&
                        are_beginnings(begins, location_count, count);
  if (!is_right) return noted(Status::invalid_value);
  std::size_t location = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (location + 1 < location_count && begins[location + 1] == i) ++location;
    const Status status =
        prefetch_managed(pointers[i], bytes[i], locations[location].number(), stream);
    if (status != Status::success) return noted(status);
  }
  return Status::success;
}

OHM_EXPORTED Status cudaMemRangeGetAttributes(void** data, const std::size_t* data_bytes,
                                              const int* attributes, std::size_t count,
                                              const void* pointer, std::size_t bytes) {
  OHM_RUNTIME_CALL;
  const bool is_right =
      data != nullptr && data_bytes != nullptr && attributes != nullptr && count != 0;
  if (!is_right) return noted(Status::invalid_value);
  for (std::size_t i = 0; i < count; ++i) {
    const Status status =
        cudaMemRangeGetAttribute(data[i], data_bytes[i], attributes[i], pointer, bytes);
    if (status != Status::success) return status;
  }
  return Status::success;
}

OHM_EXPORTED Status cudaMemcpy3DPeerAsync(const PeerVolumeCopy* copied, Stream* stream) {
  OHM_RUNTIME_CALL;
  if (copied == nullptr) return noted(Status::invalid_value);
  if (!copied->has_devices()) return noted(Status::invalid_device);
  return noted(on_stream(
      stream, [volume = copied->volume()] { return volume.copy(Direction::device_to_device); }));
}

OHM_EXPORTED Status cudaMemcpy3DPeer(const PeerVolumeCopy* copied) {
  OHM_RUNTIME_CALL;
  return cudaMemcpy3DPeerAsync(copied, nullptr);
}
