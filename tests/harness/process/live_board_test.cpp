#include "harness/process/live_board.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

namespace ohm::engine {
namespace {

TEST(LiveBoard, ShowsWhatAnotherProcessAllocates) {
  LiveBoard board;
  int done[2] = {};
  ASSERT_EQ(::pipe(done), 0);
  const pid_t worker = ::fork();
  if (worker == 0) {
    LiveEntry entry(board, "leak.kept");
    entry.set_capacity(0, 64);
    for (const std::int64_t bytes : {10, 30, 20}) entry.note(0, bytes);
    if (::write(done[1], "x", 1) != 1) ::_exit(1);
    ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(done[0], &byte, 1), 1);
  const std::vector<LiveVariant> running = board.running();
  ASSERT_EQ(running.size(), 1U);
  EXPECT_EQ(running[0].name, "leak.kept");
  ASSERT_EQ(running[0].gpus.size(), 1U);
  EXPECT_EQ(running[0].gpus[0].allocated_bytes, 20);
  EXPECT_EQ(running[0].gpus[0].peak_bytes, 30);
  EXPECT_EQ(running[0].gpus[0].capacity_bytes, 64);
  EXPECT_EQ(running[0].gpus[0].history, (std::vector<std::int64_t>{10, 30, 20}));
  ::kill(worker, SIGKILL);
  ::waitpid(worker, nullptr, 0);
  EXPECT_TRUE(board.running().empty());
  ::close(done[0]);
  ::close(done[1]);
}

TEST(LiveBoard, KeepsTheWholeRunInAFewStretches) {
  LiveBoard board;
  LiveEntry entry(board, "long");
  entry.set_capacity(0, 1 << 20);
  for (std::int64_t i = 1; i <= 1000; ++i) entry.note(0, i);
  const std::vector<std::int64_t> history = board.running().at(0).gpus.at(0).history;
  EXPECT_LE(history.size(), LiveBoard::kHistory);
  EXPECT_GE(history.size(), LiveBoard::kHistory / 2);
  EXPECT_TRUE(std::is_sorted(history.begin(), history.end()));
  EXPECT_EQ(history.back(), 1000);
}

TEST(LiveBoard, PlacesAreUsedAgainAndNoMoreAreTaken) {
  LiveBoard board;
  for (int round = 0; round < 3; ++round) {
    std::vector<std::unique_ptr<LiveEntry>> entries;
    for (std::size_t i = 0; i < LiveBoard::kVariants + 2; ++i) {
      entries.push_back(std::make_unique<LiveEntry>(board, std::string(200, 'x')));
      entries.back()->set_capacity(LiveBoard::kGpus, 1);
      entries.back()->note(0, 1);
    }
    EXPECT_EQ(board.running().size(), LiveBoard::kVariants);
  }
  EXPECT_TRUE(board.running().empty());
}

}  // namespace
}  // namespace ohm::engine
