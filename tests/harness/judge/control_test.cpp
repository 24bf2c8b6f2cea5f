// Verdicts on controls: one passes where limits hold, whatever it computes.
#include <gtest/gtest.h>

#include <utility>

#include "tests/harness/judge/judged_variant.h"

namespace ohm::engine {
namespace {

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

}  // namespace
}  // namespace ohm::engine
