// What ohm sweep finds in Python programs. PyTorch is stood in for by
// tests/harness/support/stand_in_torch, of which each tensor is a segment of the virtual GPU.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

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

TEST_F(ProgramSweep, AnErrorMayBeItsOwnCause) {
  write(
      "try:\n    kept = torch.empty(8)\nexcept torch.cuda.OutOfMemoryError:\n"
      "    error = KeyError('x')\n    raise error from error\n");
  const ProgramResult ran = sweep({"--form", "transient"});
  EXPECT_EQ(1, ran.code) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("1 wrong_error"));
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

struct Handler {
  const char* name;
  const char* of_one_step;  ///< three of them, `step` each
  std::vector<std::string> notes;
};

std::vector<Handler> handlers() {
  const std::string decides = "--check EXPR or ohm.sweep.state() decides whether the work was done";
  const std::string less = "3 of 3 recoveries were granted fewer requests (the first: nth(1))";
  return {
      {"ends at once",
       R"(
    try:
        torch.empty(8)
    except torch.cuda.OutOfMemoryError:
        import os
        os._exit(0)
)",
       {less, decides}},
      {"loses a batch",
       R"(
    try:
        torch.empty(8)
    except torch.cuda.OutOfMemoryError:
        continue
)",
       {less, decides}},
      {"tries again",
       R"(
    try:
        torch.empty(8)
    except torch.cuda.OutOfMemoryError:
        torch.empty(8)
    print("step", step)
)",
       {}},
      {"tries again and says so",
       R"(
    try:
        torch.empty(8)
    except torch.cuda.OutOfMemoryError:
        print("trying again")
        torch.empty(8)
    print("step", step)
)",
       {}},
      {"prints the time",
       R"(
    import time
    print(time.monotonic_ns())
    try:
        torch.empty(8)
    except torch.cuda.OutOfMemoryError:
        torch.empty(8)
)",
       {}},
      {"names what counts",
       R"(
    import ohm.sweep
    ohm.sweep.state(step=step)
    try:
        torch.empty(8)
    except torch.cuda.OutOfMemoryError:
        print("left out")
)",
       {}},
  };
}

TEST_F(ProgramSweep, SaysOfRecoveriesThatNothingChecksWhatTheyDoOtherwise) {
  const auto expect_note = [&](const Handler& handler, const std::string& engine) {
    SCOPED_TRACE(std::string(handler.name) + ", " + engine);
    write(std::string("for step in range(3):") + handler.of_one_step);
    const ProgramResult ran = sweep({"--points", "all", "--form", "transient", "--engine", engine});
    EXPECT_EQ(0, ran.code) << ran.out;
    EXPECT_THAT(ran.out, HasSubstr("3 faults of 3 calls at 1 point: 3 recovered_same"));
    EXPECT_EQ("", ran.err);
    for (const std::string& note : handler.notes) EXPECT_THAT(ran.out, HasSubstr(note + "\n"));
    const auto lines = static_cast<std::size_t>(std::count(ran.out.begin(), ran.out.end(), '\n'));
    EXPECT_EQ(7 + handler.notes.size(), lines) << ran.out;
  };
  for (const Handler& handler : handlers()) expect_note(handler, "fork");
  expect_note(handlers().front(), "exec");
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

TEST_F(ProgramSweep, SaysWhereAFailedAttemptIsKeptAliveWhileItIsMadeAgain) {
  const std::string attempt = R"(
def attempt():
    small = torch.empty(1 << 21)
    return small, torch.empty(1 << 22)
)";
  write(attempt + R"(
try:
    attempt()
except torch.cuda.OutOfMemoryError:
    attempt()
)");
  const ProgramResult inside = sweep({"--points", "all", "--form", "transient"});
  EXPECT_THAT(inside.out, HasSubstr("2 recovered_same"));
  EXPECT_THAT(inside.out,
              HasSubstr("1 of 2 recoveries had more allocated on retry than at the failure, "
                        "perhaps because the failed\n      attempt is still alive (the most: 2.00 "
                        "MiB at nth(2))\n"));
  write(attempt + R"(
failed = False
try:
    attempt()
except torch.cuda.OutOfMemoryError:
    failed = True
if failed:
    attempt()
)");
  EXPECT_THAT(sweep({"--points", "all", "--form", "transient"}).out, Not(HasSubstr("recoveries")));
  // What two halves leave behind, one after the other, may be more.
  write(R"(
kept = []
def attempt(parts):
    for _ in range(parts):
        torch.empty((1 << 22) // parts)
        kept.append(torch.empty(1 << 21))
failed = False
try:
    attempt(1)
except torch.cuda.OutOfMemoryError:
    failed = True
if failed:
    attempt(2)
kept.clear()
)");
  EXPECT_THAT(sweep({"--points", "all", "--form", "transient"}).out, Not(HasSubstr("recoveries")));
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

TEST_F(ProgramSweep, AModuleOfTheProgramKeepsItsName) {
  folder_.write("ohm.py", "resistance = 50\n");
  write("import ohm\nassert ohm.resistance == 50\ntorch.empty(8)\n");
  EXPECT_EQ(0, sweep().code);
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

// A socket that is closed sends nothing: only the call is seen.
constexpr const char* kAsksTheNetwork = R"(
import socket
def ask(address, kind=socket.SOCK_STREAM):
    asking = socket.socket(type=kind)
    asking.close()
    try:
        asking.connect((address, 9))
    except OSError:
        pass
)";

TEST_F(ProgramSweep, SaysThatACommandAsksTheNetwork) {
  const std::string asks = kAsksTheNetwork;
  write(asks + "ask('192.0.2.1')\nask('192.0.2.2')\ntorch.empty(8)\n");
  const ProgramResult ran = sweep();
  EXPECT_EQ(0, ran.code) << ran.out;
  EXPECT_THAT(ran.err, HasSubstr("the command opens a network connection (to 192.0.2.1)"));
  write(asks + "ask('192.0.2.1')\ntorch.empty(8)\nraise OSError('unreachable')\n");
  EXPECT_THAT(sweep().out, HasSubstr("it opens a network connection to 192.0.2.1"));
  write(asks + "ask('127.0.0.1')\nask('192.0.2.1', socket.SOCK_DGRAM)\ntorch.empty(8)\n");
  EXPECT_THAT(sweep().err, Not(HasSubstr("network")));
}

TEST_F(ProgramSweep, SaysThatACommandOfHostMemoryAsksTheNetwork) {
  const auto swept = [&](const std::string& last) {
    folder_.write("ask.py", kAsksTheNetwork + last);
    return ohm({"sweep", "--memory", "host", "--points", "sample=1", "--form", "transient", "--",
                "/usr/bin/python3", "ask.py"});
  };
  EXPECT_THAT(swept("ask('192.0.2.1')\nask('192.0.2.2')\n").err,
              HasSubstr("the command opens a network connection (to 192.0.2.1)"));
  EXPECT_THAT(swept("ask('192.0.2.1')\nraise OSError('unreachable')\n").out,
              HasSubstr("it opens a network connection to 192.0.2.1"));
  EXPECT_THAT(swept("ask('127.0.0.1')\nask('0.0.0.0')\nsocket.getaddrinfo('localhost', 9)\n").err,
              Not(HasSubstr("network")));
}

TEST_F(ProgramSweep, ListsTheBugsOfAScriptAndCountsThoseOfItsInterpreter) {
  setenv("PYTHONHASHSEED", "0", 1);
  folder_.write("rows.py",
                "def load(count):\n"
                "    rows = []\n"
                "    for _ in range(count):\n"
                "        try:\n"
                "            rows.append(bytearray(200_000))\n"
                "        except MemoryError:\n"
                "            pass\n"
                "    return rows\n"
                "print('loaded', len(load(3)))\n");
  const ProgramResult ran = ohm({"sweep", "--memory", "host", "--points", "unique", "--",
                                 "/usr/bin/python3", "-S", "rows.py"});
  unsetenv("PYTHONHASHSEED");
  EXPECT_EQ(1, ran.code);
  EXPECT_THAT(ran.out, HasSubstr("rows.py:5\n"));
  EXPECT_THAT(ran.out, HasSubstr("rows.py:9 in <module>\n"));
  EXPECT_THAT(ran.out, HasSubstr("rows.py:5 in load\n"));
  EXPECT_THAT(ran.out, HasSubstr(" itself; the script cannot prevent them: "));
  EXPECT_THAT(ran.out, HasSubstr("\n1 bad verdict, "));
  EXPECT_THAT(ran.out, HasSubstr(" more in the interpreter itself, not counted\n"));
  EXPECT_THAT(ran.out, Not(HasSubstr("crash at")));
}

TEST_F(ProgramSweep, ACommandThatFailsWithoutFaultsIsNotSwept) {
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
TEST_F(ProgramSweep, ACommandThatFailsBeforeItUsesCudaSaysWhy) {
  write("import os\nif 'OHM_GPU' not in os.environ: raise OSError('no CUDA')\nmissing\n");
  const ProgramResult ran = ohm({"sweep", "--", "python3", "train.py"});
  EXPECT_EQ(3, ran.code);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("exit status 1: NameError"), Not(HasSubstr("no CUDA"))));
}

TEST_F(ProgramSweep, BothEnginesWriteTheSameReport) {
  write(kHalfMadeState);
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

TEST_F(ProgramSweep, RunsThatLeaveFilesAreNotSideBySide) {
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

TEST_F(ProgramSweep, RunsThatAreInterruptedHaveNoVerdicts) {
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

TEST_F(ProgramSweep, ShardsAddUpToTheWhole) {
  for (const char* const program : {kHalfMadeState, kSilentRecovery}) {
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

TEST_F(ProgramSweep, KilledAndResumedItEndsWithTheSameBytes) {
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

TEST_F(ProgramSweep, OptionsOfScenariosAndOfCommandsAreToldApart) {
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
