// The history of one device in a snapshot, in the terms of the caching allocator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "allocator_shim/base/rule_set.h"
#include "allocator_shim/caching/settings.h"
#include "allocator_shim/device/stream_events.h"
#include "allocator_shim/observe/event_record.h"
#include "allocator_shim/observe/segment_view.h"
#include "allocator_shim/snapshot/snapshot.h"

namespace ohm {

/// Recorded addresses are below this; those that a replay makes up are not.
inline constexpr std::uint64_t kAddressLimit = std::uint64_t{1} << 57U;

/// A record that contradicts itself, or does not hold what a replay needs.
class HistoryError : public std::runtime_error {
 public:
  enum class Kind : std::uint8_t {
    inconsistent,  ///< no allocator can have done this
    insufficient   ///< there is nothing, or not enough, to replay
  };

  HistoryError(Kind kind, const std::string& message, std::optional<std::size_t> event = {})
      : std::runtime_error(message), kind_(kind), event_(event) {}

  Kind kind() const { return kind_; }
  /// The event that the message is about: its index among those of its device.
  std::optional<std::size_t> event() const { return event_; }

 private:
  Kind kind_;
  std::optional<std::size_t> event_;
};

/// A stream within a pool of memory. Blocks never move from one lane to another, so that the
/// caching allocator sees each lane as a stream of its own.
struct Lane {
  PoolId pool = {};
  std::int64_t stream = 0;  ///< cudaStream_t as a number

  bool is_private() const { return pool != kNormalPool; }
  friend bool operator==(const Lane&, const Lane&) = default;
};

struct DeviceHistory {
  int device = 0;
  AllocatorSettings settings;
  /// What a StreamId in the events and segments stands for: the normal pool's streams in ascending
  /// order, the default one first; then those of private pools.
  std::vector<Lane> lanes;
  std::vector<MemoryEvent> events;    ///< oldest first
  std::vector<SegmentView> segments;  ///< at the end, in address order; reservations unknown
  /// Events of segments that were given back by empty_cache(), as their stacks say; ascending.
  std::vector<std::uint32_t> emptied;
  /// Whether stacks tell who gave a segment back.
  bool knows_who_emptied = false;
  /// What was assumed, in sentences.
  std::vector<std::string> notes;
  /// Why no allocator can have been in the state at the end; empty when one can.
  std::string contradiction;
};

/// What a record leaves open and its events decide: changed where a replay shows that it is wrong.
struct Assumptions {
  /// Events before this one are of a request that began before the record.
  std::size_t first_event = 0;
  /// Completions right after their requests that were waited for all the same, by the next request.
  std::set<std::uint32_t> waited_for;
  /// Memory that was unmapped from the other pool than it seems.
  std::set<std::uint32_t> of_other_pool;
};

/// The devices that anything was recorded of, in ascending order. Throws HistoryError when there is
/// none.
std::vector<DeviceHistory> device_histories(const Snapshot& snapshot, const RuleSet& rules);

}  // namespace ohm
