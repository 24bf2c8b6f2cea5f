#include "reports/text/printable_fields.h"

#include <gmock/gmock.h>

#include "reports/console/console_report.h"
#include "reports/console/fit_text.h"
#include "reports/console/minimum_text.h"
#include "reports/console/replay_text.h"
#include "reports/console/sweep_text.h"
#include "reports/console/verification_text.h"
#include "tests/reports/filled.h"

namespace ohm::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

void poison(std::string& text) { text += " \x1b]0;title\x07\x1b[31m"; }
template <class Value>
void poison(Value& value);
template <class Value>
void poison(std::optional<Value>& value) {
  if (value) poison(*value);
}
template <class Value>
void poison(std::vector<Value>& values) {
  if constexpr (!std::is_arithmetic_v<Value>) {
    for (Value& value : values) poison(value);
  }
}
template <class Value>
void poison(Value& value) {
  if constexpr (HasFields<Value>) {
    each_field<Value>([&](const auto& field) {
      if constexpr (std::remove_cvref_t<decltype(field)>::kIsStored) poison(field.of(value));
    });
  }
}

/// A result every text of which commands terminals.
template <class Result>
Result poisoned() {
  auto result = test::filled<Result>();
  poison(result);
  return result;
}

ReportStyle verbose() {
  ReportStyle style;
  style.detail = Detail::verbose;
  style.peaks = style.plots = true;
  return style;
}

void expect_harmless(const std::string& text) {
  EXPECT_TRUE(text.empty() || text.find("\\x1B") != std::string::npos);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\x07")));
}

TEST(PrintableFields, NoFieldOfAResultCommandsATerminal) {
  expect_harmless(console_report(poisoned<RunResult>(), verbose()));
  const auto swept = poisoned<SweepResult>();
  expect_harmless(sweep_scenario_text(swept.scenarios.front(), verbose()));
  EXPECT_THAT(sweep_summary_text(swept, verbose()), Not(HasSubstr("\x1b")));
  expect_harmless(fit_text(poisoned<FitResult>(), verbose()));
  expect_harmless(minimum_text(poisoned<MinimumResult>(), verbose()));
  expect_harmless(replay_text(poisoned<ReplayResult>(), verbose()));
  expect_harmless(verification_text(poisoned<VerificationResult>()));
}

TEST(PrintableFields, ReachesTextsWithinListsAndOptionals) {
  RunResult result = printable_copy(poisoned<RunResult>());
  const VariantResult& variant = result.scenarios.front().variants.front();
  for (const std::string& text :
       {variant.devices.front().profile, variant.devices.front().alloc_conf,
        variant.devices.front().rules, variant.devices.front().modelled.front(),
        variant.oom->holders.front().op, variant.cause->lines.front().file,
        variant.retention->entries.front().path.front()}) {
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  }
}

}  // namespace
}  // namespace ohm::reports
