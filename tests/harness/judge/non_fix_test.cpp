// Verdicts on non-fixes: one passes where it fails as its problem does, or as it says.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/harness/judge/judged_variant.h"

namespace ohm::engine {
namespace {

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

}  // namespace
}  // namespace ohm::engine
