// A pool: the free blocks of one stream that serve requests of one kind, of a private pool or of
// none.
//
// A block belongs to the pool of its segment for the segment's whole life: a leftover of 4 KiB in a
// large segment never serves a small request.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "allocator_shim/caching/free_blocks.h"
#include "allocator_shim/device/stream_events.h"
#include "allocator_shim/observe/memory_stats.h"
#include "allocator_shim/observe/pool_id.h"

namespace ohm {

enum class PoolKind : std::uint8_t { small, large };

constexpr StatPool stat_pool_of(PoolKind kind) {
  return kind == PoolKind::small ? StatPool::small_pool : StatPool::large_pool;
}

class BlockPool {
 public:
  BlockPool(StreamId stream, PoolKind kind, PoolId id) : stream_(stream), kind_(kind), id_(id) {}

  StreamId stream() const { return stream_; }
  PoolKind kind() const { return kind_; }
  PoolId id() const { return id_; }
  bool is_small() const { return kind_ == PoolKind::small; }

  FreeBlocks free;
  /// Addresses of expandable segments that have no memory behind them.
  std::map<DeviceAddress, Block*> unmapped;

 private:
  StreamId stream_;
  PoolKind kind_;
  PoolId id_;
};

}  // namespace ohm
