// The builder of a Snapshot from what a pickle reader tells.
//
// Dictionaries are known by their keys: one with `action` and `size` is a trace entry, one with
// `filename` and `name` a frame. Each becomes a record as soon as it is filled, and lists of
// records collect them; what is of no known kind is forgotten. What is wrong with a record counts
// once the record is wanted: anything may stand under keys that are not known.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "allocator_shim/base/paged_array.h"
#include "allocator_shim/snapshot/pickle_reader.h"
#include "allocator_shim/snapshot/snapshot.h"
#include "allocator_shim/snapshot/snapshot_keys.h"
#include "allocator_shim/snapshot/trace_details.h"

namespace ohm {

class SnapshotBuilder final : public PickleHandler {
 public:
  SnapshotBuilder();

  std::uint64_t on_text(std::string_view text) override;
  void on_tuple(PickleValue& tuple, std::span<const PickleValue> items) override;
  void on_list_items(PickleValue& list, std::span<const PickleValue> items) override;
  void on_dict_items(PickleValue& dict, std::span<const PickleValue> items) override;
  Reuse on_finished(PickleValue& container) override;

  /// The snapshot that the pickle was of. Throws PickleError when it was of something else.
  Snapshot finish(const PickleValue& root);

  /// Traces of devices beyond are refused: PyTorch counts them in a signed byte.
  static constexpr std::size_t kMaxDevices = 128;

 private:
  /// What a container was recognized as: PickleValue::role.
  enum class Role : std::uint8_t {
    empty,
    other,  ///< payload: 1 + index of the problem that kept it from being something
    // tuples
    pool,  ///< payload: as pool_payload() makes it
    // lists
    frames,  ///< while it grows; payload: OpenFrames
    stack,   ///< finished frames; payload: StackId
    entries,
    blocks,
    segments,
    annotations,
    traces,  ///< a list of lists of entries
    pasts,   ///< of `past`; payload: StackId of the first
    // dictionaries
    frame,  ///< payload: FrameId
    past,   ///< who had asked for a block; payload: StackId
    entry,
    block,
    segment,
    annotation,
    settings,
    roundup,
    snapshot,
  };

  /// A list of frames that may still grow: its place in open_frames_.
  struct OpenFrames {
    std::size_t begin;
    std::size_t count;
  };
  /// Small pool ids are their own payload, others stand in pools_.
  static constexpr std::uint64_t kStandsInPools = std::uint64_t{1} << 31U;
  std::uint64_t pool_payload(const PoolId& pool);
  PoolId pool_of(const PickleValue& tuple) const;

  static OpenFrames open_frames(const PickleValue& list) {
    return {list.payload >> 32U, list.payload & 0xFFFFFFFFU};
  }

  /// Lists that may still grow, and empty ones that were taken or dropped.
  template <typename List>
  static void drop_empty(std::vector<List>& lists) {
    while (!lists.empty() && lists.back().empty()) lists.pop_back();
  }

  /// Records of one kind: each waits until a list takes it, each list until a record takes that.
  template <typename R, typename L = std::vector<R>>
  struct Collection {
    using Record = R;
    using List = L;
    std::vector<Record> waiting;
    std::vector<List> lists;
  };
  /// Traces are the bulk of a snapshot.
  using Entries = Collection<TraceEntry, PagedArray<TraceEntry>>;

  /// What the words of snapshots mean, by TextId: they are the first ones in the table.
  struct Meaning {
    static constexpr std::uint8_t kNone = 0xFF;
    std::uint8_t key = kNone;
    std::uint8_t action = kNone;
    std::uint8_t state = kNone;
    std::uint8_t is_small = kNone;
    std::uint8_t roundup_index = kNone;
  };

  /// What makes a dictionary a record, and how it is read.
  struct RecordKind {
    Role role;
    std::uint64_t signs;   ///< keys of which any one says that it is meant
    std::uint64_t needed;  ///< keys that must be there
    std::uint64_t (SnapshotBuilder::*add)(const PickleValue& dict);
  };
  static std::span<const RecordKind> record_kinds();

  static Role role_of(const PickleValue& value) { return static_cast<Role>(value.role); }
  static bool is_empty_list(const PickleValue& value) {
    return role_of(value) == Role::empty && value.kind == PickleValue::Kind::list;
  }
  static void become(PickleValue& value, Role role, std::uint64_t payload);
  static std::string_view words_for(Role role);
  static Role list_role(const PickleValue& item);

  void learn_words();
  const Meaning& meaning_of(const PickleValue& text) const {
    static constexpr Meaning kUnknown = {};
    const bool is_known = text.kind == PickleValue::Kind::text && text.payload < meanings_.size();
    return is_known ? meanings_[text.payload] : kUnknown;
  }

  // The fields of the dictionary at hand.
  void gather(std::span<const PickleValue> items);
  const PickleValue* field(SnapshotKey key) const;
  std::int64_t integer_field(SnapshotKey key, std::int64_t otherwise) const;
  std::int64_t integer_field(SnapshotKey key, std::int64_t otherwise, std::int64_t smallest,
                             std::int64_t largest) const;
  std::uint64_t size_field(SnapshotKey key, std::uint64_t otherwise = 0) const;
  double real_field(SnapshotKey key, double otherwise) const;
  std::int32_t line_field() const;
  bool boolean_field(SnapshotKey key, bool otherwise) const;
  TextId text_field(SnapshotKey key) const;
  TextId note_field(SnapshotKey key) const;
  StackId stack_field() const;
  std::int32_t device_field() const;

  std::uint64_t add_frame(const PickleValue& dict);
  std::uint64_t add_entry(const PickleValue& dict);
  std::uint64_t add_block(const PickleValue& dict);
  std::uint64_t add_past(const PickleValue& dict);
  std::uint64_t add_segment(const PickleValue& dict);
  std::uint64_t add_annotation(const PickleValue& dict);
  std::uint64_t add_settings(const PickleValue& dict);
  std::uint64_t add_snapshot(const PickleValue& dict);
  std::uint64_t add_roundup(std::span<const PickleValue> items);

  void add_frames(PickleValue& list, std::span<const PickleValue> items);
  void add_traces(PickleValue& list, std::span<const PickleValue> items);
  template <typename Kind>
  void collect(Kind& from, Role item_role, Role list_role, PickleValue& list,
               std::span<const PickleValue> items);
  template <typename Kind>
  typename Kind::List take_list(Kind& from, Role role, const PickleValue& value) {
    if (is_empty_list(value)) return {};
    expect(value, role);
    typename Kind::List list = std::exchange(from.lists[value.payload], {});
    drop_empty(from.lists);
    return list;
  }
  void expect(const PickleValue& value, Role role) const;

  void forget(const PickleValue& value);
  void become_other(PickleValue& value, const PickleError& problem);
  void add_to_filled(PickleValue& dict);

  Snapshot snapshot_;
  std::vector<Meaning> meanings_;
  std::vector<PickleError> problems_;

  std::uint64_t present_ = 0;  ///< which of fields_ the dictionary at hand has
  std::array<const PickleValue*, kSnapshotKeyCount> fields_ = {};

  std::vector<FrameId> open_frames_;
  std::vector<PoolId> pools_;
  Entries entries_;
  Collection<SnapshotBlock> blocks_;
  Collection<SnapshotSegment> segments_;
  Collection<SnapshotAnnotation> annotations_;
  std::vector<std::vector<std::vector<TraceEntry>>> traces_;
  std::optional<SnapshotSettings> settings_;
  std::array<std::int64_t, kRoundupKeyNames.size()> roundup_ = {};
  TraceDetails details_;
};

}  // namespace ohm
