#include "allocator_shim/caching/block.h"

#include <algorithm>

namespace ohm {

void BlockStore::grow() {
  const std::size_t blocks = next_chunk_blocks_;
  next_chunk_blocks_ = std::min(2 * blocks, kLargestChunkBlocks);
  chunks_.push_back(std::make_unique<Block[]>(blocks));
  // Handed out in address order: neighbours in time are neighbours in the cache.
  for (std::size_t i = blocks; i-- > 0;) destroy(chunks_.back()[i]);
}

}  // namespace ohm
