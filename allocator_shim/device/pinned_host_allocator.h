// Pinned host memory, as PyTorch's CachingHostAllocator hands it out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "allocator_shim/device/request_allocator_adaptor.h"
#include "allocator_shim/device/stream_events.h"

namespace ohm {

/// What pinned memory counts, in PyTorch's words (torch.cuda.host_memory_stats).
struct PinnedStats {
  Stat allocation;       ///< blocks in use
  Stat allocated_bytes;  ///< of blocks in use
  Stat segment;          ///< blocks, the cached ones included
  Stat reserved_bytes;   ///< of all blocks: what the host has less
};

/// Every block is a power of two in bytes, taken from the host and kept for good: a freed one is
/// handed out again to the next request of its size, the last freed first, once the streams that
/// used it have come so far. Blocks are neither split nor merged. empty_cache() gives the free ones
/// back to the host, at whose statistics all of them count.
class PinnedHostAllocator final : public RequestAllocatorAdaptor {
 public:
  /// `host` outlives this.
  explicit PinnedHostAllocator(RequestAllocator& host) : RequestAllocatorAdaptor(host) {}
  ~PinnedHostAllocator() override;

  /// Throws OutOfMemory when the host has no room.
  Allocation allocate(const AllocationRequest& request) override;
  void free(BlockHandle block) override;
  void set_category(BlockHandle block, Category category) override;
  /// A stream of the host: it waits for itself.
  void record_stream(BlockHandle, StreamId) override {}
  /// A copy from or to the block is queued on `stream` of the device whose streams these are.
  void record_use(BlockHandle block, StreamEvents& streams, StreamId stream);
  void empty_cache() override;

  const PinnedStats& pinned_stats() const { return stats_; }
  void reset_pinned_peaks();

 private:
  /// The work that a freed block waits for.
  struct Use {
    StreamEvents* streams;
    StreamId stream;
    StreamEvent event;  ///< once the block is freed
  };
  struct Block {
    Allocation memory;
    std::size_t bytes = 0;
    std::vector<Use> uses;
    std::size_t uses_left = 0;  ///< of a freed block
  };
  struct Waiting {
    Use use;
    Block* block;
  };

  static constexpr std::size_t kSizeClasses = 64;

  void make_free(Block& block);
  void process_events();
  Allocation hand_out(Block& block);

  std::unordered_map<const Block*, std::unique_ptr<Block>> blocks_;
  std::array<std::vector<Block*>, kSizeClasses> free_;  ///< by the exponent of their size
  std::deque<Waiting> waiting_;                         ///< the oldest first
  PinnedStats stats_;
};

}  // namespace ohm
