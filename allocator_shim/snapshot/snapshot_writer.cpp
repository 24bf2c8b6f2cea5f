#include "allocator_shim/snapshot/snapshot_writer.h"

#include <array>
#include <optional>
#include <unordered_map>
#include <vector>

#include "allocator_shim/snapshot/snapshot_keys.h"

namespace ohm {

namespace {

using Key = SnapshotKey;

class SnapshotWriter {
 public:
  SnapshotWriter(const Snapshot& snapshot, const PickleWriter::Write& write)
      : snapshot_(snapshot), out_(write), writes_categories_(viewer_takes_categories()) {}

  void write() {
    out_.begin_dict();
    key(Key::segments);
    out_.list(snapshot_.segments.size(), [&](std::size_t i) { segment(snapshot_.segments[i]); });
    key(Key::device_traces);
    out_.list(snapshot_.device_traces.size(),
              [&](std::size_t i) { trace(snapshot_.device_traces[i]); });
    if (snapshot_.allocator_settings) settings(*snapshot_.allocator_settings);
    key(Key::external_annotations);
    out_.list(snapshot_.external_annotations.size(),
              [&](std::size_t i) { annotation(snapshot_.external_annotations[i]); });
    if (snapshot_.has_later_keys) host_lists();
    out_.end_dict();
    out_.stop();
  }

 private:
  /// PyTorch's viewer throws when entries have categories and none of them is 'unknown'.
  bool viewer_takes_categories() const {
    for (const TraceDetail& detail : snapshot_.details) {
      const std::string_view category = snapshot_.tables.text(detail.category);
      if (category.empty() || category == "unknown") return true;
    }
    return false;
  }

  /// The first time as text, then by its number in the memo.
  template <typename Memo, typename Id>
  void text(Memo& memo, Id id, std::string_view text) {
    const auto [known, is_new] = memo.try_emplace(id, 0);
    if (!is_new) return out_.again(known->second);
    out_.text(text);
    known->second = out_.memoize();
  }

  void text(TextId id) { text(texts_, id, snapshot_.tables.text(id)); }
  void word(std::string_view word) { text(words_, word, word); }

  void key(Key key) {
    std::optional<std::uint32_t>& number = keys_[static_cast<std::size_t>(key)];
    if (number) return out_.again(*number);
    out_.text(name_of(key));
    number = out_.memoize();
  }

  void natural(Key of, std::uint64_t value) {
    key(of);
    out_.natural(value);
  }
  void integer(Key of, std::int64_t value) {
    key(of);
    out_.integer(value);
  }
  void boolean(Key of, bool value) {
    key(of);
    out_.boolean(value);
  }
  void text(Key of, TextId value) {
    key(of);
    text(value);
  }

  void frame(FrameId id) {
    const auto [known, is_new] = frames_.try_emplace(id, 0);
    if (!is_new) return out_.again(known->second);
    const StackFrame& frame = snapshot_.tables.frame(id);
    known->second = out_.begin_memoized_dict();
    text(Key::name, frame.name);
    text(Key::filename, frame.filename);
    integer(Key::line, frame.line);
    out_.end_dict();
  }

  void frames(StackId id) {
    key(Key::frames);
    const auto [known, is_new] = stacks_.try_emplace(id, 0);
    if (!is_new) return out_.again(known->second);
    const auto stack = snapshot_.tables.stack(id);
    known->second = out_.memoized_list(stack.size(), [&](std::size_t i) { frame(stack[i]); });
  }

  void block(const SnapshotBlock& block) {
    out_.begin_dict();
    natural(Key::address, block.address);
    natural(Key::size, block.bytes);
    natural(Key::requested_size, block.requested_bytes);
    key(Key::state);
    word(name_of(block.state));
    if (block.category != kNoText) text(Key::category, block.category);
    frames(block.stack);
    out_.end_dict();
  }

  void segment(const SnapshotSegment& segment) {
    out_.begin_dict();
    integer(Key::device, segment.device);
    natural(Key::address, segment.address);
    natural(Key::total_size, segment.bytes);
    natural(Key::allocated_size, segment.allocated_bytes);
    natural(Key::active_size, segment.active_bytes);
    natural(Key::requested_size, segment.requested_bytes);
    integer(Key::stream, segment.stream);
    key(Key::segment_type);
    word(kSegmentTypeNames[segment.is_small ? 1 : 0]);
    pool(Key::segment_pool_id, segment.pool);
    boolean(Key::is_expandable, segment.is_expandable);
    frames(segment.stack);
    key(Key::blocks);
    out_.list(segment.blocks.size(), [&](std::size_t i) { block(segment.blocks[i]); });
    out_.end_dict();
  }

  void pool(Key of, const std::array<std::int64_t, 2>& pool) {
    key(of);
    out_.integer(pool[0]);
    out_.integer(pool[1]);
    out_.pair();
  }

  void host_lists() {
    for (const Key list : {Key::host_segments, Key::host_traces}) {
      key(list);
      out_.list(0, [](std::size_t) {});
    }
  }

  void trace(const std::vector<TraceEntry>& entries) {
    out_.list(entries.size(), [&](std::size_t i) { entry(entries[i]); });
  }

  void entry(const TraceEntry& entry) {
    const TraceDetail& detail = snapshot_.detail(entry);
    out_.begin_dict();
    key(Key::action);
    word(name_of(entry.action));
    natural(entry.action == EventAction::oom ? Key::device_free : Key::addr, entry.address);
    natural(Key::size, entry.bytes);
    integer(Key::stream, detail.stream);
    if (entry.time_us != kNoTime) integer(Key::time_us, entry.time_us);
    if (writes_categories_ && detail.category != kNoText) text(Key::category, detail.category);
    if (detail.compile_context != kNoText) text(Key::compile_context, detail.compile_context);
    if (detail.user_metadata != kNoText || snapshot_.has_later_keys) {
      text(Key::user_metadata, detail.user_metadata);
    }
    if (snapshot_.has_later_keys) pool(Key::pool_id, detail.pool);
    if (entry.stack != kNoStack) frames(entry.stack);
    out_.end_dict();
  }

  void settings(const SnapshotSettings& settings) {
    key(Key::allocator_settings);
    out_.begin_dict();
    key(Key::alloc_conf);
    out_.text(settings.alloc_conf);
    integer(Key::max_split_size, settings.max_split_size);
    key(Key::garbage_collection_threshold);
    out_.real(settings.garbage_collection_threshold);
    boolean(Key::expandable_segments, settings.expandable_segments);
    integer(Key::pinned_num_register_threads, settings.pinned_num_register_threads);
    boolean(Key::release_lock_on_cudamalloc, settings.release_lock_on_cudamalloc);
    boolean(Key::pinned_use_cuda_host_register, settings.pinned_use_cuda_host_register);
    if (settings.graph_capture_record_stream_reuse) {
      boolean(Key::graph_capture_record_stream_reuse, *settings.graph_capture_record_stream_reuse);
    }
    if (settings.max_round_threshold) {
      integer(Key::max_round_threshold, *settings.max_round_threshold);
    }
    if (settings.max_cached_size) integer(Key::max_cached_size, *settings.max_cached_size);
    key(Key::roundup_power2_divisions);
    out_.begin_dict();
    for (std::size_t i = 0; i < kRoundupKeyNames.size(); ++i) {
      word(kRoundupKeyNames[i]);
      out_.integer(settings.roundup_power2_divisions[i]);
    }
    out_.end_dict();
    out_.end_dict();
  }

  void annotation(const SnapshotAnnotation& annotation) {
    out_.begin_dict();
    text(Key::name, annotation.name);
    text(Key::stage, annotation.stage);
    integer(Key::device, annotation.device);
    if (annotation.time_us != kNoTime) integer(Key::time_us, annotation.time_us);
    out_.end_dict();
  }

  const Snapshot& snapshot_;
  PickleWriter out_;
  bool writes_categories_;
  std::array<std::optional<std::uint32_t>, kSnapshotKeyCount> keys_ = {};
  std::unordered_map<std::string_view, std::uint32_t> words_;
  std::unordered_map<TextId, std::uint32_t> texts_;
  std::unordered_map<FrameId, std::uint32_t> frames_;
  std::unordered_map<StackId, std::uint32_t> stacks_;
};

}  // namespace

void write_snapshot(const Snapshot& snapshot, const PickleWriter::Write& write) {
  SnapshotWriter(snapshot, write).write();
}

std::string snapshot_bytes(const Snapshot& snapshot) {
  std::string bytes;
  write_snapshot(snapshot, [&](std::string_view more) { bytes += more; });
  return bytes;
}

}  // namespace ohm
