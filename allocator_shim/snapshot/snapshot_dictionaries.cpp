// The dictionaries of a snapshot, one function for each kind.
#include <fmt/format.h>

#include <bit>
#include <limits>
#include <utility>

#include "allocator_shim/snapshot/snapshot_builder.h"

namespace ohm {

namespace {

using ValueKind = PickleValue::Kind;
using Key = SnapshotKey;

constexpr std::uint64_t kNoAddress = ~std::uint64_t{0};
constexpr std::uint64_t bit(Key key) { return std::uint64_t{1} << static_cast<std::size_t>(key); }
static_assert(kSnapshotKeyCount <= 64);

template <typename... Keys>
constexpr std::uint64_t bits(Keys... keys) {
  return (bit(keys) | ...);
}

/// Where a list is taken by the dictionary that it stands in.
constexpr std::uint64_t kListKeys =
    bits(Key::blocks, Key::segments, Key::device_traces, Key::external_annotations, Key::history);

[[noreturn]] void refuse_field(const PickleValue& value, Key key, std::string_view wanted) {
  std::string found(name_of(value.kind));
  if (value.kind == ValueKind::integer) found = std::to_string(value.integer());
  throw PickleError(value.offset,
                    fmt::format("'{}' is {}: it must be {}", name_of(key), found, wanted));
}

}  // namespace

std::span<const SnapshotBuilder::RecordKind> SnapshotBuilder::record_kinds() {
  using B = SnapshotBuilder;
  static constexpr RecordKind kKinds[] = {
      {Role::entry, bits(Key::action), bits(Key::action, Key::size), &B::add_entry},
      {Role::frame, bits(Key::filename), bits(Key::filename, Key::name), &B::add_frame},
      {Role::block, bits(Key::state), bits(Key::size, Key::state), &B::add_block},
      {Role::past, bits(Key::real_size), bits(Key::real_size), &B::add_past},
      {Role::segment, bits(Key::blocks, Key::total_size),
       bits(Key::address, Key::total_size, Key::segment_type, Key::blocks), &B::add_segment},
      {Role::annotation, bits(Key::stage), bits(Key::stage, Key::name), &B::add_annotation},
      {Role::settings, bits(Key::max_split_size), bits(Key::max_split_size), &B::add_settings},
      {Role::snapshot, bits(Key::segments, Key::device_traces),
       bits(Key::segments, Key::device_traces), &B::add_snapshot},
  };
  return kKinds;
}

// ---- fields -------------------------------------------------------------------------------------

/// Sorts keys and values into fields_, and drops the records and lists that no kind takes.
void SnapshotBuilder::gather(std::span<const PickleValue> items) {
  present_ = 0;
  for (std::size_t i = 0; i < items.size(); i += 2) {
    const PickleValue& value = items[i + 1];
    const Meaning& meaning = meaning_of(items[i]);
    if (meaning.key == Meaning::kNone) {
      forget(items[i]);
      forget(value);
      continue;
    }
    const std::uint64_t key = std::uint64_t{1} << meaning.key;
    if (value.kind == ValueKind::dict || (key & kListKeys) == 0) forget(value);
    present_ |= key;
    fields_[meaning.key] = &value;
  }
}

const PickleValue* SnapshotBuilder::field(Key key) const {
  return (present_ & bit(key)) != 0 ? fields_[static_cast<std::size_t>(key)] : nullptr;
}

std::int64_t SnapshotBuilder::integer_field(Key key, std::int64_t otherwise) const {
  const PickleValue* value = field(key);
  if (value == nullptr) return otherwise;
  if (value->kind != ValueKind::integer) refuse_field(*value, key, "an integer of 64 bits");
  return value->integer();
}

std::int64_t SnapshotBuilder::integer_field(Key key, std::int64_t otherwise, std::int64_t smallest,
                                            std::int64_t largest) const {
  const std::int64_t integer = integer_field(key, otherwise);
  if (integer < smallest || integer > largest) {
    refuse_field(*field(key), key, fmt::format("from {} to {}", smallest, largest));
  }
  return integer;
}

/// Also addresses: neither is negative, neither reaches 2^63.
std::uint64_t SnapshotBuilder::size_field(Key key, std::uint64_t otherwise) const {
  const PickleValue* value = field(key);
  if (value == nullptr) return otherwise;
  if (value->kind != ValueKind::integer || value->integer() < 0) {
    refuse_field(*value, key, "an integer from 0 to 2^63 - 1");
  }
  return value->payload;
}

double SnapshotBuilder::real_field(Key key, double otherwise) const {
  const PickleValue* value = field(key);
  if (value == nullptr) return otherwise;
  if (value->kind == ValueKind::integer) return static_cast<double>(value->integer());
  if (value->kind != ValueKind::real) refuse_field(*value, key, "a number");
  return value->real();
}

bool SnapshotBuilder::boolean_field(Key key, bool otherwise) const {
  const PickleValue* value = field(key);
  if (value == nullptr) return otherwise;
  if (value->kind != ValueKind::boolean) refuse_field(*value, key, "True or False");
  return value->payload != 0;
}

TextId SnapshotBuilder::text_field(Key key) const {
  const PickleValue* value = field(key);
  if (value == nullptr) return kNoText;
  if (value->kind != ValueKind::text) refuse_field(*value, key, "a text");
  return static_cast<TextId>(value->payload);
}

/// What people attach to entries: kept where it is a text.
TextId SnapshotBuilder::note_field(Key key) const {
  const PickleValue* value = field(key);
  const bool is_text = value != nullptr && value->kind == ValueKind::text;
  return is_text ? static_cast<TextId>(value->payload) : kNoText;
}

StackId SnapshotBuilder::stack_field() const {
  const PickleValue* value = field(Key::frames);
  if (value == nullptr) return kNoStack;
  if (is_empty_list(*value)) return kNoStack;
  expect(*value, Role::stack);
  return static_cast<StackId>(value->payload);
}

std::int32_t SnapshotBuilder::device_field() const {
  constexpr auto kLast = static_cast<std::int64_t>(kMaxDevices) - 1;
  return static_cast<std::int32_t>(integer_field(Key::device, 0, 0, kLast));
}

/// 0 where it is unknown: PyTorch writes 2^64 - 1 then.
std::int32_t SnapshotBuilder::line_field() const {
  const PickleValue* value = field(Key::line);
  if (value == nullptr || value->kind == ValueKind::huge_integer) return 0;
  using Line = std::numeric_limits<std::int32_t>;
  const std::int64_t line = integer_field(Key::line, 0);
  return line >= Line::min() && line <= Line::max() ? static_cast<std::int32_t>(line) : 0;
}

// ---- frames and entries -------------------------------------------------------------------------

std::uint64_t SnapshotBuilder::add_frame(const PickleValue& /*dict*/) {
  StackFrame frame;
  frame.filename = text_field(Key::filename);
  frame.name = text_field(Key::name);
  frame.line = line_field();
  return snapshot_.tables.intern(frame);
}

std::uint64_t SnapshotBuilder::add_entry(const PickleValue& dict) {
  const PickleValue& action = *field(Key::action);
  const Meaning& meaning = meaning_of(action);
  if (meaning.action == Meaning::kNone) {
    const std::string found =
        action.kind == ValueKind::text
            ? fmt::format("'{}'", snapshot_.tables.text(static_cast<TextId>(action.payload)))
            : std::string(name_of(action.kind));
    throw PickleError(action.offset,
                      fmt::format("the action {} of a trace entry is unknown", found));
  }
  TraceEntry entry;
  entry.action = static_cast<EventAction>(meaning.action);
  const Key address = entry.action == EventAction::oom && field(Key::device_free) != nullptr
                          ? Key::device_free
                          : Key::addr;
  if (field(address) == nullptr) {
    throw PickleError(dict.offset, fmt::format("a trace entry without '{}'", name_of(address)));
  }
  entry.address = size_field(address);
  entry.bytes = size_field(Key::size);
  entry.time_us = integer_field(Key::time_us, kNoTime);
  entry.stack = stack_field();
  TraceDetail detail;
  detail.stream = integer_field(Key::stream, 0);
  detail.category = note_field(Key::category);
  detail.compile_context = note_field(Key::compile_context);
  detail.user_metadata = note_field(Key::user_metadata);
  if (const PickleValue* pool = field(Key::pool_id)) {
    if (role_of(*pool) == Role::pool) detail.pool = pool_of(*pool);
  }
  details_.set(snapshot_, entry, detail);
  entries_.waiting.push_back(entry);
  return entries_.waiting.size() - 1;
}

std::uint64_t SnapshotBuilder::add_annotation(const PickleValue& /*dict*/) {
  SnapshotAnnotation annotation;
  annotation.name = text_field(Key::name);
  annotation.stage = text_field(Key::stage);
  annotation.device = static_cast<std::int32_t>(
      integer_field(Key::device, 0, std::numeric_limits<std::int32_t>::min(),
                    std::numeric_limits<std::int32_t>::max()));
  annotation.time_us = integer_field(Key::time_us, kNoTime);
  annotations_.waiting.push_back(annotation);
  return annotations_.waiting.size() - 1;
}

// ---- segments and blocks ------------------------------------------------------------------------

std::uint64_t SnapshotBuilder::add_block(const PickleValue& /*dict*/) {
  const PickleValue& state = *field(Key::state);
  const Meaning& meaning = meaning_of(state);
  if (meaning.state == Meaning::kNone) {
    refuse_field(state, Key::state, "'active_allocated', 'active_pending_free' or 'inactive'");
  }
  SnapshotBlock block;
  block.address = size_field(Key::address, kNoAddress);
  block.bytes = size_field(Key::size);
  block.requested_bytes = size_field(Key::requested_size);
  block.state = static_cast<BlockView::State>(meaning.state);
  block.stack = stack_field();
  const PickleValue* const past = field(Key::history);
  if (block.stack == kNoStack && past != nullptr && role_of(*past) == Role::pasts) {
    block.stack = static_cast<StackId>(past->payload);
  }
  block.category = note_field(Key::category);
  blocks_.waiting.push_back(block);
  return blocks_.waiting.size() - 1;
}

/// Of PyTorch 1.11 to 2.0, which kept with each block who had asked for it, the newest first.
std::uint64_t SnapshotBuilder::add_past(const PickleValue& /*dict*/) { return stack_field(); }

namespace {

/// Gives an address to blocks that have none (old versions), and checks that the blocks fill the
/// segment without a gap.
void place_blocks(SnapshotSegment& segment, std::uint64_t offset) {
  const auto refuse = [&](const std::string& why) {
    throw PickleError(offset, fmt::format("the segment at 0x{:x}: {}", segment.address, why));
  };
  if (segment.bytes > static_cast<std::uint64_t>(INT64_MAX) - segment.address) {
    refuse(fmt::format("its {} bytes go beyond the last address", segment.bytes));
  }
  std::uint64_t used = 0;
  for (SnapshotBlock& block : segment.blocks) {
    const std::uint64_t address = segment.address + used;
    if (block.address == kNoAddress) block.address = address;
    if (block.address != address) {
      refuse(fmt::format("a block begins at 0x{:x}, but the one before ends at 0x{:x}",
                         block.address, address));
    }
    if (block.bytes > segment.bytes - used) {
      refuse(fmt::format("its blocks take more than its {} bytes", segment.bytes));
    }
    used += block.bytes;
  }
  if (used != segment.bytes) {
    refuse(fmt::format("its blocks take {} of its {} bytes", used, segment.bytes));
  }
}

}  // namespace

std::uint64_t SnapshotBuilder::add_segment(const PickleValue& dict) {
  const PickleValue& type = *field(Key::segment_type);
  const Meaning& meaning = meaning_of(type);
  if (meaning.is_small == Meaning::kNone) {
    refuse_field(type, Key::segment_type, "'small' or 'large'");
  }
  SnapshotSegment segment;
  segment.device = device_field();
  segment.address = size_field(Key::address);
  segment.bytes = size_field(Key::total_size);
  segment.stream = integer_field(Key::stream, 0);
  segment.is_small = meaning.is_small != 0;
  segment.is_expandable = boolean_field(Key::is_expandable, false);
  segment.stack = stack_field();
  if (const PickleValue* pool = field(Key::segment_pool_id)) {
    expect(*pool, Role::pool);
    segment.pool = pool_of(*pool);
  }
  segment.blocks = take_list(blocks_, Role::blocks, *field(Key::blocks));
  place_blocks(segment, dict.offset);
  std::uint64_t allocated = 0;
  std::uint64_t active = 0;
  std::uint64_t requested = 0;
  for (const SnapshotBlock& block : segment.blocks) {
    if (block.state == BlockView::State::active_allocated) allocated += block.bytes;
    if (block.state == BlockView::State::inactive) continue;
    active += block.bytes;
    requested += block.requested_bytes;
  }
  segment.allocated_bytes = size_field(Key::allocated_size, allocated);
  segment.active_bytes = size_field(Key::active_size, active);
  segment.requested_bytes = size_field(Key::requested_size, requested);
  segments_.waiting.push_back(std::move(segment));
  return segments_.waiting.size() - 1;
}

// ---- settings and the whole ---------------------------------------------------------------------

std::uint64_t SnapshotBuilder::add_roundup(std::span<const PickleValue> items) {
  for (std::size_t i = 0; i < items.size(); i += 2) {
    const std::uint8_t index = meaning_of(items[i]).roundup_index;
    if (index == Meaning::kNone || items[i + 1].kind != ValueKind::integer) {
      throw PickleError(items[i].offset,
                        "roundup divisions are integers under the keys '1' to '32768'");
    }
    roundup_[index] = items[i + 1].integer();
  }
  return 0;
}

std::uint64_t SnapshotBuilder::add_settings(const PickleValue& /*dict*/) {
  SnapshotSettings settings;
  const Key conf = field(Key::alloc_conf) != nullptr ? Key::alloc_conf : Key::newer_alloc_conf;
  settings.alloc_conf = snapshot_.tables.text(text_field(conf));
  settings.max_split_size = integer_field(Key::max_split_size, -1);
  settings.garbage_collection_threshold = real_field(Key::garbage_collection_threshold, 0);
  settings.expandable_segments = boolean_field(Key::expandable_segments, false);
  settings.pinned_num_register_threads = integer_field(Key::pinned_num_register_threads, 1);
  settings.release_lock_on_cudamalloc = boolean_field(Key::release_lock_on_cudamalloc, false);
  settings.pinned_use_cuda_host_register = boolean_field(Key::pinned_use_cuda_host_register, false);
  if (field(Key::graph_capture_record_stream_reuse) != nullptr) {
    settings.graph_capture_record_stream_reuse =
        boolean_field(Key::graph_capture_record_stream_reuse, false);
  }
  if (field(Key::max_round_threshold) != nullptr) {
    settings.max_round_threshold = integer_field(Key::max_round_threshold, -1);
  }
  if (field(Key::max_cached_size) != nullptr) {
    settings.max_cached_size = integer_field(Key::max_cached_size, -1);
  }
  if (const PickleValue* roundup = field(Key::roundup_power2_divisions)) {
    if (role_of(*roundup) != Role::empty) expect(*roundup, Role::roundup);
    settings.roundup_power2_divisions = roundup_;
  }
  settings_ = std::move(settings);
  return 0;
}

std::uint64_t SnapshotBuilder::add_snapshot(const PickleValue& dict) {
  if (!snapshot_.segments.empty() || !snapshot_.device_traces.empty()) {
    throw PickleError(dict.offset, "a second memory snapshot in the same file");
  }
  snapshot_.segments = take_list(segments_, Role::segments, *field(Key::segments));
  const PickleValue& traces = *field(Key::device_traces);
  if (!is_empty_list(traces)) {
    expect(traces, Role::traces);
    snapshot_.device_traces = std::exchange(traces_[traces.payload], {});
  }
  const PickleValue* const settings = field(Key::allocator_settings);
  const bool says_nothing =
      settings == nullptr || (role_of(*settings) == Role::empty && !is_empty_list(*settings));
  if (!says_nothing) {
    expect(*settings, Role::settings);
    snapshot_.allocator_settings = settings_;
  }
  if (const PickleValue* annotations = field(Key::external_annotations)) {
    snapshot_.external_annotations = take_list(annotations_, Role::annotations, *annotations);
  }
  return 0;
}

}  // namespace ohm
