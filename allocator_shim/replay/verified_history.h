// A history, the state that it began in, and how well the caching allocator agrees with it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "allocator_shim/replay/disagreement.h"
#include "allocator_shim/replay/history_replay.h"
#include "allocator_shim/replay/segment_order.h"

namespace ohm {

struct StartSummary {
  std::size_t segments = 0;
  std::size_t blocks = 0;  ///< active ones
  std::size_t reserved_bytes = 0;
  std::size_t open_blocks = 0;      ///< of a size that the record leaves open
  std::size_t known_blocks = 0;     ///< of them: told by what was cut from the gap
  std::size_t narrowed_blocks = 0;  ///< of them: narrowed down by what was not
};

class VerifiedHistory {
 public:
  /// Replays it. Whatever is wrong with the record becomes a disagreement. Where rules that order
  /// blocks of one size by their segments disagree, those that order them by address are tried: a
  /// note and rules() say so where they get further. Throws HistoryError of the kind
  /// `insufficient` only.
  VerifiedHistory(DeviceHistory history, const RuleSet& rules);

  const DeviceHistory& history() const { return history_; }
  /// nullopt: everything agrees.
  const std::optional<Disagreement>& disagreement() const { return disagreement_; }
  /// Whether the record could be replayed at all, however far it agreed. What is below has a
  /// meaning then.
  bool is_replayed() const { return is_replayed_; }
  const ReplayCounts& counts() const { return counts_; }
  /// Segments whose release was taken from the record: see Note [What is taken as given].
  std::size_t given_releases() const { return given_releases_; }
  const Peaks& peaks() const { return peaks_; }
  const Peaks& recorded_peaks() const { return recorded_peaks_; }
  const StartSummary& start() const { return start_; }
  /// Events before this one are of a request that began before the record.
  std::size_t first_event() const { return assumptions_.first_event; }
  const RuleSet& rules() const { return rules_; }

  // For those who replay it elsewhere.
  const BlockLives& lives() const { return lives_; }
  const InitialState& initial_state() const { return state_; }
  const std::vector<RecordedFlush>& flushes() const { return flushes_; }

 private:
  void replay_or_disagree();
  void try_order_of_addresses();
  void replay();
  void find_beginning();
  void find_state();
  std::optional<Divergence> replay_once();
  std::optional<Divergence> first_divergence();
  bool narrow_open_block(const HistoryReplay& replay);
  bool order_segments(const HistoryReplay& replay);
  void add_order(DeviceAddress earlier, DeviceAddress later, std::size_t event);
  std::optional<DeviceAddress> segment_at_start(DeviceAddress address, std::size_t event) const;
  bool are_released_last_first(const Divergence& divergence) const;
  std::vector<Assumptions> alternatives(const Divergence& divergence) const;
  bool is_lost_beginning(const Divergence& divergence) const;
  bool has_first_block() const;
  void explain_divergence(const Divergence& divergence);
  void summarize(const HistoryReplay& replay);

  DeviceHistory history_;
  RuleSet rules_;
  Assumptions assumptions_;
  BlockLives lives_;
  InitialState state_;
  SegmentOrder order_;
  bool is_replayed_ = false;
  std::optional<Disagreement> disagreement_;
  ReplayCounts counts_;
  std::size_t given_releases_ = 0;
  Peaks peaks_;
  Peaks recorded_peaks_;
  StartSummary start_;
  std::vector<RecordedFlush> flushes_;
  std::size_t replays_ = 0;
  std::size_t replayed_events_ = 0;
};

}  // namespace ohm
