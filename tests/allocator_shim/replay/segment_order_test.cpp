// The order of segments that were there before a record, as far as the record shows it.
#include "allocator_shim/replay/segment_order.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "allocator_shim/replay/verified_history.h"
#include "allocator_shim/snapshot/snapshot_reader.h"
#include "tests/support/checkout_paths.h"

namespace ohm {
namespace {

std::vector<SegmentView> segments_at(const std::vector<DeviceAddress>& addresses) {
  std::vector<SegmentView> segments;
  for (const DeviceAddress address : addresses) {
    segments.emplace_back();
    segments.back().address = segments.back().reservation_address = address;
    segments.back().bytes = segments.back().reservation_bytes = 0x10;
  }
  return segments;
}

TEST(SegmentOrder, IsByAddressWhereNothingIsKnown) {
  EXPECT_EQ(SegmentOrder().oldest_first(segments_at({0x10, 0x20, 0x30})),
            (std::vector<DeviceAddress>{0x10, 0x20, 0x30}));
}

TEST(SegmentOrder, PutsBeforeAnotherWhatCameBeforeIt) {
  SegmentOrder order;
  order.add(0x30, 0x10);
  order.add(0x40, 0x30);
  EXPECT_EQ(order.oldest_first(segments_at({0x10, 0x20, 0x30, 0x40})),
            (std::vector<DeviceAddress>{0x20, 0x40, 0x30, 0x10}));
}

TEST(SegmentOrder, RefusesWhatWouldComeBeforeItself) {
  SegmentOrder order;
  order.add(0x30, 0x10);
  order.add(0x10, 0x30);
  EXPECT_EQ(order.oldest_first(segments_at({0x10, 0x30})), std::nullopt);
}

TEST(SegmentOrder, NamesASegmentByWhereItBegins) {
  const std::vector<SegmentView> segments = segments_at({0x10, 0x30});
  EXPECT_EQ(segment_holding(segments, 0x3f), 0x30U);
  EXPECT_EQ(segment_holding(segments, 0x20), std::nullopt);
}

// Recorded from PyTorch 2.15 after segments had come and gone: their addresses say nothing of their
// order, which decides where 23 of its 34 blocks come to lie.
TEST(SegmentOrder, IsFoundInARecord) {
  const Snapshot snapshot =
      read_snapshot_file(OHM_GOLDEN_DIR "/snapshots/reused_addresses_2_15.pickle");
  std::vector<DeviceHistory> histories = device_histories(snapshot, default_rule_set());
  const VerifiedHistory history(std::move(histories.at(0)), default_rule_set());
  ASSERT_FALSE(history.disagreement()) << history.disagreement()->summary;
  EXPECT_EQ(history.counts().allocations_at_recorded_address, history.counts().allocations);
  EXPECT_TRUE(history.rules().orders_blocks_by_segment);
  EXPECT_FALSE(history.initial_state().oldest_first.empty());
}

// One of an earlier version: no order of segments explains where blocks came to lie.
TEST(SegmentOrder, GivesWayToTheOrderOfAddresses) {
  const Snapshot snapshot =
      read_snapshot_file(OHM_GOLDEN_DIR "/snapshots/lm_forward_ctx128.pickle");
  std::vector<DeviceHistory> histories = device_histories(snapshot, default_rule_set());
  const VerifiedHistory history(std::move(histories.at(0)), default_rule_set());
  ASSERT_FALSE(history.disagreement()) << history.disagreement()->summary;
  EXPECT_FALSE(history.rules().orders_blocks_by_segment);
}

}  // namespace
}  // namespace ohm
