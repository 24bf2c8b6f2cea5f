// The request interface: how the runtime asks for memory.
//
// The caching allocator implements it; adaptors at the request level (fault plan) wrap it. The
// runtime holds a RequestAllocator per device and cannot know what stands behind it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "allocator_shim/device/device_memory.h"
#include "allocator_shim/device/stream_events.h"
#include "allocator_shim/observe/category.h"
#include "allocator_shim/observe/memory_stats.h"
#include "allocator_shim/observe/out_of_memory.h"
#include "allocator_shim/observe/site.h"

namespace ohm {

/// The use that the caller has for the memory; faults are injected by it. A category is another
/// thing: the flat buffer of a collective may hold gradients.
enum class RequestPurpose : std::uint8_t {
  tensor,
  workspace,   ///< of a kernel or a library
  collective,  ///< a buffer that moves tensors between devices or ranks
  pinned       ///< host memory that GPUs copy from and to
};

struct AllocationRequest {
  std::size_t bytes = 0;
  StreamId stream = kDefaultStream;
  Category category = Category::other;
  SiteId site = kUnknownSite;
  RequestPurpose purpose = RequestPurpose::tensor;
};

/// Names one live block to the allocator that handed it out; meaningless to any other.
using BlockHandle = void*;

struct Allocation {
  BlockHandle block = nullptr;  ///< nullptr for a request of 0 bytes: there is nothing to free
  DeviceAddress address = 0;
  void* values = nullptr;  ///< host memory behind the block; nullptr on size-only devices
};

/// A block that counts as active, as a memory report shows it.
struct LiveBlock {
  DeviceAddress address = 0;
  std::size_t bytes = 0;            ///< of the block, after rounding and splitting
  std::size_t requested_bytes = 0;  ///< as the caller asked
  Category category = Category::other;
  SiteId site = kUnknownSite;
  bool pending_free = false;  ///< freed, waiting for other streams
};

class RequestAllocator {
 public:
  RequestAllocator() = default;
  RequestAllocator(const RequestAllocator&) = delete;
  RequestAllocator& operator=(const RequestAllocator&) = delete;
  virtual ~RequestAllocator() = default;

  /// Throws OutOfMemory when neither the cache nor the device has room.
  virtual Allocation allocate(const AllocationRequest& request) = 0;

  /// Gives a block back. Never throws for a block of this allocator.
  virtual void free(BlockHandle block) = 0;

  /// `stream` uses the block too: a later free() waits for what is queued there.
  virtual void record_stream(BlockHandle block, StreamId stream) = 0;

  /// The block turned out to be something else (an activation that became a `.grad`).
  virtual void set_category(BlockHandle block, Category category) = 0;

  /// Releases every cached segment that is not partly in use; none while a graph is captured.
  virtual void empty_cache() = 0;

  virtual const MemoryStats& stats() const = 0;
  virtual void reset_peak_stats() = 0;
  virtual void reset_accumulated_stats() = 0;
  virtual DeviceMemoryInfo info() const = 0;

  /// What allocated_bytes is made of now, and what it was made of when it was last at its peak.
  virtual CategoryBytes allocated_bytes_by_category() const = 0;
  virtual CategoryBytes peak_bytes_by_category() const = 0;

  /// Every active block, in address order.
  virtual std::vector<LiveBlock> live_blocks() const = 0;

  /// The failure that refusing this request now would be: figures and message as the device would
  /// give them. Used by the allocator itself and by adaptors that refuse on purpose.
  virtual OutOfMemoryReport failure_report(const AllocationRequest& request) const = 0;
};

}  // namespace ohm
