// What a record leaves open, what it lacks, and how a disagreement is explained: one rule each.
#include "allocator_shim/replay/verified_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "allocator_shim/base/bytes.h"
#include "tests/support/recorded_allocator.h"

namespace ohm {
namespace {

using test::RecordedAllocator;
using testing::ElementsAre;

VerifiedHistory verified(const Snapshot& snapshot) {
  std::vector<DeviceHistory> histories = device_histories(snapshot, default_rule_set());
  return {std::move(histories.at(0)), default_rule_set()};
}

std::string disagreement_of(const VerifiedHistory& history) {
  return history.disagreement() ? history.disagreement()->summary : "";
}

void remove_action(Snapshot& snapshot, EventAction action) {
  std::vector<TraceEntry>& trace = snapshot.device_traces.at(0);
  trace.erase(std::remove_if(trace.begin(), trace.end(),
                             [&](const TraceEntry& entry) { return entry.action == action; }),
              trace.end());
}

// ---- open sizes ---------------------------------------------------------------------------------

/// A block of 4 MiB that was handed out as 4.5 MiB, at the beginning of a segment of 20 MiB that is
/// otherwise free; recorded from there.
class LooseBlock {
 public:
  explicit LooseBlock(RecordedAllocator& recorded) {
    BlockHandle first = recorded.allocate(4_MiB + 512_KiB);
    BlockHandle second = recorded.allocate(3_MiB);
    recorded.free(first);
    block_ = recorded.allocate(4_MiB);
    recorded.free(second);
    recorded.record();
  }
  BlockHandle block() const { return block_; }

 private:
  BlockHandle block_;
};

TEST(OpenSizes, AreToldByTheFirstBlockThatIsCutFromTheGap) {
  RecordedAllocator recorded(1_GiB);
  const LooseBlock loose(recorded);
  recorded.allocate(3_MiB);
  recorded.free(loose.block());
  const VerifiedHistory history = verified(recorded.snapshot());
  EXPECT_EQ(disagreement_of(history), "");
  EXPECT_EQ(history.start().open_blocks, 1U);
  EXPECT_EQ(history.start().known_blocks, 1U);
  EXPECT_EQ(history.initial_state().allocated.at(0).bytes, 4_MiB + 512_KiB);
}

TEST(OpenSizes, AreNarrowedByRequestsThatWouldHaveFitted) {
  RecordedAllocator recorded(1_GiB);
  const LooseBlock loose(recorded);
  recorded.allocate(15_MiB + 768_KiB);  // more than 15.5 MiB, which were free: a new segment
  recorded.free(loose.block());
  const VerifiedHistory history = verified(recorded.snapshot());
  EXPECT_EQ(disagreement_of(history), "");
  EXPECT_EQ(history.start().known_blocks, 0U);
  EXPECT_EQ(history.start().narrowed_blocks, 1U);
  EXPECT_EQ(history.initial_state().allocated.at(0).bytes, 4_MiB + 256_KiB + 512);
}

TEST(OpenSizes, StayOpenWhereTheyMakeNoDifference) {
  RecordedAllocator recorded(1_GiB);
  const LooseBlock loose(recorded);
  recorded.allocate(1_KiB);
  recorded.free(loose.block());
  const VerifiedHistory history = verified(recorded.snapshot());
  EXPECT_EQ(disagreement_of(history), "");
  EXPECT_EQ(history.start().open_blocks, 1U);
  EXPECT_EQ(history.start().known_blocks, 0U);
  EXPECT_EQ(history.initial_state().allocated.at(0).bytes, 4_MiB);
}

TEST(OpenSizes, AreClosedWhereNoFreeBlockCanBe) {
  RecordedAllocator recorded(1_GiB);
  BlockHandle block = recorded.allocate(19_MiB);  // the whole segment of 20 MiB
  recorded.record();
  recorded.allocate(1_KiB);
  recorded.free(block);
  const VerifiedHistory history = verified(recorded.snapshot());
  EXPECT_EQ(disagreement_of(history), "");
  EXPECT_EQ(history.start().open_blocks, 0U);
  EXPECT_EQ(history.initial_state().allocated.at(0).bytes, 20_MiB);
}

// ---- what a record may lack ---------------------------------------------------------------------

/// Two streams, a deferred free, a call of empty_cache(): something of everything.
Snapshot busy_snapshot() {
  RecordedAllocator recorded(1_GiB);
  BlockHandle early = recorded.allocate(5_MiB);
  recorded.record();
  BlockHandle shared = recorded.allocate(3_MiB);
  recorded.allocator().record_stream(shared, 1);
  recorded.allocate(2_KiB, 1);
  recorded.free(shared);
  recorded.free(early);
  recorded.free(recorded.allocate(40_MiB));
  recorded.streams().synchronize_all();
  recorded.allocate(6_MiB);
  recorded.allocator().empty_cache();
  recorded.allocate(7_KiB, 1);  // from the cache: nothing was given back for it
  return recorded.snapshot();
}

TEST(VerifiedHistory, RecognizesCallsOfEmptyCache) {
  const VerifiedHistory history = verified(busy_snapshot());
  EXPECT_EQ(disagreement_of(history), "");
  EXPECT_EQ(history.counts().flushes, 1U);
  EXPECT_EQ(history.counts().retries, 0U);
}

TEST(VerifiedHistory, TakesReleasesAtThePeakForARetry) {
  RecordedAllocator recorded(70_MiB);
  recorded.free(recorded.allocate(40_MiB));
  recorded.allocate(50_MiB);  // does not fit beside what is cached
  const VerifiedHistory history = verified(recorded.snapshot());
  EXPECT_EQ(disagreement_of(history), "");
  EXPECT_EQ(history.counts().flushes, 0U);
  EXPECT_EQ(history.counts().retries, 1U);
}

TEST(VerifiedHistory, DoesWithoutTheRequestsOfFrees) {
  Snapshot snapshot = busy_snapshot();
  remove_action(snapshot, EventAction::free_requested);
  const VerifiedHistory history = verified(snapshot);
  EXPECT_EQ(history.counts().frees, 3U);
  // A free that was deferred is seen when it completes: the record does not say when it was asked
  // for.
  EXPECT_EQ(disagreement_of(history), "");
}

TEST(VerifiedHistory, DoesWithoutTheCompletionsOfFrees) {
  RecordedAllocator recorded(1_GiB);
  recorded.free(recorded.allocate(3_MiB));
  recorded.allocate(2_MiB);
  Snapshot snapshot = recorded.snapshot();
  remove_action(snapshot, EventAction::free_completed);
  const VerifiedHistory history = verified(snapshot);
  EXPECT_EQ(disagreement_of(history), "");
  EXPECT_EQ(history.counts().frees, 1U);
}

TEST(VerifiedHistory, RefusesARecordWithoutAllocations) {
  Snapshot snapshot = busy_snapshot();
  remove_action(snapshot, EventAction::alloc);
  EXPECT_THROW(
      {
        try {
          verified(snapshot);
        } catch (const HistoryError& error) {
          EXPECT_EQ(error.kind(), HistoryError::Kind::insufficient);
          throw;
        }
      },
      HistoryError);
}

TEST(VerifiedHistory, RefusesASnapshotWithoutEvents) {
  Snapshot snapshot = busy_snapshot();
  snapshot.device_traces.at(0).clear();
  EXPECT_THROW(device_histories(snapshot, default_rule_set()), HistoryError);
}

TEST(VerifiedHistory, SaysThatARecordWithoutSegmentEventsDisagrees) {
  RecordedAllocator recorded(1_GiB);
  recorded.free(recorded.allocate(40_MiB));
  recorded.allocate(12_MiB);
  recorded.allocate(14_MiB);
  recorded.allocate(20_MiB);  // seems to have been there from the start, for the 12 MiB
  Snapshot snapshot = recorded.snapshot();
  remove_action(snapshot, EventAction::segment_alloc);
  const VerifiedHistory history = verified(snapshot);
  ASSERT_TRUE(history.disagreement());
  EXPECT_THAT(history.disagreement()->details,
              testing::Contains(testing::HasSubstr("no event about segments")));
}

TEST(VerifiedHistory, AssumesDefaultsWhereASnapshotNamesNoSettings) {
  Snapshot snapshot = busy_snapshot();
  snapshot.allocator_settings.reset();
  const VerifiedHistory history = verified(snapshot);
  EXPECT_EQ(disagreement_of(history), "");
  EXPECT_THAT(history.history().notes, ElementsAre(testing::HasSubstr("defaults are assumed")));
}

TEST(VerifiedHistory, TakesTheListedSettingsWhereTheStringIsOfAnotherVersion) {
  RecordedAllocator recorded(1_GiB, "max_split_size_mb:40");
  recorded.free(recorded.allocate(50_MiB));
  recorded.allocate(30_MiB);  // not out of the 50 MiB
  Snapshot snapshot = recorded.snapshot();
  snapshot.allocator_settings->alloc_conf = "max_split_size_mb:40,magic:True";
  const VerifiedHistory history = verified(snapshot);
  EXPECT_EQ(disagreement_of(history), "");
  EXPECT_THAT(history.history().notes, ElementsAre(testing::HasSubstr("magic")));
}

// ---- the beginning ------------------------------------------------------------------------------

TEST(VerifiedHistory, BeginsAfterARequestWhoseSegmentIsLost) {
  // A segment of 22 MiB for a request of 20.5 MiB serves it while it is new, and never again.
  RecordedAllocator recorded(1_GiB, "max_split_size_mb:21");
  BlockHandle block = recorded.allocate(20_MiB + 512_KiB);
  recorded.allocate(1_KiB);
  recorded.free(block);
  Snapshot snapshot = recorded.snapshot();
  snapshot.device_traces[0].erase(snapshot.device_traces[0].begin());
  const VerifiedHistory history = verified(snapshot);
  EXPECT_EQ(disagreement_of(history), "");
  EXPECT_EQ(history.first_event(), 1U);
  EXPECT_EQ(history.counts().allocations, 1U);
}

TEST(VerifiedHistory, BeginsAfterTheSecondHalfOfAFree) {
  RecordedAllocator recorded(1_GiB);
  recorded.free(recorded.allocate(3_MiB));
  recorded.free(recorded.allocate(2_MiB));
  Snapshot snapshot = recorded.snapshot();
  std::vector<TraceEntry>& trace = snapshot.device_traces[0];
  trace.erase(trace.begin(), trace.begin() + 3);
  ASSERT_EQ(trace.front().action, EventAction::free_completed);
  const VerifiedHistory history = verified(snapshot);
  EXPECT_EQ(disagreement_of(history), "");
  EXPECT_EQ(history.first_event(), 1U);
}

// ---- devices and pools --------------------------------------------------------------------------

TEST(VerifiedHistory, KnowsEachDeviceOfASnapshot) {
  Snapshot snapshot = busy_snapshot();
  Snapshot other = busy_snapshot();
  for (SnapshotSegment& segment : other.segments) {
    segment.device = 2;
    snapshot.segments.push_back(segment);
  }
  snapshot.device_traces.resize(3);
  snapshot.device_traces[2] = other.device_traces[0];  // the streams are the same
  std::vector<DeviceHistory> histories = device_histories(snapshot, default_rule_set());
  ASSERT_EQ(histories.size(), 2U);
  for (DeviceHistory& history : histories) {
    const VerifiedHistory one(std::move(history), default_rule_set());
    EXPECT_EQ(disagreement_of(one), "");
  }
}

/// What happened on stream 1 happened in a private pool of the default stream.
void make_private(Snapshot& snapshot) {
  for (SnapshotSegment& segment : snapshot.segments) {
    if (segment.stream != 1) continue;
    segment.stream = 0;
    segment.pool = {1, 0};
  }
  for (TraceDetail& detail : snapshot.details) detail.stream = 0;
}

TEST(VerifiedHistory, KeepsPrivatePoolsApart) {
  RecordedAllocator recorded(1_GiB);
  recorded.allocator().make_private(1);
  recorded.free(recorded.allocate(3_MiB, 1));
  recorded.allocate(4_MiB, 0);  // does not come from what is cached in the private pool
  recorded.allocate(2_MiB, 1);
  recorded.free(recorded.allocate(30_MiB, 1));
  recorded.free(recorded.allocate(30_MiB, 0));
  recorded.allocator().empty_cache();
  recorded.allocate(2_MiB, 0);
  Snapshot snapshot = recorded.snapshot();
  make_private(snapshot);
  const VerifiedHistory history = verified(snapshot);
  EXPECT_EQ(disagreement_of(history), "");
  EXPECT_EQ(history.counts().flushes, 1U);
  EXPECT_EQ(history.given_releases(), 0U);
  EXPECT_TRUE(history.history().lanes.back().is_private());
}

// ---- explanations -------------------------------------------------------------------------------

TEST(Disagreement, SaysWhatWasThereAndWhatTheAllocatorChose) {
  RecordedAllocator recorded(1_GiB);
  BlockHandle first = recorded.allocate(4_KiB);
  recorded.allocate(512);
  BlockHandle third = recorded.allocate(3_KiB);
  recorded.allocate(512);
  recorded.free(first);
  recorded.free(third);
  recorded.allocate(2_KiB);  // the third's place is the better fit
  Snapshot snapshot = recorded.snapshot();
  TraceEntry& last = snapshot.device_traces[0].back();
  const std::uint64_t base = snapshot.segments[0].address;
  ASSERT_EQ(last.address, base + 4_KiB + 512);
  last.address = base;
  // The segments at the end are those of such an allocator.
  std::vector<SnapshotBlock>& blocks = snapshot.segments[0].blocks;
  std::swap(blocks[0].state, blocks[2].state);
  std::swap(blocks[0].requested_bytes, blocks[2].requested_bytes);
  blocks.insert(blocks.begin() + 1, blocks[0]);
  blocks[0].bytes = 2_KiB;
  blocks[1] = {base + 2_KiB, 2_KiB, 4_KiB, kNoStack, kNoText, BlockView::State::inactive};
  blocks[3].bytes += blocks[4].bytes;
  blocks.erase(blocks.begin() + 4);

  const VerifiedHistory history = verified(snapshot);
  ASSERT_TRUE(history.disagreement());
  EXPECT_EQ(history.disagreement()->event, 9U);
  EXPECT_EQ(history.disagreement()->summary,
            "event 9 is alloc of 2.00 KiB (2,048 bytes) at 0x7f0000000000: the allocator has alloc "
            "of 2.00 KiB (2,048 bytes) at 0x7f0000001200");
  EXPECT_THAT(
      history.disagreement()->details,
      ElementsAre(
          "there was a block of 4.00 KiB (4,096 bytes), free in a small segment of stream 0",
          "the request: 2.00 KiB (2,048 bytes) rounded to 2.00 KiB (2,048 bytes), small "
          "pool of stream 0",
          "3 cached blocks of that pool are large enough; the smallest at the lowest address "
          "is 3.00 KiB (3,072 bytes) at 0x7f0000001200"));
}

TEST(Disagreement, NamesTheBlockThatIsFreedWithAnotherSize) {
  RecordedAllocator recorded(1_GiB);
  recorded.free(recorded.allocate(1'000));
  Snapshot snapshot = recorded.snapshot();
  snapshot.device_traces[0][2].bytes = 1'001;
  const VerifiedHistory history = verified(snapshot);
  ASSERT_TRUE(history.disagreement());
  EXPECT_EQ(history.disagreement()->event, 2U);
  EXPECT_THAT(history.disagreement()->details,
              ElementsAre("the block there is of stream 0, for a request of 1000 bytes, event 1"));
}

TEST(Disagreement, IsFoundInTheActiveBytesOfASnapshotEvent) {
  RecordedAllocator recorded(1_GiB);
  recorded.allocate(1'000);
  Snapshot snapshot = recorded.snapshot();
  TraceEntry taken;
  taken.action = EventAction::snapshot;
  taken.bytes = 1'024;
  snapshot.device_traces[0].push_back(taken);
  EXPECT_EQ(disagreement_of(verified(snapshot)), "");
  snapshot.device_traces[0].back().bytes = 1'536;
  EXPECT_EQ(disagreement_of(verified(snapshot)),
            "event 2 is a snapshot of 1.50 KiB (1,536 bytes) active: the allocator has 1.00 KiB "
            "(1,024 bytes) active");
}

}  // namespace
}  // namespace ohm
