#include "harness/judge/judge.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/judge/scenario_validation.h"

namespace ohm::engine {
namespace {

ReturnedValues returning(double loss) { return {{"loss", {"float32", {}, {loss}, {}, true, {}}}}; }

MeasuredVariant completed(std::int64_t peak_bytes, double loss = 1) {
  MeasuredVariant measured;
  measured.outcome = Outcome::completed;
  measured.steps = 10;
  measured.devices.resize(1);
  measured.devices[0].device = "cuda:0";
  measured.devices[0].peak_allocated_bytes = peak_bytes;
  measured.values = returning(loss);
  return measured;
}

MeasuredVariant out_of_memory(std::int64_t steps = 3, bool injected = false) {
  MeasuredVariant measured = completed(4000);
  measured.outcome = Outcome::oom;
  measured.steps = steps;
  measured.devices[0].num_ooms = 1;
  measured.values.clear();
  measured.oom = OomResult{};
  measured.oom->step = steps + 1;
  measured.oom->device = "cuda:0";
  measured.oom->requested_bytes = 2048;
  measured.oom->op = "linear";
  measured.oom->message = "CUDA out of memory. Tried to allocate 2.00 MiB.";
  measured.oom->injected = injected;
  return measured;
}

MeasuredVariant ended(Outcome outcome, const std::string& message) {
  MeasuredVariant measured;
  measured.outcome = outcome;
  measured.error = ErrorResult{message, {}, 0, {}, {}};
  return measured;
}

/// A scenario with one problem (4,000 bytes, limit 1,000) and one variant that is judged.
class Judged {
 public:
  explicit Judged(Role role) {
    scenario_.name = "leak";
    scenario_.file = "leak.lua";
    scenario_.limits = {"peak_allocated_bytes <= 1000"};
    add("summed", Role::problem);
    if (role != Role::problem) add("judged", role);
    problem_ = completed(4000);
  }

  VariantDescription& variant() { return scenario_.variants.back(); }
  ScenarioDescription& scenario() { return scenario_; }
  void add(const std::string& name, Role role) {
    VariantDescription variant;
    variant.name = name;
    variant.role = role;
    scenario_.variants.push_back(variant);
  }

  Judged& problem(MeasuredVariant measured) {
    problem_ = std::move(measured);
    return *this;
  }
  Judged& reference(const std::string& name, MeasuredVariant measured) {
    references_[name] = std::move(measured);
    return *this;
  }

  VariantResult by(const MeasuredVariant& measured) {
    const std::string name = variant().name;
    MeasuredScenario all{validated(scenario_), {{"summed", problem_}}, references_};
    all.variants[name] = measured;
    return judge(all, *find_variant(all.description, name));
  }

 private:
  ScenarioDescription scenario_;
  MeasuredVariant problem_;
  std::map<std::string, MeasuredVariant> references_;
};

void expect(const VariantResult& result, Verdict verdict, const std::string& failure_type,
            const std::string& reason) {
  EXPECT_EQ(name_of(verdict), name_of(result.verdict));
  EXPECT_EQ(failure_type, name_of(result.failure_type));
  EXPECT_EQ(reason, result.reason);
}

// ---- problem ------------------------------------------------------------------------------------

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

// ---- mitigation ---------------------------------------------------------------------------------

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

// ---- partial ------------------------------------------------------------------------------------

TEST(Partial, SaysHowMuchOfTheExcessItRecovers) {
  const VariantResult result = Judged(Role::partial).by(completed(1600));
  expect(result, Verdict::passed, "",
         "recovers 80.0 % of peak_allocated_bytes <= 1000 (1.56 KiB instead of 3.91 KiB)");
  EXPECT_DOUBLE_EQ(0.8, result.recovered_share.value());
}

TEST(Partial, FailsWhenItDoesNotHelp) {
  expect(Judged(Role::partial).by(completed(4000)), Verdict::failed, "LimitExceeded",
         "no improvement: breaks peak_allocated_bytes <= 1000: 3.91 KiB");
}

TEST(Partial, FailsWhenItIsAMitigation) {
  expect(Judged(Role::partial).by(completed(1000)), Verdict::failed, "NotReproduced",
         "it is a mitigation: holds peak_allocated_bytes <= 1000: 1000 B");
}

TEST(Partial, FailsWhenItComputesSomethingElse) {
  EXPECT_EQ(FailureType::not_equivalent,
            Judged(Role::partial).by(completed(1600, 3.0)).failure_type);
}

TEST(Partial, ThatRunsOutOfMemoryTooHasToGetFurther) {
  Judged judged(Role::partial);
  judged.problem(out_of_memory(3)).reference("summed", completed(9000));
  judged.reference("judged", completed(9000));
  expect(judged.by(out_of_memory(5)), Verdict::passed, "",
         "OOM in step 6: 2.00 KiB for linear, instead of after 3 steps");
  expect(judged.by(out_of_memory(3)), Verdict::failed, "LimitExceeded",
         "no improvement: OOM in step 4: 2.00 KiB for linear");
  // Its numbers are those of the larger GPU.
  judged.reference("judged", completed(9000, 2.0));
  EXPECT_EQ(FailureType::not_equivalent, judged.by(out_of_memory(5)).failure_type);
}

TEST(Partial, ThatRunsOutOfMemoryWhereItsProblemCompletesIsNoImprovement) {
  Judged judged(Role::partial);
  judged.reference("judged", completed(9000));
  expect(judged.by(out_of_memory()), Verdict::failed, "LimitExceeded",
         "OOM in step 4: 2.00 KiB for linear, where summed completes");
}

TEST(Partial, ThatCompletesWhereItsProblemRunsOutOfMemoryIsAnImprovement) {
  Judged judged(Role::partial);
  judged.problem(out_of_memory()).reference("summed", completed(9000));
  expect(judged.by(completed(4000)), Verdict::passed, "",
         "completes, where summed runs out of memory; still breaks peak_allocated_bytes <= 1000: "
         "3.91 KiB");
}

// ---- non-fix ------------------------------------------------------------------------------------

TEST(NonFix, PassesWhenItFailsAsItsProblemDoes) {
  expect(Judged(Role::non_fix).by(completed(3000)), Verdict::passed, "",
         "still breaks peak_allocated_bytes <= 1000: 2.93 KiB");
  Judged judged(Role::non_fix);
  judged.problem(out_of_memory()).reference("summed", completed(9000));
  judged.reference("judged", completed(9000));
  expect(judged.by(out_of_memory()), Verdict::passed, "",
         "still OOM in step 4: 2.00 KiB for linear");
  expect(judged.by(completed(9000)), Verdict::failed, "NotReproduced",
         "it helps: it does not run out of memory");
}

TEST(NonFix, FailsWhenItFailsInAnotherWay) {
  expect(Judged(Role::non_fix).by(out_of_memory()), Verdict::failed, "NotReproduced",
         "OOM in step 4: 2.00 KiB for linear, which it does not say: must_break = {\"oom\"}");
  Judged judged(Role::non_fix);
  judged.variant().limits = {"steps == 9"};
  MeasuredVariant problem = completed(4000);
  problem.steps = 9;
  judged.problem(problem);
  expect(judged.by(completed(900)), Verdict::failed, "NotReproduced",
         "it breaks steps == 9: 10, but not what its problem breaks");
}

TEST(NonFix, IsHeldToWhatItSaysItBreaks) {
  Judged judged(Role::non_fix);
  judged.variant().limits = {"steps == 9"};
  judged.variant().must_break = {"steps"};
  expect(judged.by(completed(900)), Verdict::passed, "", "still breaks steps == 9: 10");
  judged.variant().must_break = {"peak_allocated_bytes"};
  expect(judged.by(completed(900)), Verdict::failed, "NotReproduced",
         "it breaks steps == 9: 10, but not peak_allocated_bytes, which must_break names");
  judged.variant().must_break = {"oom"};
  judged.reference("judged", completed(9000));
  EXPECT_EQ(Verdict::passed, judged.by(out_of_memory()).verdict);
  judged.variant().must_break = {"oom", "peak_allocated_bytes"};
  EXPECT_EQ(Verdict::passed, judged.by(out_of_memory()).verdict);
  MeasuredVariant small = out_of_memory();
  small.devices[0].peak_allocated_bytes = 10;
  expect(judged.by(small), Verdict::failed, "NotReproduced",
         "OOM in step 4: 2.00 KiB for linear, but it does not break peak_allocated_bytes, which "
         "must_break names");
}

TEST(NonFix, IsNotWrongBesideAReferenceThatIsNaN) {
  Judged judged(Role::non_fix);
  judged.variant().must_differ = {"loss"};
  judged.problem(completed(4000, std::nan("")));
  expect(judged.by(completed(900, std::nan(""))), Verdict::failed, "NotReproduced",
         "loss: the reference's is NaN: nothing shows that this is wrong");
}

TEST(NonFix, ThatFitsHasToSayWhichNumbersAreWrong) {
  expect(Judged(Role::non_fix).by(completed(900, 2.0)), Verdict::failed, "NotReproduced",
         "it helps: holds peak_allocated_bytes <= 1000: 900 B");
  Judged judged(Role::non_fix);
  judged.variant().must_differ = {"loss"};
  expect(judged.by(completed(900, 2.0)), Verdict::passed, "",
         "other numbers: loss: 2 instead of 1; float32 allows 0.0001");
  expect(judged.by(completed(900, 1.0)), Verdict::failed, "NotReproduced",
         "it helps: loss is the same");
  expect(judged.by(completed(3000, 2.0)), Verdict::failed, "LimitExceeded",
         "breaks peak_allocated_bytes <= 1000: 2.93 KiB, which it does not say: must_break = "
         "{\"peak_allocated_bytes\"}");
  judged.variant().must_differ = {"los"};
  expect(judged.by(completed(900, 2.0)), Verdict::error, "",
         "leak.lua: must_differ names \"los\", which neither it nor its reference returns (did you "
         "mean "
         "\"loss\"?)");
  MeasuredVariant two_values = completed(900, 2.0);
  two_values.values.push_back({"seen", {"integer", {}, {3}, {}, true, {}}});
  judged.problem(two_values);
  judged.variant().must_differ = {"seen"};
  two_values.values[1].second.values = {4};
  two_values.values[0].second.values = {3};
  expect(judged.by(two_values), Verdict::failed, "NotReproduced",
         "loss: 3 instead of 2; float32 allows 0.00021, which must_differ does not name");
}

TEST(NonFix, IsAnErrorWhenItReturnsLessThanItsReference) {
  MeasuredVariant nothing = completed(3000);
  nothing.values.clear();
  expect(Judged(Role::non_fix).by(nothing), Verdict::error, "", "loss: not returned");
}

TEST(NonFix, FailsWhenItHelps) {
  expect(Judged(Role::non_fix).by(completed(900)), Verdict::failed, "NotReproduced",
         "it helps: holds peak_allocated_bytes <= 1000: 900 B");
}

// ---- control ------------------------------------------------------------------------------------

TEST(Control, PassesWhenEveryLimitHoldsWhateverItComputes) {
  expect(Judged(Role::control).by(completed(900, 7.0)), Verdict::passed, "",
         "holds peak_allocated_bytes <= 1000: 900 B");
  EXPECT_EQ(FailureType::limit_exceeded, Judged(Role::control).by(completed(1001)).failure_type);
}

TEST(Control, IsAnErrorWhereItTakesNoMemory) {
  expect(Judged(Role::control).by(completed(0)), Verdict::error, "",
         "it allocates nothing: nothing shows that it does what a problem does");
  Judged of_two(Role::control);
  of_two.add("kept", Role::problem);
  std::swap(of_two.scenario().variants[1], of_two.scenario().variants[2]);
  EXPECT_EQ(Verdict::error, of_two.by(completed(0)).verdict);
  MeasuredVariant on_the_host = completed(0);
  on_the_host.host.peak_allocated_bytes = 4;
  expect(Judged(Role::control).by(on_the_host), Verdict::error, "",
         "it allocates nothing on a GPU: nothing shows that it does what its problem does");
  // Its problem may be about something else.
  Judged judged(Role::control);
  judged.scenario().limits = {"steps == 10"};
  EXPECT_EQ(Verdict::passed, judged.problem(completed(0)).by(completed(0)).verdict);
}

// ---- check --------------------------------------------------------------------------------------

TEST(Check, PassesWhenItRaisesWhatItSays) {
  Judged judged(Role::check);
  judged.variant().raises = "out of range";
  expect(judged.by(ended(Outcome::error, "x.lua:3: index 7 is out of range")), Verdict::passed, "",
         "raises \"out of range\"");
  expect(judged.by(ended(Outcome::error, "x.lua:3: something else")), Verdict::failed,
         "NotReproduced", R"(raises "x.lua:3: something else" instead of "out of range")");
  expect(judged.by(completed(10)), Verdict::failed, "NotReproduced",
         "raises nothing instead of \"out of range\"");
}

TEST(Check, ThatRaisesIsAnErrorWhenALimitCannotBeMeasured) {
  Judged judged(Role::check);
  judged.variant().raises = "out of range";
  judged.variant().limits = {"growth_bytes_per_step == 0"};
  EXPECT_EQ(Verdict::error, judged.by(ended(Outcome::error, "index 7 is out of range")).verdict);
}

TEST(Check, CanRaiseOutOfMemory) {
  Judged judged(Role::check);
  judged.variant().raises = "CUDA out of memory";
  EXPECT_EQ(Verdict::passed, judged.by(out_of_memory()).verdict);
}

TEST(Check, IsHeldToItsOwnLimitsOnly) {
  Judged judged(Role::check);
  judged.variant().limits = {"steps == 10"};
  expect(judged.by(completed(999999)), Verdict::passed, "", "holds steps == 10: 10");
}

TEST(Check, ComparesWhatItReturns) {
  Judged judged(Role::check);
  judged.variant().returns = returning(1);
  expect(judged.by(completed(999999)), Verdict::passed, "", "returns loss = 1");
  EXPECT_EQ(FailureType::not_equivalent, judged.by(completed(10, 1.01)).failure_type);
  MeasuredVariant nothing = completed(10);
  nothing.values.clear();
  expect(judged.by(nothing), Verdict::failed, "NotEquivalent", "returns loss: not returned");
  expect(judged.by(out_of_memory()), Verdict::failed, "LimitExceeded",
         "OOM in step 4: 2.00 KiB for linear");
}

// ---- outcomes of any role -----------------------------------------------------------------------

TEST(Verdict, IsAnErrorWhenTheVariantDidNotRunToAnEnd) {
  for (const Outcome outcome : {Outcome::error, Outcome::timeout, Outcome::crashed}) {
    for (const Role role :
         {Role::problem, Role::mitigation, Role::partial, Role::non_fix, Role::control}) {
      expect(Judged(role).by(ended(outcome, "x.lua:3: what happened\nand more")), Verdict::error,
             "", "x.lua:3: what happened");
    }
  }
}

TEST(Verdict, IsSkippedWhenTheRunEndedBeforeIt) {
  expect(Judged(Role::mitigation).by(MeasuredVariant{}), Verdict::skipped, "",
         "the run ended before it");
}

// ---- what else has to run -----------------------------------------------------------------------

TEST(Needed, AreReferencesProblemsAndVariantsInLimits) {
  Judged judged(Role::mitigation);
  judged.add("fp32", Role::reference);
  judged.add("other", Role::control);
  judged.scenario().variants[1].reference = "fp32";
  judged.scenario().variants[1].limits = {"peak_allocated_bytes < other + problem"};
  const ScenarioDescription scenario = validated(judged.scenario());
  using Names = std::vector<std::string>;
  EXPECT_EQ((Names{"fp32", "other", "summed"}),
            needed_by(scenario, *find_variant(scenario, "judged")));
  EXPECT_EQ(Names{}, needed_by(scenario, *find_variant(scenario, "summed")));
  EXPECT_EQ(Names{}, needed_by(scenario, *find_variant(scenario, "other")));
}

TEST(Needed, ReferencesThatRanOutOfMemoryRunOnceMore) {
  Judged judged(Role::mitigation);
  MeasuredScenario all{
      validated(judged.scenario()), {{"summed", out_of_memory()}, {"judged", completed(900)}}, {}};
  using Names = std::vector<std::string>;
  EXPECT_EQ(Names{"summed"}, missing_references(all, {"summed", "judged"}));
  // A problem has to lack memory, wherever its values are needed.
  EXPECT_EQ(Names{"summed"}, missing_references(all, {"summed"}));
  all.references["summed"] = completed(9000);
  EXPECT_EQ(Names{}, missing_references(all, {"summed", "judged"}));
  all.references.clear();
  all.variants["judged"] = out_of_memory();
  EXPECT_EQ(Names{}, missing_references(all, {"judged"}));
}

}  // namespace
}  // namespace ohm::engine
