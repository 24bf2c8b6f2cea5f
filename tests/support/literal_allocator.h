// The caching allocator's rules once more, as literally as they can be written: ordered sets of
// blocks, one block at a time, every counter by hand. Slow, and independent of the real one: the
// oracle of the property test and the yardstick of the benchmark.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "allocator_shim/caching/settings.h"
#include "allocator_shim/device/device_memory.h"
#include "allocator_shim/device/stream_events.h"
#include "allocator_shim/observe/memory_stats.h"
#include "allocator_shim/observe/segment_view.h"

namespace ohm::test {

/// PyTorch 2.6's rules. Blocks are named by their addresses, as PyTorch names them.
class LiteralAllocator {
 public:
  /// `memory` and `streams` outlive the allocator, which gives nothing back to them at its end.
  LiteralAllocator(DeviceMemory& memory, StreamEvents& streams, AllocatorSettings settings);
  ~LiteralAllocator();
  LiteralAllocator(const LiteralAllocator&) = delete;
  LiteralAllocator& operator=(const LiteralAllocator&) = delete;

  /// nullopt when out of memory; address 0 for 0 bytes.
  std::optional<DeviceAddress> allocate(std::size_t bytes, StreamId stream);
  void free(DeviceAddress address);
  void record_stream(DeviceAddress address, StreamId stream);
  void empty_cache();
  void set_memory_fraction(double fraction);

  MemoryStats& stats() { return stats_; }
  std::vector<SegmentView> segments() const;

 private:
  static constexpr std::size_t kMiB = 1048576;

  /// The reserved addresses of an expandable segment.
  struct Range {
    DeviceAddress address = 0;
    std::size_t bytes = 0;
    std::size_t chunk = 0;
  };
  struct Pool;
  struct Block {
    StreamId stream = 0;
    DeviceAddress address = 0;
    std::size_t size = 0;
    std::size_t requested = 0;
    Pool* pool = nullptr;
    bool allocated = false;
    bool mapped = true;
    Block* prev = nullptr;
    Block* next = nullptr;
    std::set<StreamId> uses;
    std::size_t events = 0;
    std::uint64_t gc_base = 0;
    Range* range = nullptr;

    bool is_split() const { return prev != nullptr || next != nullptr; }
    bool is_free() const { return !allocated && events == 0 && uses.empty(); }
    std::size_t expandable_size() const {
      return size + (next != nullptr && !next->mapped ? next->size : 0);
    }
  };
  struct ByStreamSizeAddress {
    bool operator()(const Block* a, const Block* b) const;
  };
  struct ByStreamAddress {
    bool operator()(const Block* a, const Block* b) const;
  };
  struct Pool {
    bool is_small = false;
    std::set<Block*, ByStreamSizeAddress> free;
    std::set<Block*, ByStreamAddress> unmapped;
    std::uint64_t searches = 0;
  };
  struct Request {
    std::size_t rounded = 0;
    std::size_t segment = 0;
    StreamId stream = 0;
    Pool* pool = nullptr;
  };
  struct Change {
    PooledStat MemoryStats::*stat;
    std::int64_t amount;
  };

  std::size_t round(std::size_t bytes) const;
  Block* find_free(const Request& request);
  Block* obtain(const Request& request);
  Block* try_device(const Request& request);
  Block* try_expandable(const Request& request);
  Block* find_chain(const Request& request);
  bool map_some(Block* block, std::size_t bytes);
  void unmap_whole_chunks(Block* block);
  void collect_garbage();
  bool release_available(const Request& request);
  void release_all();
  void release(Block* block);
  void process_events(bool waits);
  void complete_free(Block* block);
  std::size_t try_merge(Block* into, Block* neighbour);
  void put_free(Block* block);
  static Block* new_block(StreamId stream, std::size_t bytes, Pool* pool, DeviceAddress address);
  static void delete_block(Block* block);
  std::vector<Block*> all_blocks() const;
  void splice(Block* block, Block* before, Block* after);
  void change(const Pool& pool, std::initializer_list<Change> changes);
  std::size_t total() const;

  DeviceMemory& memory_;
  StreamEvents& streams_;
  AllocatorSettings settings_;
  Pool small_;
  Pool large_;
  std::unordered_set<Block*> active_;
  std::unordered_map<DeviceAddress, Block*> by_address_;  ///< of active blocks
  std::map<StreamId, std::deque<std::pair<StreamEvent, Block*>>> events_;
  std::vector<std::unique_ptr<Range>> ranges_;
  std::optional<std::size_t> allowed_;
  MemoryStats stats_;
};

}  // namespace ohm::test
