// Which verdicts ohm sweep gives to faults in Python programs.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/harness/program/program_sweep.h"

namespace ohm {
namespace {

using Json = nlohmann::json;
using test::ProgramResult;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using ProgramSweep = test::ProgramSweepTest;

TEST_F(ProgramSweep, AnErrorThatLeavesTheProgramIsClean) {
  write("kept = [torch.empty(8) for _ in range(3)]\n");
  const ProgramResult ran = sweep({"--points", "all"});
  EXPECT_EQ(0, ran.code) << ran.out << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("3 faults of 3 calls at 1 point: 3 clean_error"),
                             HasSubstr("every verdict is good")));
}

TEST_F(ProgramSweep, AnErrorMayBeItsOwnCause) {
  write(
      "try:\n    kept = torch.empty(8)\nexcept torch.cuda.OutOfMemoryError:\n"
      "    error = KeyError('x')\n    raise error from error\n");
  const ProgramResult ran = sweep({"--form", "transient"});
  EXPECT_EQ(1, ran.code) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("1 wrong_error"));
}

TEST_F(ProgramSweep, FindsStateThatAFailedStepLeavesHalfMade) {
  write(test::kHalfMadeState);
  const ProgramResult ran = sweep({"--form", "transient"});
  EXPECT_EQ(1, ran.code);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("wrong_error at nth(1)"), HasSubstr("KeyError: 'exp_avg'"),
                             HasSubstr("wrong_error at nth(2)"),
                             HasSubstr("re-run: ohm exec --one-thread --gpu tiny-64m --fault "
                                       "'nth(2)' -- python3 train.py")));
  const ProgramResult again = ohm({"exec", "--one-thread", "--gpu", "tiny-64m", "--fault", "nth(2)",
                                   "--", "python3", "train.py"});
  EXPECT_EQ(1, again.code);
  EXPECT_THAT(again.err, HasSubstr("KeyError: 'exp_avg_sq'"));
}

TEST_F(ProgramSweep, APointIsAPlaceOfTheProgramWithItsCallers) {
  write("def make():\n    return torch.empty(8)\nkept = [make(), make()]\nmore = make()\n");
  const Json variant = swept({"--points", "unique"});
  EXPECT_EQ(3, variant["calls"]);
  ASSERT_EQ(2U, variant["points"].size());  // two lines that call it: a list is one line
  EXPECT_EQ((Json{"train.py:5", "train.py:4"}), variant["points"].at(0)["stack"]);
  EXPECT_EQ(2, variant["points"].at(0)["passes"]);
  EXPECT_EQ((Json{"train.py:6", "train.py:4"}), variant["points"].at(1)["stack"]);
}

TEST_F(ProgramSweep, TellsCrashesHangsLeaksAndRecoveryApart) {
  write(R"(
import os
def tried(recover):
    try:
        return torch.empty(8)
    except torch.cuda.OutOfMemoryError:
        return recover()
kept = []
def again():
    while True:
        try:
            return torch.empty(8)
        except torch.cuda.OutOfMemoryError:
            pass
first = tried(os.abort)
second = tried(again)
third = tried(lambda: kept.append(torch.empty(8)) or torch.empty(8))
fourth = tried(lambda: sys.exit("no memory"))
)");
  const Json variant = swept({"--points", "all", "--form", "both"});
  EXPECT_EQ(
      (Json{{"crash", 2}, {"recovered_same", 1}, {"hang", 1}, {"leak", 1}, {"clean_error", 3}}),
      verdicts(variant));
  const Json& hang = variant["failed"].at(2);
  EXPECT_EQ("hang", hang["verdict"]);
  EXPECT_EQ("its requests failed 1000 times", hang["what"]);
}

TEST_F(ProgramSweep, ComparesWhatIsAskedFor) {
  write(R"(
done = 0
for step in range(3):
    try:
        kept = torch.empty(8)
        done += 1
    except torch.cuda.OutOfMemoryError:
        pass
)");
  EXPECT_EQ((Json{{"recovered_same", 3}}), verdicts(swept({"--points", "all"})));
  const Json variant = swept({"--points", "all", "--check", "done"});
  EXPECT_EQ((Json{{"recovered_different", 3}}), verdicts(variant));
  EXPECT_EQ("the checked value is 2 instead of 3", variant["failed"].at(0)["what"]);
}

TEST_F(ProgramSweep, ComparesWhatTheProgramNames) {
  write(R"(
import ohm.sweep
done = []
for step in range(3):
    try:
        kept = torch.empty(8)
        done.append(step)
    except torch.cuda.OutOfMemoryError:
        pass
    ohm.sweep.state(steps=len(done), all=["long"] * 100 + done, same=(1, 2))
)");
  for (const char* engine : {"fork", "exec"}) {
    const Json variant = swept({"--points", "all", "--form", "transient", "--engine", engine});
    EXPECT_EQ((Json{{"recovered_different", 3}}), verdicts(variant));
    EXPECT_THAT(variant["failed"].at(0)["what"].get<std::string>(),
                AllOf(HasSubstr("steps = 2 instead of all = list("), HasSubstr("steps = 3"),
                      Not(HasSubstr("same"))));
  }
}

TEST_F(ProgramSweep, OutputThatIsMissingIsABadVerdictUnlessItIsWaived) {
  write(R"(
done = 0
for item in range(4):
    try:
        torch.empty(8)
        done += 1
    except torch.cuda.OutOfMemoryError:
        pass
print("processed", done)
)");
  const std::vector<std::string> all = {"--points", "all", "--form", "transient"};
  const ProgramResult ran = sweep(all);
  EXPECT_EQ(1, ran.code);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("4 recovered_different"), HasSubstr("4 bad verdicts")));
  EXPECT_THAT(test::on_one_line(ran.out),
              HasSubstr("it ends well, and does not print \"processed 4\""));
  std::vector<std::string> waived = all;
  waived.insert(waived.end(), {"--waive", "recovered_different=an item may be left out"});
  const ProgramResult accepted = sweep(waived);
  EXPECT_EQ(0, accepted.code) << accepted.out;
  EXPECT_THAT(accepted.out, HasSubstr("every verdict is good, 4 waived by 1 waiver"));
  waived.back() = "crash=never";
  EXPECT_EQ(1, sweep(waived).code);
  for (const char* const wrong : {"recovered_same=good anyway", "nothing", "leak="}) {
    waived.back() = wrong;
    EXPECT_EQ(2, sweep(waived).code) << wrong;
  }
}

TEST_F(ProgramSweep, AnErrorThatSaysThatMemoryIsShortIsClean) {
  const auto verdicts_of = [this](const std::string& handler) {
    write("try:\n    torch.empty(8)\nexcept torch.cuda.OutOfMemoryError as error:\n    " + handler);
    return verdicts(swept({"--form", "transient"}));
  };
  const Json clean = {{"clean_error", 1}};
  EXPECT_EQ(clean, verdicts_of("raise RuntimeError('out of memory: use a smaller batch')"));
  EXPECT_EQ(clean, verdicts_of("raise ValueError('OOM at batch 3') from None"));
  EXPECT_EQ(clean, verdicts_of("raise ValueError('use a smaller batch') from error"));
  const Json wrong = {{"wrong_error", 1}};
  EXPECT_EQ(wrong, verdicts_of("raise ValueError('no such batch')"));
  EXPECT_EQ(wrong, verdicts_of("{}['out of memory'.upper()[:2]]"));
}

TEST_F(ProgramSweep, CountsRequestsThatAreMadeAgain) {
  write(R"(
for step in range(3):
    try:
        torch.empty(8)
    except torch.cuda.OutOfMemoryError:
        torch.empty(8)
)");
  EXPECT_EQ(3, swept({"--points", "all", "--form", "transient"})["repeated_calls"]);
}

TEST_F(ProgramSweep, AProgramThatEndsAtOnceHasHadItsFault) {
  write(R"(
import os
try:
    torch.empty(8)
except torch.cuda.OutOfMemoryError:
    os._exit(3)
)");
  for (const char* engine : {"fork", "exec"}) {
    EXPECT_EQ((Json{{"clean_error", 1}}),
              verdicts(swept({"--form", "transient", "--engine", engine})));
  }
}

TEST_F(ProgramSweep, StateThatIsNotReachedIsAnother) {
  write(R"(
import ohm.sweep
try:
    kept = torch.empty(8)
    ohm.sweep.state(is_done=True)
except torch.cuda.OutOfMemoryError:
    pass
)");
  EXPECT_EQ("the checked value is nothing instead of is_done = True",
            swept({"--form", "transient"})["failed"].at(0)["what"]);
}

}  // namespace
}  // namespace ohm
