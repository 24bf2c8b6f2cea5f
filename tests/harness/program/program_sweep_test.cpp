// What ohm sweep finds in Python programs. PyTorch is stood in for by
// tests/harness/support/stand_in_torch, of which each tensor is a segment of the virtual GPU.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/harness/program/program_test.h"

namespace ohm {
namespace {

using Json = nlohmann::json;
using test::ProgramResult;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ProgramSweep : public test::ProgramTest {
 protected:
  ProgramSweep() {
    ::setenv("PYTHONDONTWRITEBYTECODE", "1", 1);  // nothing into the tree of the sources
  }

  /// Two lines find the stand-in; the program's first is the third.
  void write(const std::string& body) {
    folder_.write("train.py", "import sys; sys.path.insert(0, '" OHM_STAND_IN_TORCH
                              "')\nimport torch\n" +
                                  body);
  }
  ProgramResult sweep(std::vector<std::string> options = {}) {
    options.insert(options.begin(), {"sweep", "--gpu", "tiny-64m", "--level", "segment"});
    options.insert(options.end(), {"--", "python3", "train.py"});
    return ohm(options);
  }
  /// Of the only variant.
  Json swept(std::vector<std::string> options = {}) {
    options.emplace_back("--json");
    return Json::parse(sweep(options).out)["scenarios"].at(0)["variants"].at(0);
  }
  /// How many faults got which verdict, without those that none got.
  static Json verdicts(const Json& variant) {
    Json found = Json::object();
    for (const auto& [verdict, count] : variant["verdicts"].items()) {
      if (count != 0) found[verdict] = count;
    }
    return found;
  }
};

/// State is made in two pieces, and taken for whole when it is there.
constexpr const char* kHalfMadeState = R"(
state = {}
def step():
    if not state:
        state["step"] = 0
        state["exp_avg"] = torch.empty(8)
        state["exp_avg_sq"] = torch.empty(8)
    state["exp_avg"], state["exp_avg_sq"]
try:
    step()
except torch.cuda.OutOfMemoryError:
    pass
step()
)";

TEST_F(ProgramSweep, AnErrorThatLeavesTheProgramIsClean) {
  write("kept = [torch.empty(8) for _ in range(3)]\n");
  const ProgramResult ran = sweep({"--points", "all"});
  EXPECT_EQ(0, ran.code) << ran.out << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("3 faults of 3 calls at 1 point: 3 clean_error"),
                             HasSubstr("every verdict is good")));
}

TEST_F(ProgramSweep, FindsStateThatAFailedStepLeavesHalfMade) {
  write(kHalfMadeState);
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
  EXPECT_EQ("what is checked is 2 instead of 3", variant["failed"].at(0)["what"]);
}

TEST_F(ProgramSweep, SaysWhereRunsDifferAndWhatTheyLeave) {
  write(R"(
import os
name = f"log-{len(os.listdir())}"
open(name, "w").close()
kept = [torch.empty(8) for _ in range(len(os.listdir()))]
)");
  const ProgramResult ran = sweep();
  EXPECT_EQ(1, ran.code);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("nondeterministic"), HasSubstr("the first that only one")));
  EXPECT_THAT(ran.err, HasSubstr("files changed in this folder while the command ran (log-"));
  const auto files = [this] {
    return std::distance(std::filesystem::directory_iterator(folder_.path()),
                         std::filesystem::directory_iterator());
  };
  const auto before = files();
  EXPECT_EQ(0, sweep({"--scratch"}).code);  // each run finds the same
  EXPECT_EQ(before, files());
}

TEST_F(ProgramSweep, ACommandThatFailsWithoutFaultsIsNotSwept) {
  write("torch.empty(8)\nraise ValueError('of its own')\n");
  const ProgramResult ran = sweep();
  EXPECT_EQ(3, ran.code);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("exit status 1"), HasSubstr("ValueError: of its own")));
  write("torch.empty(8)\ninput()\n");
  EXPECT_THAT(sweep().out, HasSubstr("standard input, which is empty"));
  write("print('no GPU')\n");
  EXPECT_THAT(sweep().out, HasSubstr("no process of the command used CUDA"));
  write("torch.empty(8)\n");
  EXPECT_THAT(sweep({"--check", "missing"}).out, HasSubstr("--check: NameError"));
}

TEST_F(ProgramSweep, BothEnginesWriteTheSameReport) {
  write(kHalfMadeState);
  const std::vector<std::string> all = {"--points", "all", "--form", "both", "--json"};
  const auto with = [&](const std::string& engine) {
    std::vector<std::string> options = all;
    options.insert(options.end(), {"--engine", engine});
    return sweep(options).out;
  };
  EXPECT_EQ(with("exec"), with("fork"));
}

TEST_F(ProgramSweep, ShardsAddUpToTheWhole) {
  write(kHalfMadeState);
  sweep({"--report", "json=whole.json"});
  sweep({"--report", "json=1.json", "--shard", "1/2"});
  sweep({"--report", "json=2.json", "--shard", "2/2"});
  const ProgramResult merged = ohm({"merge", "1.json", "2.json", "-o", "merged.json"});
  EXPECT_EQ("", merged.err);
  EXPECT_EQ(test::read_file(file("whole.json")), test::read_file(file("merged.json")));
}

TEST_F(ProgramSweep, OptionsOfScenariosAndOfCommandsAreToldApart) {
  write("torch.empty(8)\n");
  const ProgramResult role = sweep({"--role", "problem"});
  EXPECT_EQ(2, role.code);
  EXPECT_THAT(role.err, HasSubstr("--role: is for scenarios, and a command comes after --"));
  EXPECT_THAT(ohm({"sweep", "--scratch", "x.lua"}).err, HasSubstr("are for a command"));
  EXPECT_THAT(sweep({"--gpu", "cuda"}).err, Not(HasSubstr("internal error")));
}

}  // namespace
}  // namespace ohm
