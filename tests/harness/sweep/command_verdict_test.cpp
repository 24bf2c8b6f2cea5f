#include "harness/sweep/command/command_verdict.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

namespace ohm::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

CommandOutcome outcome_with(std::string checked, std::vector<std::string> not_computed = {}) {
  CommandOutcome outcome;
  outcome.failures = 1;
  outcome.checked = std::move(checked);
  outcome.not_computed = std::move(not_computed);
  return outcome;
}

TEST(CommandVerdict, ComparesWhatBothRunsHaveComputed) {
  const CommandOutcome fault_free = outcome_with("steps = 3", {"weights"});
  const CommandOutcome recovered = outcome_with("steps = 3\nweights = 1");
  EXPECT_THAT(compared_lines(recovered, fault_free), ElementsAre("steps = 3"));
  EXPECT_EQ(command_verdict(fault_free, recovered).verdict, FaultVerdict::recovered_same);
  EXPECT_EQ(command_verdict(recovered, fault_free).verdict, FaultVerdict::recovered_same);

  const TrialVerdict lost = command_verdict(fault_free, outcome_with("steps = 2\nweights = 1"));
  EXPECT_EQ(lost.verdict, FaultVerdict::recovered_different);
  EXPECT_THAT(lost.what, HasSubstr("is steps = 2 instead of steps = 3"));
}

TEST(CommandVerdict, TheValueOfACheckIsTheFirstLine) {
  const CommandOutcome fault_free = outcome_with("0.5\nsteps = 3");
  const CommandOutcome recovered = outcome_with("steps = 3", {"--check"});
  EXPECT_THAT(compared_lines(fault_free, recovered), ElementsAre("steps = 3"));
  EXPECT_THAT(compared_lines(recovered, recovered), ElementsAre("steps = 3"));
  EXPECT_EQ(command_verdict(fault_free, recovered).verdict, FaultVerdict::recovered_same);
  EXPECT_EQ(command_verdict(fault_free, outcome_with("steps = 3")).verdict,
            FaultVerdict::recovered_different);
}

TEST(CommandVerdict, StateThatARunDoesNotNameIsDifferent) {
  CommandOutcome silent;
  silent.failures = 1;
  EXPECT_THAT(compared_lines(silent, outcome_with("steps = 3")), IsEmpty());
  EXPECT_EQ(command_verdict(outcome_with("steps = 3"), silent).verdict,
            FaultVerdict::recovered_different);
}

CommandOutcome printing(std::string text) {
  CommandOutcome outcome;
  outcome.failures = 1;
  outcome.printed = std::move(text);
  return outcome;
}

TEST(CommandVerdict, ALineThatIsNotPrintedIsDifferent) {
  const CommandOutcome fault_free = printing("begin\nprocessed 4\n");
  const TrialVerdict lost = command_verdict(fault_free, printing("begin\nprocessed 3\n"));
  EXPECT_EQ(lost.verdict, FaultVerdict::recovered_different);
  EXPECT_THAT(lost.what, HasSubstr("does not print \"processed 4\""));
  EXPECT_EQ(command_verdict(fault_free, printing("begin\nagain\nprocessed 4\n")).verdict,
            FaultVerdict::recovered_same);
}

TEST(CommandVerdict, WhatIsPrintedDecidesNothingBesideWhatIsChecked) {
  CommandOutcome fault_free = printing("processed 4\n");
  CommandOutcome outcome = printing("processed 3\n");
  fault_free.checked = outcome.checked = "steps = 3";
  EXPECT_EQ(command_verdict(fault_free, outcome).verdict, FaultVerdict::recovered_same);
}

CommandOutcome leaving(std::int64_t bytes, bool is_lost, bool has_error) {
  CommandOutcome outcome;
  outcome.failures = 1;
  outcome.left_memory = {bytes, is_lost, "load"};
  if (!has_error) return outcome;
  outcome.status = 1;
  outcome.error.emplace().message = "no memory";
  return outcome;
}

TEST(CommandVerdict, AnErrorExcusesMemoryThatIsKeptAndNotWhatIsLost) {
  const CommandOutcome fault_free;
  EXPECT_EQ(command_verdict(fault_free, leaving(48, false, true)).verdict,
            FaultVerdict::clean_error);
  EXPECT_EQ(command_verdict(fault_free, leaving(48, false, false)).verdict, FaultVerdict::leak);
  const TrialVerdict lost = command_verdict(fault_free, leaving(48, true, true));
  EXPECT_EQ(lost.verdict, FaultVerdict::leak);
  EXPECT_EQ(lost.what, "48 B that load allocated are lost: no pointer leads to them at the end");
}

TEST(CommandVerdict, WhatIsLeftOfFilesDecidesWhereNoOutputDoes) {
  CommandOutcome outcome = leaving(0, false, true);
  outcome.files = FileDamage{FaultVerdict::corrupt, "it leaves out.txt truncated"};
  EXPECT_EQ(command_verdict({}, outcome).verdict, FaultVerdict::corrupt);
  outcome.signal = 11;
  EXPECT_EQ(command_verdict({}, outcome).verdict, FaultVerdict::crash);
}

}  // namespace
}  // namespace ohm::engine
