// Verdicts on checks: one passes where it raises, returns and takes what it says.
#include <gtest/gtest.h>

#include "tests/harness/judge/judged_variant.h"

namespace ohm::engine {
namespace {

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
  judged.variant().returns = returned_loss(1);
  expect(judged.by(completed(999999)), Verdict::passed, "", "returns loss = 1");
  EXPECT_EQ(FailureType::not_equivalent, judged.by(completed(10, 1.01)).failure_type);
  MeasuredVariant nothing = completed(10);
  nothing.values.clear();
  expect(judged.by(nothing), Verdict::failed, "NotEquivalent", "returns loss: not returned");
  expect(judged.by(out_of_memory()), Verdict::failed, "LimitExceeded",
         "OOM in step 4: 2.00 KiB for linear");
}

}  // namespace
}  // namespace ohm::engine
