// Private pools: memory that only some requests of a device are served from. A CUDA graph keeps
// what was allocated while it was captured at its addresses in one, torch.cuda.MemPool is another.
#pragma once

#include <optional>

#include "allocator_shim/device/stream_events.h"
#include "allocator_shim/observe/pool_id.h"

namespace ohm {

class PrivatePools {
 public:
  PrivatePools() = default;
  PrivatePools(const PrivatePools&) = delete;
  PrivatePools& operator=(const PrivatePools&) = delete;
  virtual ~PrivatePools() = default;

  /// An id that no pool had: {n, 0} of a graph, {0, n} of a pool that a program makes.
  virtual PoolId next_graph_pool_id() = 0;
  virtual PoolId next_memory_pool_id() = 0;

  /// One user more; the first one makes the pool. Throws std::logic_error for a pool whose users
  /// have all left, until it has given its memory back: PyTorch does not take it up again.
  virtual void retain_pool(PoolId id) = 0;
  /// One user less. After the last one what is cached in the pool can be given back, with all else.
  virtual void release_pool(PoolId id) = 0;

  /// A capture begins: what is asked for on `stream` comes from the pool, which has a user. Caches
  /// are not given back until it ends, and blocks that other streams use stay in use.
  virtual void begin_capture(PoolId id, StreamId stream) = 0;
  /// `stream` belongs to the capture too.
  virtual void join_capture(PoolId id, StreamId stream) = 0;
  virtual void end_capture(PoolId id) = 0;
  /// Whether a capture has this stream.
  virtual bool is_captured(StreamId stream) const = 0;

  /// What is asked for on any stream comes from the pool, which has a user:
  /// torch.cuda.use_mem_pool.
  virtual void begin_use(PoolId id) = 0;
  virtual void end_use(PoolId id) = 0;

  /// Gives back what is cached in this pool, if it has no user.
  virtual void empty_pool(PoolId id) = 0;
};

}  // namespace ohm
