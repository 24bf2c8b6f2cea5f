// The replay of a history: feeds its requests through the caching allocator and compares what it
// does with what was recorded, event by event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allocator_shim/caching/caching_allocator.h"
#include "allocator_shim/replay/block_lives.h"
#include "allocator_shim/replay/device_history.h"
#include "allocator_shim/replay/history_steps.h"
#include "allocator_shim/replay/initial_state.h"
#include "allocator_shim/replay/replay_machine.h"

namespace ohm {

/// Where the allocator first did something else than what was recorded.
struct Divergence {
  enum class What : std::uint8_t {
    event,       ///< an event of the record did not happen, or another one in its place
    extra,       ///< the allocator did something that the record does not have
    snapshot,    ///< the active bytes of a snapshot event
    final_state  ///< the segments at the end
  };
  What what = What::event;
  /// Index of the recorded event; for `extra` of the last one before, for `final_state` of the last
  /// one at the address that differs, or the number of events when there is none.
  std::size_t event = 0;
  HistoryStep step;                   ///< the step that it is of
  std::optional<MemoryEvent> actual;  ///< what the allocator did instead; nullopt: nothing
  std::string final_state;            ///< what differs there, in a sentence
};

struct ReplayCounts {
  std::size_t events = 0;  ///< recorded, all of them
  std::size_t allocations = 0;
  std::size_t allocations_at_recorded_address = 0;
  std::size_t frees = 0;
  std::size_t segments = 0;  ///< obtained: segment_alloc and segment_map
  std::size_t segments_as_recorded = 0;
  std::size_t ooms = 0;
  std::size_t flushes = 0;  ///< calls of empty_cache that gave something back
  std::size_t retries = 0;  ///< requests for which something was given back
};

struct Peaks {
  std::size_t reserved_bytes = 0;
  std::size_t requested_bytes = 0;
  friend bool operator==(const Peaks&, const Peaks&) = default;
};

/// A call of empty_cache() that the record shows.
struct RecordedFlush {
  std::uint32_t begin = 0;  ///< the events that it caused: from this one,
  std::uint32_t end = 0;    ///< to before this one
};

class HistoryReplay {
 public:
  /// All outlive this. Throws HistoryError when the state is none that an allocator can be in.
  HistoryReplay(const DeviceHistory& history, const BlockLives& lives, const InitialState& state,
                const RuleSet& rules);

  enum class Mode : std::uint8_t { stop_at_divergence, go_on };
  /// From event `begin` up to and without `end`, and, at the end of the history, compares what is
  /// left with the recorded segments. Call it once.
  void run(std::size_t begin, std::size_t end, Mode mode);

  /// The first one, if any.
  const std::optional<Divergence>& divergence() const { return divergence_; }
  const ReplayCounts& counts() const { return counts_; }
  /// Segments whose release was taken from the record: see Note [What is taken as given].
  std::size_t given_releases() const { return machine_.given_releases(); }
  const std::vector<RecordedFlush>& flushes() const { return flushes_; }
  Peaks peaks() const;
  const Peaks& recorded_peaks() const { return recorded_peaks_; }
  const CachingAllocator& allocator() const { return machine_.allocator(); }

 private:
  void do_step(const HistoryStep& step);
  void do_request(const HistoryStep& step);
  void do_free(const HistoryStep& step);
  void do_flush(const HistoryStep& step);
  void do_snapshot(const HistoryStep& step);

  std::vector<RequestCause> causes_of(const HistoryStep& step) const;
  RequestCause cause_of(const HistoryStep& step) const;
  bool device_had_room(const HistoryStep& step) const;
  BlockHandle request(ReplayMachine& machine, const HistoryStep& step,
                      const RequestCause& cause) const;

  std::optional<Divergence> difference(std::span<const MemoryEvent> actual,
                                       const HistoryStep& step) const;
  bool is_recorded_action(EventAction action) const;
  void compare(const HistoryStep& step);
  void count(const MemoryEvent& recorded);
  void count_agreement(const HistoryStep& step);
  void diverge(Divergence divergence);
  void compare_final_state();

  const DeviceHistory& history_;
  const BlockLives& lives_;
  ReplayMachine machine_;
  std::vector<BlockHandle> handles_;  ///< of each life, while it is allocated
  ReplayCounts counts_;
  std::vector<RecordedFlush> flushes_;
  std::optional<Divergence> divergence_;
  std::size_t requested_bytes_ = 0;  ///< of active blocks, as recorded
  Peaks recorded_peaks_;
};

}  // namespace ohm
