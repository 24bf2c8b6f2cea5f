#include "allocator_shim/replay/segment_undo.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "allocator_shim/base/size_policy.h"

namespace ohm {
namespace {

constexpr std::uint32_t kNoReservation = kNever;

/// A segment, or a mapped piece of an expandable one.
struct SegmentRange {
  DeviceAddress end = 0;
  StreamId stream = kDefaultStream;
  bool is_small = false;
  std::uint32_t reservation = kNoReservation;  ///< index; of expandable ones

  bool is_expandable() const { return reservation != kNoReservation; }
};
using SegmentRanges = std::map<DeviceAddress, SegmentRange>;

// ---- which pool a mapping is of

/// Events of mappings do not say which pool they are of. What lay nearest to the addresses does: a
/// reservation is larger than the device, and serves one pool.
class MappingKinds {
 public:
  MappingKinds(const DeviceHistory& history, const BlockLives& lives)
      : history_(history), lives_(lives) {}

  bool is_small(const MemoryEvent& event) {
    if (looks_small(event.bytes)) return true;
    if (!is_gathered_) gather();
    const std::vector<Evidence>& evidence = by_stream_[event.stream];
    const auto above = std::upper_bound(
        evidence.begin(), evidence.end(), event.address,
        [](DeviceAddress address, const Evidence& one) { return address < one.address; });
    const DeviceAddress end = event.address + event.bytes;
    std::size_t nearest = std::numeric_limits<std::size_t>::max();
    bool is_small = false;
    if (above != evidence.end()) {
      nearest = above->address < end ? 0 : above->address - end;
      is_small = above->is_small;
    }
    if (above != evidence.begin()) {
      const Evidence& below = *std::prev(above);
      const std::size_t gap = below.end > event.address ? 0 : event.address - below.end;
      if (gap <= nearest) is_small = below.is_small;
    }
    return is_small;
  }

 private:
  struct Evidence {
    DeviceAddress address;
    DeviceAddress end;
    bool is_small;
  };

  /// Chunks of the large pool are ten times those of the small one.
  static bool looks_small(std::size_t bytes) { return bytes % kLargeBufferBytes != 0; }

  void gather() {
    is_gathered_ = true;
    for (const SegmentView& segment : history_.segments) {
      if (!segment.is_expandable) continue;
      add(segment.stream, segment.address, segment.bytes, segment.is_small);
    }
    for (const BlockLife& life : lives_.lives) {
      const std::size_t bytes = round_request(life.requested_bytes, history_.settings);
      add(life.stream, life.address, bytes, bytes <= kSmallRequestBytes);
    }
    for (auto& [stream, evidence] : by_stream_) {
      std::sort(evidence.begin(), evidence.end(),
                [](const Evidence& a, const Evidence& b) { return a.address < b.address; });
    }
  }

  void add(StreamId stream, DeviceAddress address, std::size_t bytes, bool is_small) {
    by_stream_[stream].push_back({address, address + bytes, is_small});
  }

  const DeviceHistory& history_;
  const BlockLives& lives_;
  bool is_gathered_ = false;
  std::map<StreamId, std::vector<Evidence>> by_stream_;
};

// ---- undoing ------------------------------------------------------------------------------------

class SegmentUndo {
 public:
  SegmentUndo(const DeviceHistory& history, const BlockLives& lives, const Assumptions& assumptions)
      : history_(history), lives_(lives), assumptions_(assumptions), kinds_(history, lives) {}

  SegmentsAtStart run() {
    for (const SegmentView& segment : history_.segments) add_final(segment);
    std::for_each(lives_.segment_events.rbegin(), lives_.segment_events.rend(),
                  [&](auto index) { undo(index, history_.events[index]); });
    note_peak();
    measure_reservations();
    result_.segments = segments();
    std::copy_if(reservations_.rbegin(), reservations_.rend(), std::back_inserter(result_.created),
                 [](const auto& reservation) { return reservation.created_at != kNever; });
    std::stable_sort(result_.created.begin(), result_.created.end(),
                     [](const auto& a, const auto& b) { return a.created_at < b.created_at; });
    return std::move(result_);
  }

 private:
  [[noreturn]] static void refuse(std::uint32_t event, const std::string& why) {
    throw HistoryError(HistoryError::Kind::inconsistent, why, event);
  }

  void add_final(const SegmentView& segment) {
    SegmentRange range;
    range.end = segment.address + segment.bytes;
    range.stream = segment.stream;
    range.is_small = segment.is_small;
    if (overlaps(segment.address, segment.bytes)) {
      throw HistoryError(HistoryError::Kind::inconsistent,
                         fmt::format("segment {:#x}: it overlaps another one", segment.address));
    }
    if (segment.is_expandable) range.reservation = reservation_at(segment.address, range);
    add(segment.address, range);
  }

  void undo(std::uint32_t index, const MemoryEvent& event) {
    switch (event.action) {
      case EventAction::segment_alloc:
        return undo_alloc(index, event);
      case EventAction::segment_free:
        return undo_free(index, event);
      case EventAction::segment_map:
        return undo_map(index, event);
      case EventAction::segment_unmap:
        return undo_unmap(index, event);
      default:
        return;
    }
  }

  void undo_alloc(std::uint32_t index, const MemoryEvent& event) {
    const auto range = ranges_.find(event.address);
    if (range == ranges_.end() || range->second.is_expandable() ||
        range->second.end != event.address + event.bytes || range->second.stream != event.stream) {
      refuse(index,
             fmt::format("a segment of {} bytes at {:#x} is neither freed later nor among the "
                         "segments at the end",
                         event.bytes, event.address));
    }
    note_peak();
    remove(range);
  }

  void undo_free(std::uint32_t index, const MemoryEvent& event) {
    check_free(index, event);
    SegmentRange range;
    range.end = event.address + event.bytes;
    range.stream = event.stream;
    range.is_small = event.bytes == kSmallBufferBytes;
    add(event.address, range);
  }

  void undo_map(std::uint32_t index, const MemoryEvent& event) {
    const auto range = covering(event.address, event.address + event.bytes);
    if (range == ranges_.end() || !range->second.is_expandable() ||
        range->second.stream != event.stream) {
      refuse(index, fmt::format("{} bytes mapped at {:#x} are neither unmapped later nor among the "
                                "segments at the end",
                                event.bytes, event.address));
    }
    note_peak();
    const auto [address, whole] = *range;
    remove(range);
    if (address < event.address) {
      SegmentRange before = whole;
      before.end = event.address;
      add(address, before);
    }
    if (event.address + event.bytes < whole.end) add(event.address + event.bytes, whole);
    if (mapped_bytes_[whole.reservation] == 0) {
      reservations_[whole.reservation].created_at = index;
    }
  }

  void undo_unmap(std::uint32_t index, const MemoryEvent& event) {
    check_free(index, event);
    SegmentRange range;
    range.end = event.address + event.bytes;
    range.stream = event.stream;
    range.is_small = kinds_.is_small(event) != (assumptions_.of_other_pool.count(index) != 0);
    range.reservation = reservation_at(event.address, range);
    add(event.address, range);
  }

  /// What is given back was there before and is not there any more.
  void check_free(std::uint32_t index, const MemoryEvent& event) const {
    if (!overlaps(event.address, event.bytes)) return;
    refuse(index, fmt::format("{} bytes at {:#x} are given back, but are still in use afterwards",
                              event.bytes, event.address));
  }

  // ---- ranges

  bool overlaps(DeviceAddress address, std::size_t bytes) const {
    const auto next = ranges_.lower_bound(address);
    if (next != ranges_.end() && next->first < address + bytes) return true;
    return next != ranges_.begin() && std::prev(next)->second.end > address;
  }

  /// The range that holds all of these addresses; pieces of one reservation are one range.
  SegmentRanges::iterator covering(DeviceAddress begin, DeviceAddress end) {
    const auto above = ranges_.upper_bound(begin);
    if (above == ranges_.begin()) return ranges_.end();
    const auto range = std::prev(above);
    return range->second.end >= end ? range : ranges_.end();
  }

  void add(DeviceAddress address, SegmentRange range) {
    reserved_bytes_ += range.end - address;
    if (range.is_expandable()) {
      RecordedReservation& reservation = reservations_[range.reservation];
      mapped_bytes_[range.reservation] += range.end - address;
      reservation.address = std::min(reservation.address, address);
      ends_[range.reservation] = std::max(ends_[range.reservation], range.end);
      join_neighbours(address, range);
    }
    note_limits(ranges_.insert_or_assign(address, range).first);
  }

  /// A reservation ends at the latest where something else lay at the same time.
  void note_limits(SegmentRanges::iterator range) {
    const auto limit = [&](SegmentRanges::iterator below, SegmentRanges::iterator above) {
      const std::uint32_t reservation = below->second.reservation;
      if (reservation == kNoReservation || above->second.reservation == reservation) return;
      limits_[reservation] = std::min(limits_[reservation], above->first);
      if (above->second.is_expandable()) above_.emplace(reservation, above->second.reservation);
    };
    if (const auto next = std::next(range); next != ranges_.end()) limit(range, next);
    if (range != ranges_.begin()) limit(std::prev(range), range);
  }

  void join_neighbours(DeviceAddress& address, SegmentRange& range) {
    const auto next = ranges_.find(range.end);
    if (next != ranges_.end() && next->second.reservation == range.reservation) {
      range.end = next->second.end;
      ranges_.erase(next);
    }
    const auto above = ranges_.lower_bound(address);
    if (above == ranges_.begin()) return;
    const auto before = std::prev(above);
    if (before->second.end != address || before->second.reservation != range.reservation) return;
    address = before->first;
    ranges_.erase(before);
  }

  void remove(SegmentRanges::iterator range) {
    const std::size_t bytes = range->second.end - range->first;
    reserved_bytes_ -= bytes;
    if (range->second.is_expandable()) mapped_bytes_[range->second.reservation] -= bytes;
    ranges_.erase(range);
  }

  void note_peak() {
    result_.peak_reserved_bytes = std::max(result_.peak_reserved_bytes, reserved_bytes_);
  }

  // ---- reservations

  /// Two mapped ranges of one stream and pool with nothing else between them lie in one
  /// reservation.
  std::uint32_t reservation_at(DeviceAddress address, const SegmentRange& range) {
    const auto fits = [&](const SegmentRange& other) {
      return other.is_expandable() && other.stream == range.stream &&
             other.is_small == range.is_small;
    };
    const auto above = ranges_.upper_bound(address);
    if (above != ranges_.begin() && fits(std::prev(above)->second)) {
      return std::prev(above)->second.reservation;
    }
    if (above != ranges_.end() && fits(above->second)) return above->second.reservation;
    RecordedReservation reservation;
    reservation.address = address;
    reservation.stream = range.stream;
    reservation.is_small = range.is_small;
    reservations_.push_back(reservation);
    mapped_bytes_.push_back(0);
    ends_.push_back(range.end);
    limits_.push_back(std::numeric_limits<DeviceAddress>::max());
    return static_cast<std::uint32_t>(reservations_.size() - 1);
  }

  void measure_reservations() {
    // Memory may be missing from the beginning of the one above.
    for (const auto& [reservation, above] : above_) {
      const DeviceAddress limit = reservations_[above].address;
      if (limit >= ends_[reservation]) limits_[reservation] = std::min(limits_[reservation], limit);
    }
    // All are as large as the device and an eighth, but for the rounding to chunks.
    std::size_t room = std::size_t{1} << 40U;
    for (std::size_t i = 0; i < reservations_.size(); ++i) {
      room = std::min(room, limits_[i] - reservations_[i].address);
    }
    for (std::size_t i = 0; i < reservations_.size(); ++i) {
      RecordedReservation& reservation = reservations_[i];
      const std::size_t chunk = reservation.is_small ? kSmallBufferBytes : kLargeBufferBytes;
      const std::size_t own_room = (limits_[i] - reservation.address) / chunk * chunk;
      const std::size_t used = round_up_to(ends_[i] - reservation.address, chunk);
      reservation.bytes = std::max(std::min(round_up_to(room, chunk), own_room), used);
    }
  }

  std::vector<SegmentView> segments() const {
    std::vector<SegmentView> views;
    for (const auto& [address, range] : ranges_) {
      SegmentView& view = views.emplace_back();
      view.address = view.reservation_address = address;
      view.bytes = view.reservation_bytes = range.end - address;
      view.stream = range.stream;
      view.is_small = range.is_small;
      if (!range.is_expandable()) continue;
      view.is_expandable = true;
      view.reservation_address = reservations_[range.reservation].address;
      view.reservation_bytes = reservations_[range.reservation].bytes;
    }
    return views;
  }

  const DeviceHistory& history_;
  const BlockLives& lives_;
  const Assumptions& assumptions_;
  MappingKinds kinds_;
  SegmentRanges ranges_;  ///< at the time that was reached
  std::vector<RecordedReservation> reservations_;
  std::vector<std::size_t> mapped_bytes_;  ///< of each reservation, at the time that was reached
  std::vector<DeviceAddress> ends_;        ///< of each reservation: the highest that was mapped
  std::set<std::pair<std::uint32_t, std::uint32_t>> above_;  ///< reservations above others
  std::vector<DeviceAddress> limits_;  ///< of each reservation: where something else begins
  std::size_t reserved_bytes_ = 0;
  SegmentsAtStart result_;
};

}  // namespace

SegmentsAtStart undo_segments(const DeviceHistory& history, const BlockLives& lives,
                              const Assumptions& assumptions) {
  return SegmentUndo(history, lives, assumptions).run();
}

}  // namespace ohm
