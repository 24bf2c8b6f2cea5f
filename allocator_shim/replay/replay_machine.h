// The caching allocator on a device that answers as the recorded one did: does one step of a
// history at a time.
//
// Note [What is taken as given]
// A record does not say everything that an allocator decides by. Given to it here are: what the
// device granted and when it had no room (as the recorded segments show), when other streams were
// done with a block (as the recorded completions show), that empty_cache() was called (segments
// given back when no request needed it), which segments the garbage collection took (it goes by
// ages from before the record and by a limit that is not recorded) and which private segments were
// given back (their owner decides). All else is the allocator's: which block serves a request, when
// it is split and merged, when the device is asked, what is released, and in which order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "allocator_shim/caching/caching_allocator.h"
#include "allocator_shim/replay/block_lives.h"
#include "allocator_shim/replay/device_history.h"
#include "allocator_shim/replay/history_steps.h"
#include "allocator_shim/replay/initial_state.h"
#include "allocator_shim/replay/recorded_memory.h"

namespace ohm {

/// What is assumed of a request where the record leaves it open.
struct RequestCause {
  /// One past the last event that empty_cache(), called just before the request, accounts for;
  /// 0: it was not called.
  std::size_t flushed_up_to = 0;
  /// Deferred frees that the request found complete at once; others completed when it had failed
  /// and waited for them.
  std::uint32_t polled = 0;
  /// Segments that the garbage collection took are taken from the record.
  bool takes_collected = false;
  /// A memory fraction refused what an expandable segment could have given without the device.
  bool is_limited = false;
};

class ReplayMachine {
 public:
  /// History, lives and state outlive this. Throws HistoryError when the state is none that an
  /// allocator can be in.
  ReplayMachine(const DeviceHistory& history, const BlockLives& lives, const InitialState& state,
                const RuleSet& rules);
  /// Another one in the same state; its blocks are its own, and so are its counters.
  ReplayMachine(const ReplayMachine& other);
  ReplayMachine& operator=(const ReplayMachine&) = delete;

  /// The allocated blocks of the initial state and their lives.
  const std::vector<std::pair<std::uint32_t, BlockHandle>>& initial_blocks() const {
    return initial_blocks_;
  }

  /// The block, nullptr when the request was out of memory.
  BlockHandle request(const HistoryStep& step, const RequestCause& cause);
  void free(BlockHandle block, const BlockLife& life);
  void flush(const HistoryStep& step);

  /// What the allocator has done since forget_events().
  std::span<const MemoryEvent> events() const { return observed_.events(); }
  void forget_events() { observed_.clear(); }

  /// Whether what was assumed cannot have been: see RecordedMemory.
  bool is_contradicted() const { return memory_.is_contradicted(); }
  /// Deferred frees that have not completed.
  std::uint32_t pending() const { return pending_; }
  std::size_t given_releases() const { return given_releases_; }
  CachingAllocator& allocator() { return allocator_; }
  const CachingAllocator& allocator() const { return allocator_; }

 private:
  /// What the allocator does, in room that grows.
  class Observed final : public EventSink {
   public:
    Observed();
    std::span<const MemoryEvent> events() const;
    void clear();

   private:
    void make_room() override;
    std::vector<MemoryEvent> room_;
  };

  void prepare();
  void restore(const std::vector<SegmentView>& segments,
               const std::vector<DeviceAddress>& oldest_first);
  std::size_t limit_for(const RecordedRequest& request, std::size_t bytes) const;
  std::uint32_t completions(const HistoryStep& step) const;
  void complete(std::uint32_t count);
  void choose_releases(const HistoryStep& step, const RequestCause& cause);
  bool release_chosen();

  const DeviceHistory& history_;
  const BlockLives& lives_;
  RecordedMemory memory_;
  RecordedStreams streams_;
  Observed observed_;
  CachingAllocator allocator_;
  std::vector<std::pair<std::uint32_t, BlockHandle>> initial_blocks_;
  std::uint32_t pending_ = 0;
  std::vector<DeviceAddress> chosen_releases_;
  std::size_t given_releases_ = 0;
};

}  // namespace ohm
