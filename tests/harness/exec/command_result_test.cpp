// The result of a command, of what a recorder wrote: summaries by hand beside a recorded snapshot.
#include "harness/exec/command_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/exec/python_protocol.h"
#include "harness/exec/value_options.h"
#include "harness/gate/baseline.h"
#include "reports/json/json_report.h"
#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace ohm::engine {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

json device_row() {
  return {{"name", "NVIDIA A100"},    {"capacity_bytes", 1 << 30},   {"peak_allocated_bytes", 1},
          {"peak_reserved_bytes", 1}, {"allocated_at_end_bytes", 0}, {"num_ooms", 0},
          {"num_alloc_retries", 0},   {"num_device_alloc", 1},       {"modelled", json::array()}};
}

json summary() {
  return python::message_of({{"pid", 7},
                             {"arguments", {"train.py"}},
                             {"folder", "/home/me"},
                             {"rank", ""},
                             {"torch", "2.15.0"},
                             {"ended", true},
                             {"most_events", 200000},
                             {"devices", {device_row()}},
                             {"error", nullptr},
                             {"problems", json::array()}});
}

json read_of(const char* kind, int line, int order) {
  return {{"kind", kind}, {"file", "/home/me/train.py"},
          {"line", line}, {"detail", ""},
          {"count", 3},   {"order", order}};
}

class CommandResults : public testing::Test {
 protected:
  std::vector<ProcessRecord> records(const json& written) {
    folder_.write("7.json", written.dump());
    std::filesystem::copy(test::golden_path("snapshots/linear_no_grad.pickle"),
                          folder_.file("7.pickle"),
                          std::filesystem::copy_options::overwrite_existing);
    return read_process_records(folder_.path().string());
  }
  RunResult result_of(const json& written, const std::vector<std::string>& limits = {},
                      bool allows_unknown_values = false) {
    const RecordedGate gate(limits, RecordedCounters::present, {{}, {}, 0, allows_unknown_values});
    return command_result(records(written), {"a100-80g", "ohm exec", false}, {}, gate);
  }
  static json with_reads() {
    json written = summary();
    written["unknown_values"] = {read_of("branch", 14, 2), read_of("shape", 9, 7)};
    written["unknown_values"][1]["detail"] = "0 of 5 rows selected";
    return written;
  }
  static const VariantResult& variant_of(const RunResult& result) {
    return result.scenarios.front().variants.front();
  }

  test::TempFolder folder_;
};

TEST_F(CommandResults, ASummaryThatCannotBeReadIsAProblemOfItsProcess) {
  folder_.write("12-2.json", "{");
  const std::vector<ProcessRecord> records = read_process_records(folder_.path().string());
  ASSERT_EQ(1U, records.size());
  EXPECT_EQ(12, records.front().pid);
  EXPECT_EQ(2, records.front().ordinal);
  EXPECT_THAT(records.front().problems, ElementsAre(HasSubstr("12-2.json")));
}

TEST_F(CommandResults, ALimitThatCannotBeToldHidesNoneThatIsBroken) {
  json written = summary();
  written["devices"][0]["peak_allocated_bytes"] = std::int64_t{1} << 40U;
  const RunResult result =
      result_of(written, {"peak_allocated_bytes < 1", "peak_activation_bytes < 1"});
  EXPECT_EQ(Verdict::error, variant_of(result).verdict);
  EXPECT_EQ(FailureType::none, variant_of(result).failure_type);
  EXPECT_THAT(variant_of(result).reason, AllOf(HasSubstr("does not reach back to the peak"),
                                               HasSubstr("peak_allocated_bytes < 1: ")));
}

TEST_F(CommandResults, SayWhichLinesReadValuesThatWereNotComputed) {
  const RunResult result = result_of(with_reads());
  EXPECT_EQ(ExitReason::passed, result.exit_reason) << "nothing is judged";
  const VariantResult& variant = variant_of(result);
  ASSERT_EQ(2U, variant.unknown_values.size());
  const UnknownValueResult& read = variant.unknown_values[1];
  EXPECT_EQ(UnknownUse::shape, read.kind);
  EXPECT_EQ("train.py", read.file) << "from the folder that the process started in";
  EXPECT_EQ(9, read.line);
  EXPECT_EQ("0 of 5 rows selected", read.detail);
  EXPECT_EQ(3, read.count);
  EXPECT_EQ(7, read.order);
  ASSERT_EQ(1U, variant.findings.size());
  EXPECT_EQ("values not computed", variant.findings.front().pitfall);
  EXPECT_EQ(
      "shape at train.py:9 depends on values that were not computed (0 of 5 rows selected); branch "
      "at train.py:14 depends on values that were not computed",
      variant.findings.front().what);
}

TEST_F(CommandResults, OfAProgramThatReadNoneHaveNoSuchLines) {
  const VariantResult variant = variant_of(result_of(summary()));
  EXPECT_THAT(variant.unknown_values, IsEmpty());
  EXPECT_THAT(variant.findings, IsEmpty());
}

TEST_F(CommandResults, OfAKindThatIsNotKnownAreOfValues) {
  json written = summary();
  written["unknown_values"] = {read_of("loop", 1, 1)};
  EXPECT_EQ(UnknownUse::value, variant_of(result_of(written)).unknown_values.front().kind);
}

TEST_F(CommandResults, AreNotJudgedByFiguresThatDependOnSuchValues) {
  const std::vector<std::string> holds = {"num_ooms == 0"};
  EXPECT_EQ(ExitReason::passed, result_of(summary(), holds).exit_reason);
  const RunResult refused = result_of(with_reads(), holds);
  EXPECT_EQ(ExitReason::script_error, refused.exit_reason);
  EXPECT_EQ(Verdict::error, variant_of(refused).verdict);
  EXPECT_EQ(
      "not judged: shape at train.py:9 depends on values that were not computed (0 of 5 rows "
      "selected); --allow-unknown-values judges the figures anyway",
      variant_of(refused).reason);
  EXPECT_EQ(ExitReason::passed, result_of(with_reads(), holds, true).exit_reason);
}

TEST_F(CommandResults, AreNotJudgedEvenWhereALimitBreaks) {
  const std::vector<std::string> breaks = {"num_ooms == 1"};
  const RunResult refused = result_of(with_reads(), breaks);
  EXPECT_EQ(ExitReason::script_error, refused.exit_reason);
  EXPECT_THAT(variant_of(refused).reason, AllOf(HasSubstr("not judged"), HasSubstr("num_ooms")));
  EXPECT_EQ(ExitReason::failed, result_of(with_reads(), breaks, true).exit_reason);
}

TEST_F(CommandResults, AreNoBaselineWhereTheyDependOnSuchValues) {
  const std::string path = folder_.file("approved.json");
  folder_.write("approved.json", reports::json_report(result_of(with_reads()), {}));
  EXPECT_THROW(RecordedBaseline({{path}, {}, 0, false}), BaselineError);
  EXPECT_TRUE(RecordedBaseline({{path}, {}, 0, true}).is_there());
}

TEST_F(CommandResults, SayWhetherValuesWereComputed) {
  const RecordedGate no_gate({}, RecordedCounters::present, {});
  const RunResult result =
      command_result(records(summary()), {"a100-80g", "ohm exec", true}, {}, no_gate);
  EXPECT_TRUE(variant_of(result).devices.front().values);
}

TEST(ValueOptions, AreVariablesOfTheCommandWhereAskedFor) {
  ChildCommand command;
  add_values(command, {});
  EXPECT_THAT(command.environment, IsEmpty());
  add_values(command, {"max", "cpu"});
  EXPECT_THAT(command.environment,
              ElementsAre(Pair("OHM_ASSUME_SELECTED", "max"), Pair("OHM_VALUES", "cpu")));
  EXPECT_EQ(" --assume-selected 0.5 --values known", (ValueOptions{"0.5", "known"}.words()));
}

TEST(ValueOptions, TakeSharesFrom0To1) {
  for (const char* good : {"0", "0.25", "1", "1e-3", "max"}) {
    EXPECT_NO_THROW(check_assumed_selection(good)) << good;
  }
  for (const char* bad : {"", "-0.1", "1.5", "nan", "half", "0.5x", " 1", "MAX"}) {
    EXPECT_THROW(check_assumed_selection(bad), std::invalid_argument) << bad;
  }
}

}  // namespace
}  // namespace ohm::engine
