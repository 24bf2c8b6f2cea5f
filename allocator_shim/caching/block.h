// A block: a piece of a segment, handed out or free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "allocator_shim/device/device_memory.h"
#include "allocator_shim/observe/category.h"
#include "allocator_shim/observe/site.h"

namespace ohm {

class BlockPool;

enum class BlockState : std::uint8_t {
  free,
  allocated,
  pending_free  ///< freed by its owner, still in use on another stream
};

/// One cache line. Blocks of a segment are linked in address order; the first one of a segment
/// stays the same object until the segment goes.
struct alignas(64) Block {
  DeviceAddress address = 0;
  /// As the caller asked. In a free block it is stale: what the block, or the one it was cut from,
  /// last held.
  std::size_t requested_bytes = 0;
  union {
    SiteId site = kUnknownSite;    ///< of a block in use: where it was asked for
    std::uint32_t place_in_class;  ///< of a free one: see SharedClass
  };
  std::uint32_t segment_number = 0;  ///< of its segment, where those are ordered by when they came
  std::size_t bytes = 0;
  Block* previous = nullptr;
  Block* next = nullptr;
  BlockPool* pool = nullptr;
  std::uint32_t free_since = 0;  ///< searches of the pool when the block was last freed
  Category category = Category::other;
  BlockState state = BlockState::free;
  bool is_mapped = true;                      ///< false: addresses without memory
  bool is_expandable : 1 = false;             ///< of an expandable segment
  bool is_used_by_other_streams : 1 = false;  ///< see DeferredFrees

  DeviceAddress end() const { return address + bytes; }
  bool is_split() const { return previous != nullptr || next != nullptr; }
  bool is_free() const { return state == BlockState::free; }
};
static_assert(sizeof(Block) == 64);

/// Owns every block of an allocator; addresses of blocks never change.
class BlockStore {
 public:
  /// A new block like `block`.
  Block& create(const Block& block) {
    if (unused_ == nullptr) grow();
    Block& created = *unused_;
    unused_ = created.next;
    created = block;
    return created;
  }
  void destroy(Block& block) {
    block.next = unused_;
    unused_ = &block;
  }

 private:
  /// Chunks double in size: a small program pays for few blocks, and many stand on large pages.
  static constexpr std::size_t kFirstChunkBlocks = 128;
  static constexpr std::size_t kLargestChunkBlocks = std::size_t{1} << 16U;

  void grow();

  std::vector<std::unique_ptr<Block[]>> chunks_;
  std::size_t next_chunk_blocks_ = kFirstChunkBlocks;
  Block* unused_ = nullptr;  ///< linked through `next`
};

}  // namespace ohm
