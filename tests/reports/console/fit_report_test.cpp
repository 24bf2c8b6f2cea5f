#include <gtest/gtest.h>

#include "reports/console/fit_text.h"
#include "reports/json/fit_json.h"
#include "tests/support/golden.h"
#include "tests/support/text.h"

namespace ohm::reports {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20U;

FitRow row_on(const char* gpu, std::int64_t largest) {
  FitRow row;
  row.variant = "too_large";
  row.profile = gpu;
  row.outcome = FitOutcome::found;
  row.best = FitPoint{largest, 60 * kMiB + 512, 62 * kMiB};
  row.stop = FitStop{largest + 1,
                     FitStopKind::out_of_memory,
                     "out of memory in step 1 on cuda:0: 2.00 MiB for relu, a.lua:7",
                     {}};
  row.line = FitLine{6144, 592896, 64, 7, 0, true};
  row.margin = FitMargin{64 * kMiB, 0, 8 * kMiB, 2 * kMiB, {}};
  row.runs = 12;
  return row;
}

FitResult fit_sample() {
  FitResult result;
  result.name = "batch_size";
  result.summary = "The peak is a line in the batch";
  result.file = "scenarios/batch_size.lua";
  result.varied = "batch";
  result.least = 1;
  result.most = 65536;
  result.rows = {row_on("tiny-64m", 4711)};
  return result;
}

TEST(FitReport, SaysEverythingAboutOneGpu) {
  FitResult result = fit_sample();
  FitRow& row = result.rows[0];
  row.best_within_limits = FitPoint{512, 3 * kMiB, 4 * kMiB};
  LimitResult limit;
  limit.limit = "peak_allocated_bytes <= 3 MiB";
  row.limit_stop = FitStop{513, FitStopKind::limit, "peak_allocated_bytes <= 3 MiB: breaks", limit};
  row.fits_beyond = {4720};
  row.unchecked = {"non_finite == 0"};
  row.margin->error = FitError{1.5, 20, "without convolutions (transformers, RTX 3060)"};
  test::expect_golden(fit_text(result, {}), "reports/fit.txt");
  test::expect_golden(fit_json(result), "reports/fit.json");
}

TEST(FitReport, IsATableForSeveralGpus) {
  FitResult result = fit_sample();
  result.rows.push_back(row_on("k80-12g", 50000));
  result.rows.push_back(row_on("l4-24g", 65536));
  result.rows[2].outcome = FitOutcome::all_fit;
  FitRow none = row_on("t4-16g", 0);
  none.outcome = FitOutcome::none_fits;
  none.best.reset();
  none.margin.reset();
  none.line.reset();
  none.needed_bytes = 20480 * kMiB;
  result.rows.push_back(none);
  FitRow failed;
  failed.variant = "too_large";
  failed.profile = "v100-16g";
  failed.error = "a.lua:3: attempt to index a nil value";
  result.rows.push_back(failed);
  test::expect_golden(fit_text(result, {}), "reports/fit_table.txt");
}

FitResult prediction() {
  FitResult result = fit_sample();
  result.name = "recordings";
  result.summary.clear();
  result.file = "b4.pickle, b\x1b_8.pickle";
  result.rules = "pytorch-2.15";
  FitRow& row = result.rows[0];
  row.bound = FitBound{4700, 4711, 300 * kMiB, 600 * kMiB};
  FitBasis basis;
  basis.recordings = {{"b4.pickle", 4, 2610, 0, 0}, {"b\x1b_8.pickle", 8, 2624, 14, 3 * kMiB}};
  basis.constant = 1684;
  basis.lines = 870;
  basis.curves = 4;
  basis.irregular = 52;
  basis.unchecked = 874;
  basis.holders_at = 4711;
  basis.holders = {{"linear", "train.py", 54, 24, 512 * kMiB, 0, 4096, true},
                   {"forward", "train.py", 37, 2, 8 * kMiB, 0, 0, false}};
  result.basis = basis;
  return result;
}

TEST(FitReport, SaysWhatAPredictionRestsOn) {
  test::expect_golden(fit_text(prediction(), {}), "reports/fit_recordings.txt");
  test::expect_golden(fit_json(prediction()), "reports/fit_recordings.json");
}

TEST(FitReport, HasAColumnOfBoundsForSeveralCards) {
  FitResult result = prediction();
  result.rows.push_back(row_on("l4-24g", 65536));
  result.rows[1].bound = FitBound{65536, 65536, 0, 0};
  result.rows.push_back(row_on("t4-16g", 1));
  result.rows[2].bound = FitBound{{}, 1, 0, 0};
  const std::string text = fit_text(result, {});
  EXPECT_NE(text.find("batch        between  peak reserved"), std::string::npos) << text;
  EXPECT_NE(text.find("4,711   4,700..4,711"), std::string::npos) << text;
  EXPECT_NE(text.find("65,536         65,536"), std::string::npos) << text;
  EXPECT_NE(text.find("1        none..1"), std::string::npos) << text;
}

TEST(FitReport, SaysWhatMoreRecordingsHaveSettled) {
  FitResult result = prediction();
  result.basis->unchecked = 0;
  result.basis->has_one_order = false;
  result.basis->is_cut = true;
  result.basis->steps = 3;
  ReportStyle wide;
  wide.columns = 400;
  const std::string text = fit_text(result, wide);
  EXPECT_NE(text.find("met exactly at 2 values"), std::string::npos) << text;
  EXPECT_NE(text.find("come in another order"), std::string::npos) << text;
  EXPECT_NE(text.find("only the first 3 steps"), std::string::npos) << text;
}

TEST(FitReport, ValuesStandApartFromTheirNames) {
  FitResult result = fit_sample();
  result.varied = "batch_size";
  EXPECT_NE(fit_text(result, {}).find("largest batch_size that fits  4,711\n"), std::string::npos)
      << fit_text(result, {});
  result.varied = "a_name_that_is_longer_than_any_column_of_a_report";
  EXPECT_NE(fit_text(result, {}).find("  4,711\n"), std::string::npos) << fit_text(result, {});
  result = prediction();
  result.rows.push_back(row_on("l4-24g", 65'536'000'000));
  result.rows[1].bound = FitBound{65'535'000'000, 65'536'000'000, 0, 0};
  EXPECT_NE(fit_text(result, {}).find("65,536,000,000  65,535,000,000..65,536,000,000"),
            std::string::npos)
      << fit_text(result, {});
}

TEST(FitReport, NamesTheAssumptionsThatFiguresRestOn) {
  FitResult result = fit_sample();
  EXPECT_EQ(fit_text(result, {}).find("cudnn_workspace"), std::string::npos);
  result.rows[0].modelled = {"cudnn_workspace"};
  EXPECT_NE(fit_text(result, {}).find("Modelled, not exact: cudnn_workspace."), std::string::npos);
  EXPECT_NE(fit_json(result).find("\"cudnn_workspace\""), std::string::npos);
}

TEST(FitReport, IsNotExactWhereValuesWereNotComputed) {
  FitResult result = fit_sample();
  FitRow& row = result.rows[0];
  row.unknown_values = {{UnknownUse::branch, "train.py", 14, "", 1, 1}};
  const std::string text = test::on_one_line(fit_text(result, {}));
  EXPECT_TRUE(test::contains(text, "(not exact)")) << text;
  EXPECT_TRUE(test::contains(text, "not exact branch at train.py:14 depends on values")) << text;
  EXPECT_FALSE(test::contains(text, "(exact)")) << text;
  EXPECT_FALSE(test::contains(text, "exactly")) << text;
}

TEST(FitReport, SaysWhichRowsAreAssumedToBeSelected) {
  FitResult result = fit_sample();
  result.rows[0].assumed_selection = "max";
  const std::string most = test::on_one_line(fit_text(result, {}));
  EXPECT_TRUE(test::contains(most, "upper bound assumes that every row is selected")) << most;
  EXPECT_TRUE(test::contains(most, "(upper bound)")) << most;
  result.rows.push_back(row_on("l4-24g", 20000));
  result.rows[1].assumed_selection = "0.25";
  const std::string some = test::on_one_line(fit_text(result, {}));
  EXPECT_TRUE(test::contains(some, "assumed l4-24g: masks select 0.25 of the rows")) << some;
}

TEST(FitReport, TellsALineFromWhatIsNone) {
  FitResult result = fit_sample();
  result.rows[0].line->largest_deviation_bytes = 1000;
  EXPECT_NE(fit_text(result, {}).find("within 1,000 bytes at 7 values"), std::string::npos);
  result.rows[0].line->is_line = false;
  EXPECT_NE(fit_text(result, {}).find("the peak is not linear"), std::string::npos);
  result.rows[0].line->checked_values = 2;
  EXPECT_NE(fit_text(result, {}).find("too few to tell"), std::string::npos);
}

}  // namespace
}  // namespace ohm::reports
