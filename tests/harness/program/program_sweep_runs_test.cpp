// How ohm sweep runs Python programs: which commands it takes, engines and jobs, shards, and runs
// that are interrupted and resumed.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
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

using ProgramSweepRuns = test::ProgramSweepTest;

TEST_F(ProgramSweepRuns, AModuleOfTheProgramKeepsItsName) {
  folder_.write("ohm.py", "resistance = 50\n");
  write("import ohm\nassert ohm.resistance == 50\ntorch.empty(8)\n");
  EXPECT_EQ(0, sweep().code);
}

TEST_F(ProgramSweepRuns, ACommandThatFailsWithoutFaultsIsNotSwept) {
  write("torch.empty(8)\nraise ValueError('of its own')\n");
  const ProgramResult ran = sweep();
  EXPECT_EQ(3, ran.code);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("exit status 1"), HasSubstr("ValueError: of its own")));
  write("torch.empty(8)\nsys.exit(3)\n");
  EXPECT_THAT(sweep().out, HasSubstr("the command fails without faults: exit status 3\n"));
  write("torch.empty(8)\ninput()\n");
  EXPECT_THAT(sweep().out, HasSubstr("standard input, which is empty"));
  write("print('no GPU')\n");
  EXPECT_THAT(sweep().out, HasSubstr("no process of the command used CUDA"));
  write("torch.empty(8)\n");
  EXPECT_THAT(sweep({"--check", "missing"}).out, HasSubstr("--check: NameError"));
}

// Which memory fails is found out on virtual GPUs: without them it fails for want of them.
TEST_F(ProgramSweepRuns, ACommandThatFailsBeforeItUsesCudaSaysWhy) {
  write("import os\nif 'OHM_GPU' not in os.environ: raise OSError('no CUDA')\nmissing\n");
  const ProgramResult ran = ohm({"sweep", "--", "python3", "train.py"});
  EXPECT_EQ(3, ran.code);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("exit status 1: NameError"), Not(HasSubstr("no CUDA"))));
}

TEST_F(ProgramSweepRuns, BothEnginesWriteTheSameReport) {
  write(test::kHalfMadeState);
  const std::vector<std::string> all = {"--points", "all", "--form", "both", "--json"};
  const auto with = [&](const std::string& engine, const std::string& jobs) {
    std::vector<std::string> options = all;
    options.insert(options.end(), {"--engine", engine, "-j", jobs});
    return sweep(options).out;
  };
  const std::string one_after_the_other = with("exec", "1");
  EXPECT_EQ(one_after_the_other, with("fork", "2"));
  EXPECT_EQ(one_after_the_other, with("exec", "4"));
}

TEST_F(ProgramSweepRuns, RunsThatLeaveFilesAreNotSideBySide) {
  write(R"(
import os
os.mkdir("at_work")
try:
    for _ in range(4): torch.empty(8)
finally:
    os.rmdir("at_work")
    open("log", "a").write("done\n")
)");
  const ProgramResult swept = sweep({"--points", "all", "--engine", "exec", "-j", "4"});
  EXPECT_EQ(0, swept.code) << swept.out;
  EXPECT_THAT(swept.err,
              AllOf(HasSubstr("files changed in this folder"), Not(HasSubstr("does otherwise"))));
}

TEST_F(ProgramSweepRuns, RunsThatAreInterruptedHaveNoVerdicts) {
  for (const int signal : {SIGTERM, SIGINT, SIGQUIT, SIGHUP}) {
    write(fmt::format(R"(
import os, signal
try:
    for _ in range(4): torch.empty(8)
except torch.cuda.OutOfMemoryError:
    os.kill(os.getppid(), {})
    signal.pause()
)",
                      signal));
    const ProgramResult interrupted = sweep({"--points", "all", "--form", "transient", "--engine",
                                             "exec", "-j", "2", "--report", "json=some.json"});
    EXPECT_EQ(128 + signal, interrupted.code);
    EXPECT_THAT(interrupted.out, Not(HasSubstr("every verdict is good")));
    const Json variant =
        Json::parse(test::read_file(file("some.json")))["scenarios"].at(0)["variants"].at(0);
    EXPECT_EQ(0, variant["faults"]);
    EXPECT_EQ(4, variant["untested"]);
  }
}

/// Each recovery leaves its work out.
constexpr const char* kSilentRecovery = R"(
for step in range(4):
    try:
        torch.empty(8)
    except torch.cuda.OutOfMemoryError:
        pass
    print("step", step)
)";

TEST_F(ProgramSweepRuns, ShardsAddUpToTheWhole) {
  for (const char* const program : {test::kHalfMadeState, kSilentRecovery}) {
    write(program);
    const ProgramResult whole = sweep({"--points", "all", "--json"});
    sweep({"--points", "all", "--report", "json=1.json", "--shard", "1/3"});
    sweep({"--points", "all", "--report", "json=2.json", "--shard", "2/3"});
    sweep({"--points", "all", "--report", "json=3.json", "--shard", "3/3"});
    const ProgramResult merged = ohm({"merge", "3.json", "1.json", "2.json"});
    EXPECT_EQ("", merged.err);
    EXPECT_EQ(whole.out, merged.out);
  }
  EXPECT_EQ(1U, swept({"--points", "all"})["notes"].size());
}

TEST_F(ProgramSweepRuns, KilledAndResumedItEndsWithTheSameBytes) {
  write(std::string("import time\n") + kSilentRecovery + "    time.sleep(0.02)\n");
  const std::vector<std::string> all = {"--points", "all", "--form", "both", "--json", "-j", "1"};
  const auto with = [&](std::vector<std::string> options) {
    options.insert(options.begin(), all.begin(), all.end());
    return sweep(options);
  };
  const ProgramResult whole = with({});
  std::vector<std::string> words = {"sweep", "--gpu", "tiny-64m", "--level", "segment"};
  words.insert(words.end(), all.begin(), all.end());
  words.insert(words.end(), {"--resume", "known", "--", "python3", "train.py"});
  const auto lines_kept = [this] {
    const std::string known = test::read_file(file("known"));
    return std::count(known.begin(), known.end(), '\n');
  };
  for (const std::ptrdiff_t lines : {2, 5}) {
    test::Program program(folder_.path().string(), words);
    program.wait_until([&] { return lines_kept() >= lines; });
    program.send(SIGKILL);
    program.wait();
  }
  const ProgramResult resumed = with({"--resume", "known"});
  EXPECT_EQ(whole.out, resumed.out);
  EXPECT_EQ(whole.code, resumed.code);
  // The file in which it is kept is not a change that the program makes.
  EXPECT_EQ("", resumed.err);
  // All is known, and nothing is failed again.
  const auto lines = lines_kept();
  EXPECT_EQ(whole.out, with({"--resume", "known"}).out);
  EXPECT_EQ(lines, lines_kept());
  const ProgramResult other = with({"--resume", "known", "--check", "step"});
  EXPECT_EQ(2, other.code);
  EXPECT_THAT(other.err, HasSubstr("of other work"));
}

TEST_F(ProgramSweepRuns, OptionsOfScenariosAndOfCommandsAreToldApart) {
  write("torch.empty(8)\n");
  const ProgramResult role = sweep({"--role", "problem"});
  EXPECT_EQ(2, role.code);
  EXPECT_THAT(role.err, HasSubstr("--role: applies to scenarios, not to a command after --"));
  EXPECT_THAT(ohm({"sweep", "--scratch", "x.lua"}).err, HasSubstr("require a command"));
  EXPECT_THAT(ohm({"sweep", "--"}).err, HasSubstr("as in: ohm sweep -- python train.py"));
  EXPECT_THAT(sweep({"--gpu", "cuda"}).err, Not(HasSubstr("internal error")));
}

}  // namespace
}  // namespace ohm
