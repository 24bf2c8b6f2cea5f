// What ohm replay prints: one golden text, and JSON that keeps the schema that is shipped.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reports/console/replay_text.h"
#include "reports/json/replay_json.h"
#include "tests/support/golden.h"
#include "tests/support/schema_check.h"

namespace ohm::reports {
namespace {

using Json = nlohmann::json;

ReplayedDevice agreeing_device() {
  ReplayedDevice device;
  device.events = 4657;
  device.is_replayed = true;
  device.start = {227, 324, 13'763'608'576, 12, 5, 1, 2};
  device.allocations = device.allocations_at_recorded_address = 2058;
  device.segments = device.segments_as_recorded = 289;
  device.frees = 1155;
  device.ooms = 1;
  device.flushes = 3;
  device.retries = 2;
  device.given_releases = 4;
  device.peak_reserved_bytes = {19'667'091'456, 19'667'091'456};
  device.peak_requested_bytes = {19'352'504'320, 19'352'504'320};
  device.notes = {"the snapshot names no allocator settings: PyTorch's defaults are assumed"};
  return device;
}

ReplayedDevice differing_device() {
  ReplayedDevice device = agreeing_device();
  device.device = 1;
  device.start = {};
  device.allocations_at_recorded_address = 2057;
  device.segments_as_recorded = 288;
  device.given_releases = 0;
  device.peak_reserved_bytes.replayed += 1U << 21U;
  device.notes.clear();
  device.mismatch = {
      17,
      "event 17 is alloc of 512 bytes at 0x7f0000000200: the allocator has alloc of 512 bytes at "
      "0x7f0000000000",
      {"there was a block of 1024 bytes, free in a small segment of stream 0"}};
  return device;
}

ReplayResult replay_sample() {
  ReplayResult result;
  result.file = "snap\x1bshot.pickle";
  result.rules = "pytorch-2.6";
  result.settings = "max_split_size_mb:64";
  result.devices = {agreeing_device(), differing_device()};
  WhatIfRow fits;
  fits.device = 0;
  fits.settings = "expandable_segments:True";
  fits.capacity_bytes = std::uint64_t{6} << 30U;
  fits.peak_reserved_bytes = 5'955'911'680;
  fits.peak_allocated_bytes = 5'884'080'128;
  fits.stranded_bytes = 233'725'440;
  fits.rescued = 1;
  WhatIfRow fails = fits;
  fails.settings = "";
  fails.failure = UnservedRequest{173,        2'160'000, "linear",
                                  "train.py", 54,        "CUDA out of memory. Tried to allocate."};
  fails.retries = 1;
  fails.rescued = 0;
  WhatIfRow freed = fails;
  freed.change = "--free-at train.py:12";
  result.what_ifs = {fits, freed, fails};
  MinCapacityRow exact = {0, "", "", 6'471'811'072, 6'291'456'000, 6'291'456'000, true, 0, 10};
  MinCapacityRow hole = {0,
                         "max_split_size_mb:64",
                         "--free-at train.py:12",
                         6'471'811'072,
                         6'291'456'000,
                         6'400'000'000,
                         false,
                         6'300'000'000,
                         10'000};
  MinCapacityRow bisected = {std::nullopt, "", "", std::nullopt, 6'291'456'000, std::nullopt,
                             false,        0,  24};
  MinCapacityRow none;
  result.min_capacities = {exact, hole, bisected, none};
  result.exit_reason = ExitReason::failed;
  return result;
}

ReplayResult trace_sample() {
  ReplayResult result;
  result.file = "requests.trace";
  result.rules = "pytorch-2.10";
  result.trace = {616, 307, 4, std::uint64_t{2} << 30U, 4, 1'998'061'568, 2'002'780'160, 92, 80};
  return result;
}

TEST(ReplayReport, ReadsAsApproved) {
  ReplayResult result = replay_sample();
  result.devices.push_back(differing_device());
  result.devices.back().is_replayed = false;
  result.devices.back().mismatch->event.reset();
  test::expect_golden(replay_text(result, {}) + "---\n" + replay_text(trace_sample(), {}),
                      "reports/replay.txt");
}

TEST(ReplayReport, QuietSaysOnlyWhetherItAgrees) {
  ReplayResult result;
  result.file = "snapshot.pickle";
  result.rules = "pytorch-2.6";
  result.devices = {agreeing_device()};
  ReportStyle style;
  style.detail = Detail::quiet;
  EXPECT_EQ(replay_text(result, style),
            "snapshot.pickle · pytorch-2.6 · default settings\n\n"
            "cuda:0: 4,657 events\n"
            "  ✓ 2,058 allocations, 2,058 at the recorded address, 289 segments, peaks equal\n");
}

TEST(ReplayReport, JsonKeepsTheSchemaThatIsShipped) {
  const Json schema = Json::parse(test::read_file(OHM_REPLAY_SCHEMA));
  for (const ReplayResult& result : {replay_sample(), trace_sample()}) {
    EXPECT_EQ("", test::SchemaCheck(schema).errors(Json::parse(replay_json(result))));
  }
}

TEST(ReplayReport, JsonHasTheFiguresAsIntegers) {
  const Json json = Json::parse(replay_json(replay_sample()));
  EXPECT_EQ(json["exit_reason"], "failed");
  EXPECT_EQ(json["devices"][0]["agrees"], true);
  EXPECT_EQ(json["devices"][1]["mismatch"]["event"], 17);
  EXPECT_EQ(json["what_ifs"][1]["failure"]["bytes"], 2'160'000);
  EXPECT_EQ(json["what_ifs"][0]["failure"], nullptr);
  EXPECT_EQ(json["min_capacities"][2]["without_retry_bytes"], nullptr);
}

}  // namespace
}  // namespace ohm::reports
