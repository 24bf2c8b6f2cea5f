// Verdicts on problems: one passes where it breaks a limit or runs out of memory.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/harness/judge/judged_variant.h"

namespace ohm::engine {
namespace {

TEST(Problem, PassesWhenALimitBreaks) {
  expect(Judged(Role::problem).by(completed(1001)), Verdict::passed, "",
         "breaks peak_allocated_bytes <= 1000: 1001 B");
}

TEST(Problem, PassesWhenItRunsOutOfMemoryAndNotOnALargerGpu) {
  Judged judged(Role::problem);
  judged.scenario().limits = {"num_ooms == 0"};
  judged.reference("summed", completed(9000));
  expect(judged.by(out_of_memory()), Verdict::passed, "", "OOM in step 4: 2.00 KiB for linear");
}

TEST(Problem, FailsWhenMoreMemoryDoesNotHelp) {
  Judged judged(Role::problem);
  judged.scenario().limits = {"num_ooms == 0"};
  MeasuredVariant larger = out_of_memory();
  larger.devices[0].capacity_bytes = 1 << 30;
  judged.reference("summed", larger);
  expect(judged.by(out_of_memory()), Verdict::failed, "NotReproduced",
         "OOM in step 4: 2.00 KiB for linear; it does not fit into 1.00 GiB either");
  // A loop without an end gets further.
  larger.devices[0].peak_allocated_bytes = 4001;
  judged.reference("summed", larger);
  EXPECT_EQ(Verdict::passed, judged.by(out_of_memory()).verdict);
}

TEST(Problem, ThatRanOutOfMemoryShowsOnTheLargerGpuWhichLimitsItBreaks) {
  Judged judged(Role::problem);
  judged.scenario().limits = {"peak_allocated_bytes <= 5000"};
  judged.reference("summed", completed(9000));
  EXPECT_EQ(Verdict::passed, judged.by(out_of_memory()).verdict);
  judged.reference("summed", completed(4500));
  EXPECT_EQ(Verdict::error, judged.by(out_of_memory()).verdict);
  // No figure on either: it cannot be told.
  judged.scenario().limits = {"growth_bytes_per_step == 0"};
  EXPECT_EQ(Verdict::passed, judged.by(out_of_memory()).verdict);
}

TEST(Problem, IsSkippedWhenTheRunEndedBeforeTheLargerGpu) {
  expect(Judged(Role::problem).by(out_of_memory()), Verdict::skipped, "",
         "the run ended before what it is compared with");
}

TEST(Problem, IsAnErrorWhenItsReferenceReturnsWhatItDoesNot) {
  Judged judged(Role::problem);
  judged.scenario().reference = "fp32";
  judged.add("fp32", Role::reference);
  std::swap(judged.scenario().variants[0], judged.scenario().variants[1]);
  judged.reference("fp32", completed(8000));
  MeasuredVariant nothing = completed(4000);
  nothing.values.clear();
  expect(judged.by(nothing), Verdict::error, "", "loss: not returned");
}

TEST(Problem, IsAnErrorWhenAFigureOfValuesHasNone) {
  for (const char* limit : {"non_finite == 0", "error_vs_reference <= 0.1"}) {
    Judged judged(Role::problem);
    judged.scenario().limits = {limit};
    MeasuredVariant nothing = completed(4000);
    nothing.values.clear();
    judged.problem(nothing);
    expect(judged.by(nothing), Verdict::error, "", std::string(limit) + ": it returns nothing");
  }
}

TEST(Problem, IsAnErrorWhenNoProblemBreaksALimit) {
  Judged judged(Role::problem);
  judged.scenario().limits = {"peak_allocated_bytes <= 1000", "num_ooms == 0"};
  const std::string what =
      ", so nothing shows that it can be broken; tighten it, or give it to the variants that have "
      "to hold it";
  expect(judged.by(completed(1001)), Verdict::error, "",
         "limit \"num_ooms == 0\": no problem breaks it" + what);
  judged.scenario().limits = {"peak_allocated_bytes <= 1000"};
  judged.variant().limits = {"peak_allocated_bytes <= 10000"};
  expect(judged.by(completed(1001)), Verdict::error, "",
         "limit \"peak_allocated_bytes <= 10000\": its problem does not break it" + what);
  // One that is relative to the problem itself is broken by less than all of it.
  judged.variant().limits = {"peak_allocated_bytes <= 0.5 * problem"};
  EXPECT_EQ(Verdict::passed, judged.by(completed(1001)).verdict);
  judged.variant().limits = {"peak_allocated_bytes <= 5 * problem"};
  EXPECT_EQ(Verdict::error, judged.by(completed(1001)).verdict);
}

TEST(Problem, FailsWhenNothingGoesWrong) {
  expect(Judged(Role::problem).by(completed(1000)), Verdict::failed, "NotReproduced",
         "nothing goes wrong: holds peak_allocated_bytes <= 1000: 1000 B");
}

TEST(Problem, WrongNumbersAreALimitAgainstANamedReference) {
  Judged judged(Role::problem);
  judged.scenario().reference = "fp32";
  judged.scenario().limits = {"error_vs_reference <= 0.01"};
  judged.add("fp32", Role::reference);
  std::swap(judged.scenario().variants[0], judged.scenario().variants[1]);
  judged.reference("fp32", completed(8000, 2.0));
  expect(judged.by(completed(10, 1.0)), Verdict::passed, "",
         "breaks error_vs_reference <= 0.01: 0.5");
  expect(judged.by(completed(10, 2.0)), Verdict::failed, "NotReproduced",
         "nothing goes wrong: holds error_vs_reference <= 0.01: 0");
}

TEST(Problem, IsAnErrorWhenALimitCannotBeMeasured) {
  Judged judged(Role::problem);
  judged.scenario().limits = {"growth_bytes_per_step == 0"};
  MeasuredVariant measured = completed(10);
  measured.steps = 0;
  measured.allocated_at_marks = {{}};
  expect(judged.by(measured), Verdict::error, "",
         "growth_bytes_per_step == 0: growth needs at least 3 marks of ohm.step(), there were 0");
}

}  // namespace
}  // namespace ohm::engine
