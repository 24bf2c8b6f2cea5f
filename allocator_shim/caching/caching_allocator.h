// PyTorch's native caching allocator for one device: the same block for every request, the same
// counters, the same failures, to the byte and to the address.
//
// Requests take the smallest cached block that fits, cut to size where the rules allow it; freed
// blocks merge with free neighbours and stay cached. Only when nothing cached fits is the device
// asked, and when the device has no room the failure ladder gives cached memory back and asks
// again (failure_ladder.cpp). Expandable segments are in expandable_segments.cpp, private pools in
// private_pools.cpp.
//
// Not thread-safe: one allocator, its device and its sink belong to one thread at a time. Several
// allocators share nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "allocator_shim/base/rule_set.h"
#include "allocator_shim/caching/block.h"
#include "allocator_shim/caching/block_pool.h"
#include "allocator_shim/caching/deferred_frees.h"
#include "allocator_shim/caching/settings.h"
#include "allocator_shim/caching/stat_counters.h"
#include "allocator_shim/device/device_memory.h"
#include "allocator_shim/device/private_pools.h"
#include "allocator_shim/device/request_allocator.h"
#include "allocator_shim/device/stream_events.h"
#include "allocator_shim/observe/event_record.h"
#include "allocator_shim/observe/segment_view.h"

namespace ohm {

struct CachingAllocatorOptions {
  int device = 0;  ///< index of the GPU in events and messages
  RuleSet rules = default_rule_set();
  AllocatorSettings settings;
};

class CachingAllocator final : public RequestAllocator, public PrivatePools {
 public:
  /// `memory`, `streams` and `events` outlive the allocator; `events` may be nullptr.
  CachingAllocator(DeviceMemory& memory, StreamEvents& streams,
                   const CachingAllocatorOptions& options, EventSink* events = nullptr);
  /// Gives every segment back to the device, whatever is still allocated in it.
  ~CachingAllocator() override;

  Allocation allocate(const AllocationRequest& request) override;
  void free(BlockHandle block) override;
  void record_stream(BlockHandle block, StreamId stream) override;
  void set_category(BlockHandle block, Category category) override;
  void empty_cache() override;
  /// Up to date until the next call of stats().
  const MemoryStats& stats() const override;
  void reset_peak_stats() override;
  void reset_accumulated_stats() override;
  DeviceMemoryInfo info() const override { return memory_.info(); }
  CategoryBytes allocated_bytes_by_category() const override { return category_bytes_; }
  CategoryBytes peak_bytes_by_category() const override { return peak_category_bytes_; }
  std::vector<LiveBlock> live_blocks() const override;
  OutOfMemoryReport failure_report(const AllocationRequest& request) const override;

  PoolId next_graph_pool_id() override { return {++graph_pools_made_, 0}; }
  PoolId next_memory_pool_id() override { return {0, ++memory_pools_made_}; }
  void retain_pool(PoolId id) override;
  void release_pool(PoolId id) override;
  void begin_capture(PoolId id, StreamId stream) override;
  void join_capture(PoolId id, StreamId stream) override;
  void end_capture(PoolId id) override;
  bool is_captured(StreamId stream) const override;
  void begin_use(PoolId id) override;
  void end_use(PoolId id) override;
  void empty_pool(PoolId id) override;

  /// torch.cuda.set_per_process_memory_fraction: at most this part of the device may be reserved.
  /// Throws std::invalid_argument unless 0 <= fraction <= 1.
  void set_memory_fraction(double fraction);
  /// The same in bytes; nullopt: no limit.
  void set_memory_limit(std::optional<std::size_t> allowed_bytes);
  std::optional<std::size_t> memory_limit() const { return allowed_bytes_; }

  /// torch.cuda.memory._set_allocator_settings. Throws std::invalid_argument with PyTorch's words;
  /// nothing has changed then.
  void apply_settings(std::string_view text);
  const AllocatorSettings& settings() const { return settings_; }
  const RuleSet& rules() const { return rules_; }

  /// Called when nothing cached fits, before the device is asked; returns whether it freed blocks
  /// of this allocator.
  using FreeMemoryCallback = std::function<bool()>;
  void add_free_memory_callback(FreeMemoryCallback callback);

  /// Everything that is reserved, in address order.
  std::vector<SegmentView> segments() const;
  /// Where each begins, of an expandable one its range, in the order in which they came; by address
  /// where the rules do not ask for it.
  std::vector<DeviceAddress> segments_oldest_first() const;

  /// Makes an allocator that holds nothing hold these segments, in address order as segments()
  /// gives them, with peaks to match and nothing accumulated. The device must hold them for it
  /// already. Returns the allocated blocks in order. Throws std::invalid_argument that names the
  /// block when they cannot be what an allocator holds, or when a free is pending: then the
  /// allocator is good for nothing but destruction, and gives nothing back. `oldest_first` is what
  /// segments_oldest_first() gives; those that it leaves out came before the others, by address.
  std::vector<BlockHandle> restore(const std::vector<SegmentView>& segments,
                                   const std::vector<DeviceAddress>& oldest_first = {});

  /// The pools of `stream` are private, as those of a CUDA graph: what is cached in them stays when
  /// other caches are emptied.
  void make_private(StreamId stream);

  /// Whether a cached block would serve this request now, without a call of the device.
  bool can_serve_from_cache(const AllocationRequest& request);

  /// Gives one segment back to the device. False: there is no segment at this address, or it is
  /// partly in use, or expandable.
  bool release_cached_segment(DeviceAddress address);

  /// Whether everything adds up: throws std::logic_error that says what does not. Looks at every
  /// block; debug builds call it now and then by themselves.
  void check_invariants() const;

 private:
  struct Segment {
    Block* first = nullptr;
    std::size_t bytes = 0;        ///< of the segment, or of the reserved range
    std::size_t chunk_bytes = 0;  ///< expandable: what is mapped at once; else 0
  };
  using Segments = std::map<DeviceAddress, Segment>;

  struct StreamPools {
    StreamPools(StreamId stream, PoolId id)
        : small(stream, PoolKind::small, id), large(stream, PoolKind::large, id) {}
    BlockPool small;
    BlockPool large;
    bool is_private = false;
    BlockPool& of(PoolKind kind) { return kind == PoolKind::small ? small : large; }
  };
  using PoolsOfStreams = std::map<StreamId, StreamPools>;

  struct PrivatePool {
    PoolsOfStreams streams;
    int users = 0;
  };

  /// Sends requests to a private pool.
  struct Route {
    PoolId pool;
    bool is_capture;
    std::set<StreamId> streams;  ///< that the capture has
    bool takes(StreamId stream) const { return !is_capture || streams.contains(stream); }
  };

  /// A request on its way down the ladder.
  struct Search {
    const AllocationRequest& request;
    BlockPool& pool;
    std::size_t rounded_bytes;
    std::size_t segment_bytes;
  };

  // Serving a request.
  std::size_t rounded(std::size_t bytes) const;
  BlockPool& pool_for(StreamId stream, std::size_t rounded_bytes);
  void switch_stream(StreamId stream);
  Block* take_cached(BlockPool& pool, std::size_t rounded_bytes);
  Block* best_candidate(BlockPool& pool, std::size_t rounded_bytes) const;
  bool is_allowed(const Block& candidate, std::size_t rounded_bytes) const;
  bool should_split(const Block& block, std::size_t rounded_bytes) const;
  void split(Block& block, std::size_t rounded_bytes);
  Block& cut(Block& block, std::size_t bytes);
  Allocation hand_out(Block& block, const AllocationRequest& request);

  // Taking a block back.
  void complete_free(Block& block);
  static bool can_absorb(const Block& block, const Block* neighbour);
  void absorb_next(Block& block);
  struct Merged {
    Block& block;
    int absorbed;  ///< neighbours
  };
  Merged merge(Block& block);
  static void leave_pool(Block& block);
  void put_into_pool(Block& block);
  void complete_finished_frees();
  void complete_all_frees();
  bool holds_frees() const;

  // The failure ladder.
  Block& obtain(const Search& search);
  bool run_free_memory_callbacks();
  bool is_garbage_collection_armed() const;
  void collect_garbage();
  Block* try_new_memory(const Search& search);
  Block* new_segment(const Search& search);
  std::uint32_t next_segment_number() {
    return rules_.orders_blocks_by_segment ? ++segments_made_ : 0;
  }
  bool release_available(const Search& search);
  void release_all_cached();
  bool may_release_all() const;
  void release_cached(PoolKind kind);
  void release_cached(const std::vector<BlockPool*>& pools);
  void release_segment(Block& block);
  [[noreturn]] void fail(const Search& search);
  [[noreturn]] void refuse_absurd(const AllocationRequest& request) const;

  // Private pools.
  StreamPools& pools_serving(StreamId stream);
  void add_route(const Route& route);
  void remove_route(PoolId id, bool is_capture);
  bool is_capturing() const;
  void release_idle_pools();
  void release_idle_pool(PoolId id);
  std::size_t private_cached_bytes() const;

  // Expandable segments.
  Block* new_expandable_block(const Search& search);
  Block* find_expandable_block(const Search& search);
  Block& new_reservation(const Search& search);
  Block* map(Block& block, std::size_t bytes);
  void unmap(Block& block);
  void release_reservation(Block& block);
  Segment& segment_of(const Block& block);

  // Taking over a state.
  class Restorer;

  std::size_t reserved_bytes() const;
  void follow_settings();
  template <typename Visit>
  void for_each_pool(PoolKind kind, Visit visit);
  void record(EventAction action, const Block& block);
  void record_segment(EventAction action, const BlockPool& pool, DeviceAddress address,
                      std::size_t bytes);

  /// Debug builds check the invariants so often that it costs as much as the work itself.
  void checkpoint() {
    if (kChecksItself && --steps_until_check_ == 0) check_and_rearm();
  }
  void check_and_rearm();

#ifdef NDEBUG
  static constexpr bool kChecksItself = false;
#else
  static constexpr bool kChecksItself = true;
#endif

  DeviceMemory& memory_;
  EventSink* events_;
  const int device_;
  const RuleSet rules_;
  AllocatorSettings settings_;
  bool keeps_values_ = false;  ///< whether addresses have host memory; known with the first segment

  BlockStore blocks_;
  PoolsOfStreams pools_;
  std::map<PoolId, PrivatePool> private_pools_;
  std::vector<Route> routes_;  ///< in the order in which they began
  std::int64_t graph_pools_made_ = 0;
  std::int64_t memory_pools_made_ = 0;
  StreamPools* last_pools_ = nullptr;  ///< those of the last request
  Segments segments_;
  std::uint32_t segments_made_ = 0;
  DeferredFrees deferred_;
  std::vector<FreeMemoryCallback> callbacks_;

  std::optional<std::size_t> allowed_bytes_;    ///< what a memory fraction leaves
  bool counts_searches_ = false;                ///< is_garbage_collection_armed()
  bool rounds_to_divisions_ = false;            ///< whether the settings name any
  std::array<std::uint32_t, 2> searches_ = {};  ///< of each pool kind, while armed

  using Metric = StatCounters::Metric;
  StatCounters counters_;
  mutable MemoryStats stats_;  ///< made of the counters when stats() is called
  CategoryBytes category_bytes_ = {};
  CategoryBytes peak_category_bytes_ = {};
  std::size_t steps_until_check_ = 1;
};

}  // namespace ohm
