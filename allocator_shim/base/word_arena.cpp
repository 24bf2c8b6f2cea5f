#include "allocator_shim/base/word_arena.h"

#include <stdexcept>

namespace ohm {

WordArena::Position WordArena::add(std::uint32_t length, std::size_t words) {
  const std::size_t record = words + 1;
  std::size_t position = used_;
  const std::size_t left_in_chunk = chunks_.size() * kChunkWords - used_;
  if (record > left_in_chunk) {
    const std::size_t chunks = (record + kChunkWords - 1) / kChunkWords;
    position = chunks_.size() * kChunkWords;
    if (position + chunks * kChunkWords > std::size_t{1} << 32U) {
      throw std::length_error("[word arena] more than 2^32 words");
    }
    owned_.push_back(std::make_unique_for_overwrite<std::uint32_t[]>(chunks * kChunkWords));
    for (std::size_t i = 0; i < chunks; ++i) {
      chunks_.push_back(owned_.back().get() + i * kChunkWords);
    }
  }
  used_ = position + record;
  const auto at_position = static_cast<Position>(position);
  *at(at_position) = length;
  return at_position;
}

}  // namespace ohm
