#include "allocator_shim/caching/block.h"

namespace ohm {

void BlockStore::grow() {
  chunks_.push_back(std::make_unique<Block[]>(kChunkBlocks));
  // Handed out in address order: neighbours in time are neighbours in the cache.
  for (std::size_t i = kChunkBlocks; i-- > 0;) destroy(chunks_.back()[i]);
}

}  // namespace ohm
