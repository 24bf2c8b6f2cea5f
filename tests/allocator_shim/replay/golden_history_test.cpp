// Snapshots recorded on real GPUs: every allocation comes to lie where it did there.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "allocator_shim/replay/verified_history.h"
#include "allocator_shim/replay/what_if.h"
#include "allocator_shim/snapshot/snapshot_reader.h"
#include "tests/support/checkout_paths.h"

namespace ohm {
namespace {

struct Recording {
  const char* name;
  std::size_t events, allocations, segments, frees, peak_reserved_bytes, peak_requested_bytes;
};

const std::vector<Recording> kRecordings = {
    {"finetune", 10'307, 3'505, 152, 3'325, 6'471'811'072, 5'876'132'840},
    {"linear_no_grad", 33, 12, 7, 7, 4'439'670'784, 4'234'803'008},
    {"lm_forward_ctx128", 4'657, 2'058, 289, 1'155, 19'667'091'456, 19'352'504'320},
    {"lm_forward_fp32", 2'043, 681, 0, 681, 610'271'232, 556'843'008},
    {"lm_inference_ctx128", 3'840, 1'280, 0, 1'280, 1'763'704'832, 1'736'962'048}};

class GoldenHistory : public testing::TestWithParam<Recording> {
 protected:
  static VerifiedHistory verified() {
    const Snapshot snapshot = read_snapshot_file(OHM_RECORDINGS_DIR "/snapshots/" +
                                                 std::string(GetParam().name) + ".pickle");
    std::vector<DeviceHistory> histories = device_histories(snapshot, default_rule_set());
    EXPECT_EQ(histories.size(), 1U);
    return {std::move(histories.at(0)), default_rule_set()};
  }
};

TEST_P(GoldenHistory, AgreesInEveryEventAndAddress) {
  const Recording& expected = GetParam();
  const VerifiedHistory history = verified();
  ASSERT_FALSE(history.disagreement()) << history.disagreement()->summary;
  EXPECT_EQ(history.first_event(), 0U);
  const ReplayCounts& counts = history.counts();
  EXPECT_EQ(counts.events, expected.events);
  EXPECT_EQ(counts.allocations, expected.allocations);
  EXPECT_EQ(counts.allocations_at_recorded_address, expected.allocations);
  EXPECT_EQ(counts.segments, expected.segments);
  EXPECT_EQ(counts.segments_as_recorded, expected.segments);
  EXPECT_EQ(counts.frees, expected.frees);
  EXPECT_EQ(history.given_releases(), 0U);
  EXPECT_EQ(history.peaks(), history.recorded_peaks());
  EXPECT_EQ(history.peaks().reserved_bytes, expected.peak_reserved_bytes);
  EXPECT_EQ(history.peaks().requested_bytes, expected.peak_requested_bytes);
}

TEST_P(GoldenHistory, DoesTheSameOnAnEndlessDevice) {
  const VerifiedHistory history = verified();
  WhatIf what_if;
  what_if.settings = history.history().settings;
  const WhatIfOutcome outcome = run_elsewhere(history, what_if);
  EXPECT_TRUE(outcome.fits());
  EXPECT_EQ(outcome.retries, 0);
  EXPECT_EQ(outcome.peak_reserved_bytes, GetParam().peak_reserved_bytes);
  EXPECT_EQ(outcome.peak_requested_bytes, GetParam().peak_requested_bytes);
}

INSTANTIATE_TEST_SUITE_P(EveryRecording, GoldenHistory, testing::ValuesIn(kRecordings),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace ohm
