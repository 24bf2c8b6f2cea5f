// The caching allocator's private pools: see private_pools.h.
#include <algorithm>
#include <stdexcept>

#include "allocator_shim/base/assert.h"
#include "allocator_shim/caching/caching_allocator.h"

namespace ohm {
namespace {

/// Idle pools stand in a hash table with Fibonacci hashing, whose order is that of the products.
std::uint64_t place_of(PoolId id) {
  constexpr std::uint64_t kGoldenRatio = 0x9E3779B97F4A7C15U;
  return static_cast<std::uint64_t>(id[0] != 0 ? id[0] : id[1]) * kGoldenRatio;
}

}  // namespace

// ---- users --------------------------------------------------------------------------------------

void CachingAllocator::retain_pool(PoolId id) {
  const auto [found, is_new] = private_pools_.try_emplace(id);
  if (!is_new && found->second.users == 0) {
    throw std::logic_error("a private pool that nothing uses any more cannot be used again");
  }
  ++found->second.users;
}

void CachingAllocator::release_pool(PoolId id) {
  PrivatePool& pool = private_pools_.at(id);
  OHM_ASSERT(pool.users > 0, "a private pool has a user");
  --pool.users;
}

// ---- what they serve ----------------------------------------------------------------------------

void CachingAllocator::add_route(const Route& route) {
  OHM_ASSERT(private_pools_.at(route.pool).users > 0, "a private pool in use has a user");
  routes_.push_back(route);
  last_pools_ = nullptr;
}

/// The last one, where a pool is in use twice.
void CachingAllocator::remove_route(PoolId id, bool is_capture) {
  const auto found = std::find_if(routes_.rbegin(), routes_.rend(), [&](const Route& route) {
    return route.pool == id && route.is_capture == is_capture;
  });
  OHM_ASSERT(found != routes_.rend(), "a private pool in use serves requests");
  routes_.erase(std::next(found).base());
  last_pools_ = nullptr;
}

void CachingAllocator::begin_capture(PoolId id, StreamId stream) {
  add_route({.pool = id, .is_capture = true, .streams = {stream}});
}

void CachingAllocator::join_capture(PoolId id, StreamId stream) {
  for (Route& route : routes_) {
    if (route.is_capture && route.pool == id) route.streams.insert(stream);
  }
  last_pools_ = nullptr;
}

void CachingAllocator::end_capture(PoolId id) { remove_route(id, true); }
void CachingAllocator::begin_use(PoolId id) {
  add_route({.pool = id, .is_capture = false, .streams = {}});
}
void CachingAllocator::end_use(PoolId id) { remove_route(id, false); }

CachingAllocator::StreamPools& CachingAllocator::pools_serving(StreamId stream) {
  const auto takes = [stream](const Route& route) { return route.takes(stream); };
  const Route* serving = nullptr;
  if (rules_.has_later_private_pools) {
    const auto last = std::find_if(routes_.rbegin(), routes_.rend(), takes);
    if (last != routes_.rend()) serving = &*last;
  } else {
    const auto first = std::find_if(routes_.begin(), routes_.end(), takes);
    if (first != routes_.end()) serving = &*first;
  }
  const PoolId id = serving == nullptr ? kNormalPool : serving->pool;
  PoolsOfStreams& pools = serving == nullptr ? pools_ : private_pools_.at(id).streams;
  return pools.try_emplace(stream, stream, id).first->second;
}

bool CachingAllocator::is_captured(StreamId stream) const {
  return std::any_of(routes_.begin(), routes_.end(), [stream](const Route& route) {
    return route.is_capture && route.takes(stream);
  });
}

bool CachingAllocator::is_capturing() const {
  return std::any_of(routes_.begin(), routes_.end(),
                     [](const Route& route) { return route.is_capture; });
}

bool CachingAllocator::may_release_all() const {
  return rules_.has_later_private_pools ? !is_capturing() : routes_.empty();
}

bool CachingAllocator::holds_frees() const { return !may_release_all(); }

// ---- giving back --------------------------------------------------------------------------------

void CachingAllocator::release_idle_pools() {
  std::vector<PoolId> idle;
  for (const auto& [id, pool] : private_pools_) {
    if (pool.users == 0) idle.push_back(id);
  }
  std::sort(idle.begin(), idle.end(), [](PoolId a, PoolId b) { return place_of(a) < place_of(b); });
  for (const PoolId id : idle) release_idle_pool(id);
}

/// A pool without memory goes.
void CachingAllocator::release_idle_pool(PoolId id) {
  PrivatePool& pool = private_pools_.at(id);
  for (const PoolKind kind : {PoolKind::small, PoolKind::large}) {
    std::vector<BlockPool*> pools;
    for (auto& [stream, of_stream] : pool.streams) pools.push_back(&of_stream.of(kind));
    release_cached(pools);
  }
  const bool has_memory =
      std::any_of(segments_.begin(), segments_.end(),
                  [id](const auto& segment) { return segment.second.first->pool->id() == id; });
  if (has_memory) return;
  private_pools_.erase(id);
  last_pools_ = nullptr;
}

void CachingAllocator::empty_pool(PoolId id) {
  const auto pool = private_pools_.find(id);
  if (pool != private_pools_.end() && pool->second.users == 0) release_idle_pool(id);
  checkpoint();
}

std::size_t CachingAllocator::private_cached_bytes() const {
  std::size_t bytes = 0;
  for (const auto& [id, pool] : private_pools_) {
    for (const auto& [stream, pools] : pool.streams) {
      for (const BlockPool* const of_kind : {&pools.small, &pools.large}) {
        for (const Block* block = of_kind->free.smallest(); block != nullptr;
             block = of_kind->free.after(*block)) {
          bytes += block->bytes;
        }
      }
    }
  }
  return bytes;
}

}  // namespace ohm
