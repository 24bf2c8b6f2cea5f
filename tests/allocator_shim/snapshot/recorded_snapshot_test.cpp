#include "allocator_shim/snapshot/recorded_snapshot.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "allocator_shim/observe/pool_id.h"
#include "allocator_shim/snapshot/snapshot_writer.h"
#include "tests/support/snapshot_text.h"

namespace ohm {
namespace {

MemoryEvent event(EventAction action, std::uint64_t address, std::uint64_t bytes) {
  MemoryEvent event;
  event.action = action;
  event.address = address;
  event.bytes = bytes;
  return event;
}

class RecordedSnapshot : public testing::Test {
 protected:
  Snapshot snapshot(std::vector<std::vector<SegmentView>> segments) const {
    return snapshot_of(segments, events_, sites_, {});
  }

  EventRecord events_;
  SiteTable sites_;
};

TEST_F(RecordedSnapshot, HasOneTraceForEachGpuAndNoneForTheHost) {
  MemoryEvent on_host = event(EventAction::alloc, 1, 10);
  on_host.device = -1;
  MemoryEvent on_second = event(EventAction::alloc, 2, 20);
  on_second.device = 1;
  events_.add(on_host);
  events_.add(event(EventAction::segment_alloc, 3, 30));
  events_.add(on_second);
  events_.add(event(EventAction::oom, 5, 50));
  EXPECT_EQ(test::snapshot_text(snapshot({{}, {}, {}})),
            "trace 0\n"
            "segment_alloc 3 30 0 1 unknown   \n"
            "oom 5 50 0 3 unknown   \n"
            "trace 1\n"
            "alloc 2 20 0 2 other   \n"
            "trace 2\n"
            "settings  -1 0.000000 0 1 0 0 - 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
}

TEST_F(RecordedSnapshot, SaysThePoolOfEachEntry) {
  constexpr PoolId kGraph = {3, 0};
  constexpr PoolId kProgram = {0, 2};
  const auto of_segment = [](EventAction action, std::uint64_t address, PoolId pool) {
    MemoryEvent made = event(action, address, 4096);
    made.block_units = packed(pool);
    return made;
  };
  SegmentView kept;
  kept.address = 16384;
  kept.bytes = 4096;
  kept.pool = kProgram;
  events_.add(of_segment(EventAction::segment_alloc, 4096, kGraph));
  events_.add(event(EventAction::alloc, 4096, 10));
  events_.add(event(EventAction::alloc, 8191, 10));
  events_.add(event(EventAction::alloc, 8192, 10));
  events_.add(of_segment(EventAction::segment_free, 4096, kGraph));
  events_.add(of_segment(EventAction::segment_alloc, 2048, kNormalPool));
  events_.add(event(EventAction::free_completed, 4096, 10));
  events_.add(event(EventAction::alloc, 16384, 10));
  events_.add(of_segment(EventAction::oom, 77, kProgram));
  const std::vector<std::vector<SegmentView>> segments{{kept}};
  const auto pools = [&](const SnapshotHistory& history) {
    const Snapshot made = snapshot_of(segments, events_, sites_, {}, history, true);
    std::vector<PoolId> found;
    for (const TraceEntry& entry : made.device_traces[0]) found.push_back(made.detail(entry).pool);
    return found;
  };
  const std::vector<PoolId> all{kGraph,      kGraph,      kGraph,   kNormalPool, kGraph,
                                kNormalPool, kNormalPool, kProgram, kProgram};
  EXPECT_EQ(pools({}), all);
  EXPECT_EQ(pools({2, 100}), std::vector<PoolId>(all.begin() + 2, all.end()))
      << "a history that begins later";
}

TEST_F(RecordedSnapshot, HasTheKeysOfLaterVersionsOfPyTorchWhereTheyAreAskedFor) {
  events_.add(event(EventAction::alloc, 512, 10));
  const std::vector<std::vector<SegmentView>> segments(1);
  const std::string plain = snapshot_bytes(snapshot_of(segments, events_, sites_, {}));
  const std::string later = snapshot_bytes(snapshot_of(segments, events_, sites_, {}, {}, true));
  for (const char* const key :
       {"pool_id", "compile_context", "user_metadata", "host_segments", "host_traces"}) {
    EXPECT_EQ(plain.find(key), std::string::npos) << key;
    EXPECT_NE(later.find(key), std::string::npos) << key;
  }
}

TEST_F(RecordedSnapshot, ShowsTheLineOfTheProgramAsAFrame) {
  MemoryEvent in_op = event(EventAction::alloc, 512, 10);
  in_op.site = sites_.intern("scenarios/leak.lua", 7, "relu");
  in_op.category = Category::activation;
  in_op.stream = 3;
  MemoryEvent outside = event(EventAction::free_requested, 512, 10);
  outside.site = sites_.intern("scenarios/leak.lua", 9, "");
  outside.stream = 3;
  events_.add(in_op);
  events_.add(outside);
  const Snapshot made = snapshot({{}});
  EXPECT_EQ(test::entry_text(made, made.device_traces[0][0]),
            "alloc 512 10 3 0 activation   scenarios/leak.lua:7:relu\n");
  EXPECT_EQ(test::entry_text(made, made.device_traces[0][1]),
            "free_requested 512 10 3 1 other   scenarios/leak.lua:9:main chunk\n");
}

TEST_F(RecordedSnapshot, GivesAnAllocationTheCategoryThatItTurnedOutToHave) {
  const auto labelled = [](MemoryEvent event, Category category) {
    event.category = category;
    return event;
  };
  events_.add(labelled(event(EventAction::alloc, 512, 10), Category::activation));
  events_.add(labelled(event(EventAction::relabel, 512, 10), Category::gradient));
  events_.add(labelled(event(EventAction::free_requested, 512, 10), Category::gradient));
  events_.add(labelled(event(EventAction::free_completed, 512, 10), Category::gradient));
  events_.add(labelled(event(EventAction::alloc, 512, 10), Category::input));
  events_.add(labelled(event(EventAction::relabel, 4096, 1), Category::input));  // unknown block
  const Snapshot made = snapshot({{}});
  std::string text;
  for (const TraceEntry& entry : made.device_traces[0]) text += test::entry_text(made, entry);
  EXPECT_EQ(text,
            "alloc 512 10 0 0 gradient   \n"
            "free_requested 512 10 0 2 gradient   \n"
            "free_completed 512 10 0 3 gradient   \n"
            "alloc 512 10 0 4 input   \n");
}

TEST_F(RecordedSnapshot, CountsTimeFromTheBeginningOfABoundedRecord) {
  EventRecord bounded(2);
  for (std::uint64_t i = 0; i < 5; ++i) bounded.add(event(EventAction::alloc, 512 * i, 1));
  const std::vector<std::vector<SegmentView>> segments(1);
  const Snapshot made = snapshot_of(segments, bounded, sites_, {});
  ASSERT_EQ(made.device_traces[0].size(), 2U);
  EXPECT_EQ(made.device_traces[0][0].time_us, 3);
  EXPECT_EQ(made.device_traces[0][1].time_us, 4);
}

TEST_F(RecordedSnapshot, SumsUpWhatASegmentHolds) {
  using State = BlockView::State;
  const SiteId site = sites_.intern("a.lua", 1, "zeros");
  SegmentView view;
  view.address = 4096;
  view.bytes = 4096;
  view.stream = 2;
  view.is_small = true;
  view.blocks = {{4096, 1024, 1000, State::active_allocated, Category::parameter, site},
                 {5120, 1024, 900, State::active_pending_free, Category::activation, site},
                 {6144, 2048, 77, State::inactive, Category::other, kUnknownSite}};
  const Snapshot made = snapshot({{}, {view}});
  ASSERT_EQ(made.segments.size(), 1U);
  EXPECT_EQ(test::segment_text(made, made.segments[0]),
            "segment 1 4096 4096 1024 2048 1900 2 small 0 0 0 \n"
            "block 4096 1024 1000 active_allocated parameter a.lua:1:zeros\n"
            "block 5120 1024 900 active_pending_free activation a.lua:1:zeros\n"
            "block 6144 2048 77 inactive  \n");
}

}  // namespace
}  // namespace ohm
