#include "harness/exec/failure_cause.h"

#include <gtest/gtest.h>

namespace ohm::engine {
namespace {

const std::string kTraceback =
    "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n";

TEST(FailureCause, IsTheLastLine) {
  EXPECT_EQ("no data", failure_cause("loading\nno data\n\n"));
  EXPECT_EQ("no data", failure_cause("no data\r\n"));
  EXPECT_EQ("", failure_cause("\n \n"));
  EXPECT_EQ("", failure_cause(""));
}

TEST(FailureCause, IsTheLastExceptionWhateverIsPrintedBehindIt) {
  EXPECT_EQ("ValueError: no rows", failure_cause(kTraceback + "ValueError: no rows\nbye\n"));
  EXPECT_EQ("lib.errors.Stop: now", failure_cause(kTraceback + "lib.errors.Stop: now\nin vain\n"));
  EXPECT_EQ("AssertionError", failure_cause(kTraceback + "    assert x\nAssertionError\nbye\n"));
  EXPECT_EQ("KeyError: 'b'", failure_cause(kTraceback +
                                           "ValueError: a\n\nDuring handling of the "
                                           "above exception, another exception "
                                           "occurred:\n\n" +
                                           kTraceback + "KeyError: 'b'\n"));
}

TEST(FailureCause, NeedsNoTraceback) {
  EXPECT_EQ("PTXASError: sm_70 is too old",
            failure_cause("PTXASError: sm_70 is too old\n\nRepro command: ptxas a.ptx\n"));
  EXPECT_EQ("the Error: of its ways", failure_cause("the Error: of its ways\n"));
}

TEST(FailureCause, IsNoProgressBar) {
  const std::string bar = "\r  0%|          | 0/2 [00:00<?, ?it/s]\r 50%|█████     | 1/2 [00:01]";
  EXPECT_EQ("ValueError: my real error",
            failure_cause(kTraceback + "ValueError: my real error\n" + bar + "\n"));
  EXPECT_EQ("ValueError: x", failure_cause(bar + kTraceback + "ValueError: x\n" + bar));
  EXPECT_EQ("no data", failure_cause("no data\n" + bar));
  EXPECT_EQ("no data", failure_cause("no data\nstep 1 of 9\rstep 2 of 9"));
  EXPECT_EQ("no data", failure_cause("no data\n3it [00:01,  2.51it/s]\n"));
  EXPECT_EQ("", failure_cause(bar));
}

TEST(FailureCause, IsNoExceptionThatPythonIgnored) {
  EXPECT_EQ("ValueError: x",
            failure_cause(kTraceback + "ValueError: x\nException ignored in: <function f>\n" +
                          kTraceback + "AttributeError: gone\n"));
}

TEST(FailureCause, OfRanksIsThatOfARank) {
  EXPECT_EQ("ValueError: x",
            failure_cause("[rank1]: Traceback (most recent call last):\n[rank1]:   File \"a.py\"\n"
                          "[rank1]: ValueError: x\n" +
                          kTraceback +
                          "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n"
                          "=====\n"));
}

}  // namespace
}  // namespace ohm::engine
