// The order of segments that were there before a record, as far as the record shows it.
#include "allocator_shim/replay/segment_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "allocator_shim/base/bytes.h"

#include "allocator_shim/replay/verified_history.h"
#include "allocator_shim/snapshot/snapshot_reader.h"
#include "tests/support/checkout_paths.h"
#include "tests/support/recorded_allocator.h"

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

/// Segments of four sizes, half of them at the addresses of earlier ones that were given back.
class CrowdedRun {
 public:
  CrowdedRun() : random_(1), recorded_(64_GiB, "") {
    for (int i = 0; i < 1200; ++i) allocate();
    while (live_.size() > 600) free_one();
    recorded_.allocator().empty_cache();
    while (live_.size() < 1200) allocate();
    while (live_.size() > 200) free_one();
  }

  Snapshot record(std::size_t steps) {
    recorded_.record(2 * steps);
    for (std::size_t i = 0; i < steps; ++i) {
      if (live_.size() > 400 || (live_.size() > 100 && random_() % 2 == 0)) {
        free_one();
      } else {
        allocate();
      }
    }
    return recorded_.snapshot();
  }

 private:
  void allocate() {
    constexpr std::size_t kBytes[] = {12_MiB, 30_MiB, 700_KiB, 5_MiB};
    live_.push_back(recorded_.allocate(kBytes[random_() % std::size(kBytes)], 0));
  }

  void free_one() {
    std::swap(live_[random_() % live_.size()], live_.back());
    recorded_.allocator().free(live_.back());
    live_.pop_back();
  }

  std::mt19937_64 random_;
  test::RecordedAllocator recorded_;
  std::vector<BlockHandle> live_;
};

// One block taken tells of all that were as large and free: each pair by itself would need more
// replays than there may be.
TEST(SegmentOrder, IsFoundOfAThousandSegments) {
  std::vector<DeviceHistory> histories =
      device_histories(CrowdedRun().record(3000), default_rule_set());
  const VerifiedHistory history(std::move(histories.at(0)), default_rule_set());
  ASSERT_FALSE(history.disagreement()) << history.disagreement()->summary;
  EXPECT_EQ(history.counts().allocations_at_recorded_address, history.counts().allocations);
  EXPECT_TRUE(history.rules().orders_blocks_by_segment);
  EXPECT_GT(history.initial_state().oldest_first.size(), 100U);
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
