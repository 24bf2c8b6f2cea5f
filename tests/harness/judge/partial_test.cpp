// Verdicts on partials: one passes where it improves on its problem and is no mitigation.
#include <gtest/gtest.h>

#include "tests/harness/judge/judged_variant.h"

namespace ohm::engine {
namespace {

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

}  // namespace
}  // namespace ohm::engine
