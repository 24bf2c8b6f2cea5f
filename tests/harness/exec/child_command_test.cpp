#include "harness/exec/child_command.h"

#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

#include "tests/support/temp_folder.h"

namespace ohm::engine {
namespace {

class CommandsInAFolder : public testing::Test {
 protected:
  ChildCommand shell(const std::string& script) const {
    ChildCommand command;
    command.path = "/bin/sh";
    command.words = {"sh", "-c", script};
    command.folder = folder_.path();
    constexpr double kLongEnough = 30;
    command.timeout_seconds = kLongEnough;
    return command;
  }

  test::TempFolder folder_;
  CommandRunner runner_;
};

TEST_F(CommandsInAFolder, RunBesideEachOther) {
  std::vector<int> statuses(3, -1);
  CommandBatch batch;
  batch.count = 3;
  batch.jobs = 2;
  // The first waits for the last, which can start when the second has ended.
  const std::vector<std::string> scripts = {"until [ -e third ]; do :; done; exit 1", "exit 2",
                                            "touch third; exit 3"};
  batch.command = [&](std::size_t number) { return shell(scripts[number]); };
  batch.on_end = [&](std::size_t number, const CommandEnd& end) { statuses[number] = end.status; };
  runner_.run_each(batch);
  EXPECT_EQ((std::vector<int>{1, 2, 3}), statuses);
}

TEST_F(CommandsInAFolder, AreNoMoreAtATimeThanAsked) {
  CommandBatch batch;
  batch.count = 4;
  batch.jobs = 1;
  batch.command = [&](std::size_t /*number*/) { return shell("mkdir alone && rmdir alone"); };
  int failed = 0;
  batch.on_end = [&](std::size_t /*number*/, const CommandEnd& end) { failed += end.status; };
  runner_.run_each(batch);
  EXPECT_EQ(0, failed);
}

TEST_F(CommandsInAFolder, AreKilledEachAtItsOwnTime) {
  std::vector<bool> overdue(2);
  CommandBatch batch;
  batch.count = 2;
  batch.jobs = 2;
  batch.command = [&](std::size_t number) {
    ChildCommand command = shell(number == 0 ? "while :; do :; done" : "exit 0");
    if (number == 0) command.timeout_seconds = 0.2;
    return command;
  };
  batch.on_end = [&](std::size_t number, const CommandEnd& end) {
    overdue[number] = end.is_overdue;
  };
  runner_.run_each(batch);
  EXPECT_TRUE(overdue[0]);
  EXPECT_FALSE(overdue[1]);
}

TEST_F(CommandsInAFolder, EndWithTheSignalThatThisProgramIsSent) {
  std::size_t started = 0;
  std::size_t told = 0;
  CommandBatch batch;
  batch.count = 10;
  batch.jobs = 2;
  // What the second is sent itself ends it, and the first, which has no other end.
  batch.command = [&](std::size_t number) {
    ++started;
    return shell(number == 0 ? "while :; do :; done" : "kill -TERM $PPID; while :; do :; done");
  };
  batch.on_end = [&](std::size_t /*number*/, const CommandEnd& /*end*/) { ++told; };
  try {
    runner_.run_each(batch);
    FAIL() << "it was not interrupted";
  } catch (const CommandInterrupted& interrupted) {
    EXPECT_EQ(SIGTERM, interrupted.signal());
  }
  EXPECT_EQ(2U, started);
  EXPECT_EQ(0U, told);
}

TEST_F(CommandsInAFolder, ThatCannotBeStartedEndsTheOthers) {
  CommandBatch batch;
  batch.count = 2;
  batch.jobs = 2;
  batch.command = [&](std::size_t number) {
    ChildCommand command = shell("while :; do :; done");
    if (number == 1) command.path = folder_.path() / "none";
    return command;
  };
  batch.on_end = [](std::size_t /*number*/, const CommandEnd& /*end*/) {};
  EXPECT_THROW(runner_.run_each(batch), std::invalid_argument);
}

}  // namespace
}  // namespace ohm::engine
