// Memory of cards and of the host, what is copied between them and filled.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <utility>

#include "tests/support/stand_in_driver/driver_objects.h"

namespace ohm::stand_in::driver {

Result memory_info(std::size_t* free_bytes, std::size_t* total_bytes) {
  Machine& now = machine();
  if (const int error = now.begin("cuMemGetInfo_v2")) return error;
  std::size_t unmapped = 0;
  for (const auto& [handle, bytes] : now.chunks) unmapped += bytes;
  *free_bytes = now.card().context->info().free_bytes - unmapped;
  *total_bytes = now.capacity_bytes;
  return kSuccess;
}

Result memory_allocate(Pointer* address, std::size_t bytes) {
  Machine& now = machine();
  if (const int error = now.begin("cuMemAlloc_v2")) return error;
  if (bytes == 0) return now.wrong("cuMemAlloc of nothing");
  const auto segment = now.card().context->allocate_segment(bytes);
  if (!segment) return kOutOfMemory;
  now.card().segments.emplace(*segment, bytes);
  *address = *segment;
  return kSuccess;
}

Result memory_free(Pointer address) {
  Machine& now = machine();
  if (const int error = now.begin("cuMemFree_v2")) return error;
  const auto found = now.card().segments.find(address);
  if (found == now.card().segments.end())
    return now.wrong("cuMemFree of what is not a segment here");
  now.card().context->free_segment(address, found->second);
  now.card().segments.erase(found);
  return kSuccess;
}

Result address_reserve(Pointer* address, std::size_t bytes, std::size_t /*alignment*/,
                       Pointer /*hint*/, unsigned long long /*flags*/) {
  Machine& now = machine();
  if (const int error = now.begin("cuMemAddressReserve")) return error;
  if (bytes % AddressSpace::kGranuleBytes != 0) return now.wrong("a range of no whole granules");
  *address = now.card().context->reserve_range(bytes);
  now.card().ranges.emplace(*address, bytes);
  return kSuccess;
}

Result address_free(Pointer address, std::size_t bytes) {
  Machine& now = machine();
  if (const int error = now.begin("cuMemAddressFree")) return error;
  const auto found = now.card().ranges.find(address);
  if (found == now.card().ranges.end() || found->second != bytes) {
    return now.wrong("cuMemAddressFree of what is not a range");
  }
  const auto mapped = now.card().mapped.lower_bound(address);
  if (mapped != now.card().mapped.end() && mapped->first < address + bytes) {
    return now.wrong("cuMemAddressFree of a range with memory in it");
  }
  now.card().context->release_range(address, bytes);
  now.card().ranges.erase(found);
  return kSuccess;
}

Result chunk_granularity(std::size_t* bytes, const AllocationProperties* properties, int which) {
  Machine& now = machine();
  if (const int error = now.begin("cuMemGetAllocationGranularity")) return error;
  if (properties->location.type != kDeviceLocation || which != kMinimumGranularity) {
    return now.wrong("the granularity of something else");
  }
  *bytes = AddressSpace::kGranuleBytes;
  return kSuccess;
}

Result chunk_create(AllocationHandle* handle, std::size_t bytes,
                    const AllocationProperties* properties, unsigned long long flags) {
  Machine& now = machine();
  if (const int error = now.begin("cuMemCreate")) return error;
  const bool makes_sense = properties->type == kPinnedAllocation &&
                           properties->location.type == kDeviceLocation &&
                           properties->location.id == now.card().index && flags == 0 &&
                           bytes % AddressSpace::kGranuleBytes == 0;
  if (!makes_sense) return now.wrong("cuMemCreate with properties that make no sense");
  if (bytes > now.card().context->info().free_bytes) return kOutOfMemory;
  *handle = now.next_chunk++;
  now.chunks.emplace(*handle, bytes);
  return kSuccess;
}

Result chunk_release(AllocationHandle handle) {
  Machine& now = machine();
  if (const int error = now.begin("cuMemRelease")) return error;
  if (now.chunks.erase(handle) == 0) return now.wrong("cuMemRelease of no handle");
  return kSuccess;
}

Result chunk_map(Pointer address, std::size_t bytes, std::size_t offset, AllocationHandle handle,
                 unsigned long long flags) {
  Machine& now = machine();
  if (const int error = now.begin("cuMemMap")) return error;
  const auto chunk = now.chunks.find(handle);
  if (chunk == now.chunks.end() || chunk->second != bytes || offset != 0 || flags != 0) {
    return now.wrong("cuMemMap of what was not created so");
  }
  const auto after = now.card().ranges.upper_bound(address);
  const bool in_range = after != now.card().ranges.begin() &&
                        address + bytes <= std::prev(after)->first + std::prev(after)->second;
  if (!in_range) return now.wrong("cuMemMap outside any range");
  if (now.card().mapped.count(address) > 0) return now.wrong("cuMemMap twice");
  now.card().context->map(address, bytes, bytes);
  now.card().mapped.emplace(address, bytes);
  return kSuccess;
}

Result chunk_unmap(Pointer address, std::size_t bytes) {
  Machine& now = machine();
  if (const int error = now.begin("cuMemUnmap")) return error;
  const auto found = now.card().mapped.find(address);
  if (found == now.card().mapped.end() || found->second != bytes) {
    return now.wrong("cuMemUnmap of what was not mapped so");
  }
  now.card().context->unmap(address, bytes, bytes);
  now.card().mapped.erase(found);
  return kSuccess;
}

Result chunk_set_access(Pointer address, std::size_t bytes, const AccessDescription* access,
                        std::size_t count) {
  Machine& now = machine();
  if (const int error = now.begin("cuMemSetAccess")) return error;
  std::size_t mapped = 0;
  for (auto at = now.card().mapped.lower_bound(address);
       at != now.card().mapped.end() && at->first < address + bytes; ++at) {
    mapped += at->second;
  }
  if (mapped != bytes || count != 1 || access->flags != kReadWriteAccess) {
    return now.wrong("cuMemSetAccess of what is not mapped");
  }
  return kSuccess;
}

Result host_allocate(void** memory, std::size_t bytes, unsigned flags) {
  Machine& now = machine();
  if (const int error = now.begin("cuMemHostAlloc")) return error;
  if (flags != kPortableHostMemory) return now.wrong("pinned memory of another kind");
  auto block = std::make_unique<char[]>(bytes);
  *memory = block.get();
  now.host_blocks.emplace(*memory, std::move(block));
  return kSuccess;
}

Result host_free(void* memory) {
  Machine& now = machine();
  if (const int error = now.begin("cuMemFreeHost")) return error;
  if (now.host_blocks.erase(memory) == 0) return now.wrong("cuMemFreeHost of what is not");
  return kSuccess;
}

// ---- copies and fills ---------------------------------------------------------------------------

namespace {

template <class T>
Result fill(Pointer to, T item, std::size_t count) {
  if (to % sizeof item != 0) return machine().wrong("a misaligned fill");
  auto* const memory = static_cast<T*>(memory_at(to, count * sizeof item));
  if (memory == nullptr) return kInvalidValue;
  std::fill_n(memory, count, item);
  return kSuccess;
}

}  // namespace

Result copy_to_device(Pointer to, const void* from, std::size_t bytes) {
  if (const int error = machine().begin("cuMemcpyHtoD_v2")) return error;
  void* const memory = memory_at(to, bytes);
  if (memory == nullptr) return kInvalidValue;
  std::memcpy(memory, from, bytes);
  return kSuccess;
}

Result copy_from_device(void* to, Pointer from, std::size_t bytes) {
  if (const int error = machine().begin("cuMemcpyDtoH_v2")) return error;
  const void* const memory = memory_at(from, bytes);
  if (memory == nullptr) return kInvalidValue;
  std::memcpy(to, memory, bytes);
  return kSuccess;
}

Result copy_on_device(Pointer to, Pointer from, std::size_t bytes) {
  if (const int error = machine().begin("cuMemcpyDtoD_v2")) return error;
  void* const target = memory_at(to, bytes);
  const void* const source = memory_at(from, bytes);
  if (target == nullptr || source == nullptr) return kInvalidValue;
  if (to < from + bytes && from < to + bytes) return machine().wrong("a copy over itself");
  std::memcpy(target, source, bytes);
  return kSuccess;
}

Result copy_to_peer(Pointer to, ContextHandle to_context, Pointer from, ContextHandle from_context,
                    std::size_t bytes) {
  if (const int error = machine().begin("cuMemcpyPeer")) return error;
  void* const target = memory_at(*reinterpret_cast<CudaDevice*>(to_context), to, bytes);
  const void* const source = memory_at(*reinterpret_cast<CudaDevice*>(from_context), from, bytes);
  if (target == nullptr || source == nullptr) return kInvalidValue;
  std::memcpy(target, source, bytes);
  return kSuccess;
}

Result set_bytes(Pointer to, unsigned char item, std::size_t count) {
  if (const int error = machine().begin("cuMemsetD8_v2")) return error;
  return fill(to, item, count);
}

Result set_halves(Pointer to, unsigned short item, std::size_t count) {
  if (const int error = machine().begin("cuMemsetD16_v2")) return error;
  return fill(to, item, count);
}

Result set_words(Pointer to, unsigned item, std::size_t count) {
  if (const int error = machine().begin("cuMemsetD32_v2")) return error;
  return fill(to, item, count);
}

}  // namespace ohm::stand_in::driver
