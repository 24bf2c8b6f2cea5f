// Verdicts on mitigations: one passes where limits hold and it computes what its reference does.
#include <gtest/gtest.h>

#include "tests/harness/judge/judged_variant.h"

namespace ohm::engine {
namespace {

TEST(Mitigation, PassesWhenLimitsHoldAndNumbersAreTheSame) {
  const VariantResult result = Judged(Role::mitigation).by(completed(900));
  expect(result, Verdict::passed, "", "holds peak_allocated_bytes <= 1000: 900 B");
  EXPECT_EQ(Equivalence::same, result.equivalence);
  EXPECT_EQ("summed", result.reference);
}

TEST(Mitigation, FailsWhenALimitBreaks) {
  expect(Judged(Role::mitigation).by(completed(1001)), Verdict::failed, "LimitExceeded",
         "breaks peak_allocated_bytes <= 1000: 1001 B");
}

TEST(Mitigation, FailsWhenItRunsOutOfMemoryEvenIfNoLimitNamesThat) {
  expect(Judged(Role::mitigation).by(out_of_memory()), Verdict::failed, "LimitExceeded",
         "OOM in step 4: 2.00 KiB for linear");
  expect(Judged(Role::mitigation).by(out_of_memory(3, /*injected=*/true)), Verdict::failed,
         "FaultUnsafe", "OOM in step 4: 2.00 KiB for linear (injected)");
}

TEST(Mitigation, FailsWhenItComputesSomethingElse) {
  const VariantResult result = Judged(Role::mitigation).by(completed(900, 2.0));
  expect(result, Verdict::failed, "NotEquivalent",
         "other numbers: loss: 2 instead of 1; float32 allows 0.0001");
  EXPECT_EQ(Equivalence::different, result.equivalence);
}

TEST(Mitigation, IsComparedWithTheProblemOnALargerGpuWhereThatRanOutOfMemory) {
  Judged judged(Role::mitigation);
  judged.problem(out_of_memory()).reference("summed", completed(9000, 2.0));
  EXPECT_EQ(Verdict::passed, judged.by(completed(900, 2.0)).verdict);
  EXPECT_EQ(FailureType::not_equivalent, judged.by(completed(900, 1.0)).failure_type);
}

TEST(Mitigation, IsAnErrorWithoutAReferenceThatCompleted) {
  Judged judged(Role::mitigation);
  judged.problem(out_of_memory()).reference("summed", out_of_memory());
  expect(judged.by(completed(900)), Verdict::error, "",
         "its reference summed did not complete (oom); name another one: reference = \"...\"");
}

TEST(Mitigation, IsSkippedWhenTheRunEndedBeforeItsReference) {
  Judged judged(Role::mitigation);
  judged.problem(out_of_memory());
  expect(judged.by(completed(900)), Verdict::skipped, "",
         "the run ended before what it is compared with");
}

TEST(Mitigation, ThatTradesComparesWhatMustAgree) {
  Judged judged(Role::mitigation);
  judged.variant().trades = "batch size";
  judged.variant().must_agree = {"steps", "finite"};
  const VariantResult result = judged.by(completed(900, 2.0));
  expect(result, Verdict::passed, "",
         "trades batch size; steps, finite agree; holds peak_allocated_bytes <= 1000: 900 B");
  EXPECT_EQ(Equivalence::trade, result.equivalence);
  MeasuredVariant shorter = completed(900, 2.0);
  shorter.steps = 5;
  expect(judged.by(shorter), Verdict::failed, "NotEquivalent",
         "other numbers: 5 steps instead of 10");
}

TEST(Mitigation, ThatTradesHasToReturnWhatItsReferenceReturns) {
  Judged judged(Role::mitigation);
  judged.variant().trades = "batch size";
  judged.variant().must_agree = {"steps", "finite"};
  MeasuredVariant nothing = completed(900);
  nothing.values.clear();
  expect(judged.by(nothing), Verdict::error, "",
         "it returns nothing to compare: return a table of what must agree");
  nothing.values = {{"accuracy", {"float32", {}, {1}, {}, true, {}}}};
  expect(judged.by(nothing), Verdict::error, "", "accuracy: not returned by the reference");
  expect(judged.by(completed(900, 0.0)), Verdict::failed, "NotEquivalent",
         "other numbers: loss: only zeros");
}

TEST(Mitigation, IsAnErrorWhereMustAgreeNamesWhatNeitherReturns) {
  Judged judged(Role::mitigation);
  judged.variant().trades = "batch size";
  judged.variant().must_agree = {"steps", "lost"};
  judged.variant().line = 12;
  expect(judged.by(completed(900)), Verdict::error, "",
         "leak.lua:12: must_agree names \"lost\", which neither it nor its reference returns (did "
         "you mean "
         "\"loss\"?)");
  judged.variant().must_agree = {"step"};
  expect(judged.by(completed(900)), Verdict::error, "",
         "leak.lua:12: must_agree names \"step\", which neither it nor its reference returns (did "
         "you mean "
         "\"steps\"?)");
}

TEST(Mitigation, OnSizeOnlyDevicesPassesWithNumbersNotChecked) {
  MeasuredVariant measured = completed(900);
  measured.values[0].second.has_values = false;
  const VariantResult result = Judged(Role::mitigation).problem(measured).by(measured);
  EXPECT_EQ(Verdict::passed, result.verdict);
  EXPECT_EQ(Equivalence::not_checked, result.equivalence);
}

TEST(Mitigation, IsSkippedWhereNothingOfItIsChecked) {
  Judged judged(Role::mitigation);
  judged.scenario().limits = {"non_finite == 0"};
  MeasuredVariant measured = completed(900);
  measured.values[0].second = {"float32", {2}, {}, {}, false, {}};
  EXPECT_EQ(Verdict::skipped, judged.problem(measured).by(measured).verdict);
}

TEST(Mitigation, IsAnErrorWhenItReturnsNoElements) {
  MeasuredVariant empty = completed(900);
  empty.values[0].second = {"float32", {0, 3}, {}, {}, true, {}};
  expect(Judged(Role::mitigation).problem(empty).by(empty), Verdict::error, "",
         "it returns nothing to compare: return a table of what must agree");
}

TEST(Mitigation, ThatTradesAgreesInStepsOnlyWhereThereAreSome) {
  Judged judged(Role::mitigation);
  judged.variant().trades = "batch size";
  judged.variant().must_agree = {"steps"};
  MeasuredVariant without = completed(900);
  without.steps = 0;
  expect(judged.problem(without).by(without), Verdict::failed, "NotEquivalent",
         "other numbers: steps: the reference never calls ohm.step()");
}

TEST(Mitigation, ThatTradesAgreesInStepsOnlyWhereTheyTakeMemory) {
  Judged judged(Role::mitigation);
  judged.variant().trades = "batch size";
  judged.variant().must_agree = {"steps"};
  expect(judged.by(completed(0)), Verdict::failed, "NotEquivalent",
         "other numbers: steps: it takes no memory in any of them");
  MeasuredVariant on_the_host = completed(0);
  on_the_host.host.peak_allocated_bytes = 4;
  EXPECT_EQ(Verdict::passed, judged.by(on_the_host).verdict);
}

TEST(Mitigation, IsHeldToLimitsRelativeToItsProblem) {
  Judged judged(Role::mitigation);
  judged.variant().limits = {"peak_allocated_bytes <= 0.2 * problem"};
  EXPECT_EQ(Verdict::passed, judged.by(completed(800)).verdict);
  expect(judged.by(completed(801)), Verdict::failed, "LimitExceeded",
         "breaks peak_allocated_bytes <= 0.2 * problem: 801 B");
}

TEST(Mitigation, IsAnErrorWhenItsLimitNamesAVariantThatDidNotRun) {
  Judged judged(Role::mitigation);
  judged.variant().limits = {"peak_allocated_bytes <= 0.2 * problem"};
  judged.problem(ended(Outcome::crashed, "killed by SIGSEGV")).reference("summed", completed(10));
  expect(judged.by(completed(800)), Verdict::error, "",
         "peak_allocated_bytes <= 0.2 * problem: problem was not measured");
}

}  // namespace
}  // namespace ohm::engine
