// What ohm sweep says of Python programs beside the verdicts: what recoveries leave out, what runs
// leave behind, what they ask the network for, and where bugs are.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "tests/harness/program/program_sweep.h"

namespace ohm {
namespace {

using test::ProgramResult;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using ProgramSweepReport = test::ProgramSweepTest;

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

TEST_F(ProgramSweepReport, SaysOfRecoveriesThatNothingChecksWhatTheyDoOtherwise) {
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

TEST_F(ProgramSweepReport, SaysWhereAFailedAttemptIsKeptAliveWhileItIsMadeAgain) {
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

TEST_F(ProgramSweepReport, SaysWhereRunsDifferAndWhatTheyLeave) {
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

TEST_F(ProgramSweepReport, SaysThatACommandAsksTheNetwork) {
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

TEST_F(ProgramSweepReport, SaysThatACommandOfHostMemoryAsksTheNetwork) {
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

TEST_F(ProgramSweepReport, ListsTheBugsOfAScriptAndCountsThoseOfItsInterpreter) {
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

}  // namespace
}  // namespace ohm
