#include "tests/support/random_program.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "allocator_shim/observe/bytes.h"

namespace ohm::test {
namespace {

CachingAllocatorOptions options_of(const RandomProgram& program) {
  CachingAllocatorOptions options;
  options.settings = parse_settings(program.settings);
  return options;
}

/// What the n-th stream is called in snapshots.
std::int64_t handle_of(StreamId stream) {
  constexpr std::int64_t kFirst = 0x55d0'0000'1000;
  return stream == 0 ? 0 : kFirst + std::int64_t{stream} * 0x100;
}

SnapshotSettings listed(const AllocatorSettings& settings) {
  SnapshotSettings listed;
  listed.alloc_conf = settings.text;
  if (settings.max_split_size_bytes != AllocatorSettings::kNoMaxSplitSize) {
    listed.max_split_size = static_cast<std::int64_t>(settings.max_split_size_bytes);
  }
  listed.garbage_collection_threshold = settings.garbage_collection_threshold;
  listed.expandable_segments = settings.expandable_segments;
  std::transform(settings.roundup_power2_divisions.begin(), settings.roundup_power2_divisions.end(),
                 listed.roundup_power2_divisions.begin(),
                 [](std::size_t division) { return static_cast<std::int64_t>(division); });
  return listed;
}

SnapshotSegment listed(const SegmentView& segment) {
  SnapshotSegment listed;
  listed.address = segment.address;
  listed.bytes = segment.bytes;
  listed.stream = handle_of(segment.stream);
  listed.is_small = segment.is_small;
  listed.is_expandable = segment.is_expandable;
  for (const BlockView& block : segment.blocks) {
    SnapshotBlock& added = listed.blocks.emplace_back();
    added.address = block.address;
    added.bytes = block.bytes;
    added.requested_bytes = block.requested_bytes;
    added.state = block.state;
    if (block.state == BlockView::State::inactive) continue;
    listed.active_bytes += block.bytes;
    listed.requested_bytes += block.requested_bytes;
    if (block.state == BlockView::State::active_allocated) listed.allocated_bytes += block.bytes;
  }
  return listed;
}

}  // namespace

const std::vector<RandomProgram>& random_programs() {
  static const std::vector<RandomProgram> kPrograms = {
      {"", 64_GiB, 1, false},
      {"", 600_MiB, 1, false},
      {"", 300_MiB, 4, true},
      {"max_split_size_mb:21", 900_MiB, 1, false},
      {"max_split_size_mb:64", 700_MiB, 3, true},
      {"max_split_size_mb:40,max_non_split_rounding_mb:100", 900_MiB, 2, false},
      {"garbage_collection_threshold:0.5", 800_MiB, 2, true},
      {"garbage_collection_threshold:0.8,max_split_size_mb:30", 900_MiB, 1, true},
      {"roundup_power2_divisions:4", 2_GiB, 1, false},
      {"roundup_power2_divisions:[1:8,4:2,32:0,>:4]", 900_MiB, 2, true},
      {"expandable_segments:True", 64_GiB, 2, false},
      {"expandable_segments:True", 400_MiB, 3, true},
      {"expandable_segments:True,max_split_size_mb:50,garbage_collection_threshold:0.6", 500_MiB,
       2, true},
  };
  return kPrograms;
}

/// A sink that passes events on to the record in use.
class RandomRun::Recorder final : public EventSink {
 public:
  Recorder() : record_(std::in_place, 1) {}

  void begin(std::size_t max_events) {
    next_ = end_ = nullptr;
    record_.emplace(max_events);
  }
  std::vector<MemoryEvent> events() {
    flush();
    std::vector<MemoryEvent> events;
    for (std::size_t i = 0; i < record_->size(); ++i) events.push_back((*record_)[i]);
    return events;
  }

 private:
  void make_room() override {
    flush();
    next_ = &slot_;
    end_ = &slot_ + 1;
  }
  void flush() {
    if (next_ == &slot_ + 1) record_->add(slot_);
    next_ = end_ = nullptr;
  }

  MemoryEvent slot_;
  std::optional<EventRecord> record_;
};

RandomRun::RandomRun(const RandomProgram& program, std::uint64_t seed)
    : program_(program),
      random_(seed),
      gpu_(program.capacity_bytes, {}),
      recorder_(std::make_unique<Recorder>()),
      allocator_(gpu_, streams_, options_of(program), recorder_.get()) {}

RandomRun::~RandomRun() = default;

void RandomRun::run(std::size_t steps) {
  for (std::size_t i = 0; i < steps; ++i) step();
}

void RandomRun::record(std::size_t max_events) { recorder_->begin(max_events); }

Snapshot RandomRun::snapshot() const {
  Snapshot snapshot;
  snapshot.allocator_settings = listed(allocator_.settings());
  for (const SegmentView& segment : allocator_.segments()) {
    snapshot.segments.push_back(listed(segment));
  }
  for (StreamId stream = 0; stream < program_.streams; ++stream) {
    snapshot.details.push_back({handle_of(stream), kNoText, kNoText, kNoText});
  }
  std::vector<TraceEntry>& trace = snapshot.device_traces.emplace_back();
  for (const MemoryEvent& event : recorder_->events()) {
    TraceEntry& entry = trace.emplace_back();
    entry.address = event.address;
    entry.bytes = event.bytes;
    entry.detail = event.stream & 0xFFFU;
    entry.action = event.action;
  }
  return snapshot;
}

/// Sizes as programs ask for them: mostly small, often the same again, sometimes at an edge.
std::size_t RandomRun::next_bytes() {
  constexpr std::size_t kEdges[] = {1,      512,    513,        1_MiB - 1,  1_MiB,  1_MiB + 1,
                                    2_MiB,  10_MiB, 10_MiB - 1, 19_MiB,     20_MiB, 20_MiB - 1,
                                    21_MiB, 50_MiB, 64_MiB + 1, 9_MiB + 512};
  switch (below(6)) {
    case 0:
      return kEdges[below(std::size(kEdges))];
    case 1:
      return 1 + below(1_MiB);
    case 2:
      return 1 + below(100_MiB);
    case 3:
      return 1 + below(12_MiB);
    case 4:
      return last_bytes_;
    default:
      return last_bytes_ = 1 + below(64_KiB);
  }
}

void RandomRun::allocate() {
  AllocationRequest request;
  request.bytes = next_bytes();
  request.stream = static_cast<StreamId>(below(program_.streams));
  try {
    live_.push_back(allocator_.allocate(request).block);
  } catch (const OutOfMemory&) {
    // As a program that catches it and goes on.
  }
}

void RandomRun::step() {
  const std::size_t dice = below(100);
  const std::size_t free_share = 30 + std::min<std::size_t>(live_.size() / 4, 35);
  if (dice < free_share && !live_.empty()) {
    BlockHandle& block = live_[below(live_.size())];
    allocator_.free(block);
    block = live_.back();
    live_.pop_back();
  } else if (dice < 92) {
    allocate();
  } else if (dice < 95 && !live_.empty()) {
    allocator_.record_stream(live_[below(live_.size())],
                             static_cast<StreamId>(below(program_.streams)));
  } else if (dice < 97) {
    streams_.synchronize_all();
  } else if (dice < 98 && program_.sets_fractions) {
    allocator_.set_memory_fraction(static_cast<double>(50 + below(51)) / 100);
  } else if (below(8) == 0) {
    allocator_.empty_cache();
  }
}

Snapshot random_snapshot(const RandomProgram& program, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  RandomRun run(program, seed);
  run.run(random() % 400);
  const std::size_t bound = random() % 2 == 0 ? 200 : 2000;
  run.record(1 + random() % bound);
  run.run(100 + random() % 400);
  return run.snapshot();
}

}  // namespace ohm::test
