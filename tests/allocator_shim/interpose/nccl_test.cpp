// Ranks of NCCL: threads of this process, and processes.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "tests/allocator_shim/interpose/client.h"

namespace ohm::interpose {
namespace {

constexpr const char* kNccl = "libnccl.so.2";
constexpr int kSystemError = 2;
constexpr int kInvalidArgument = 4;
constexpr int kRemoteError = 6;
constexpr int kInt64 = 4;
constexpr int kFloat = 7;
constexpr int kSum = 0;
constexpr int kMaximum = 2;

using Numbers = std::vector<std::int64_t>;

struct UniqueId {
  std::array<char, 128> bytes = {};
};

UniqueId unique_id() {
  UniqueId id;
  EXPECT_EQ(function<int(UniqueId*)>(kNccl, "ncclGetUniqueId")(&id), kSuccess);
  return id;
}

/// A rank, with NCCL's calls on its communicator.
class Rank {
 public:
  Rank(const UniqueId& id, int ranks, int rank) {
    status_ = function<int(void**, int, UniqueId, int)>(kNccl, "ncclCommInitRank")(&communicator_,
                                                                                   ranks, id, rank);
  }
  explicit Rank(void* communicator) : communicator_(communicator) {}
  ~Rank() {
    if (communicator_ != nullptr) function<int(void*)>(kNccl, "ncclCommDestroy")(communicator_);
  }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  int status() const { return status_; }

  int all_reduce(const void* from, void* to, std::size_t count, int type, int operation) const {
    return function<int(const void*, void*, std::size_t, int, int, void*, void*)>(
        kNccl, "ncclAllReduce")(from, to, count, type, operation, communicator_, nullptr);
  }
  int reduce_scatter(const Numbers& from, Numbers& to) const {
    return function<int(const void*, void*, std::size_t, int, int, void*, void*)>(
        kNccl, "ncclReduceScatter")(from.data(), to.data(), to.size(), kInt64, kSum, communicator_,
                                    nullptr);
  }
  int all_gather(const Numbers& from, Numbers& to) const {
    return function<int(const void*, void*, std::size_t, int, void*, void*)>(
        kNccl, "ncclAllGather")(from.data(), to.data(), from.size(), kInt64, communicator_,
                                nullptr);
  }
  int broadcast(Numbers& numbers, int root) const {
    return function<int(const void*, void*, std::size_t, int, int, void*, void*)>(
        kNccl, "ncclBroadcast")(numbers.data(), numbers.data(), numbers.size(), kInt64, root,
                                communicator_, nullptr);
  }
  int send(const Numbers& numbers, int to) const {
    return function<int(const void*, std::size_t, int, int, void*, void*)>(kNccl, "ncclSend")(
        numbers.data(), numbers.size(), kInt64, to, communicator_, nullptr);
  }
  int receive(Numbers& numbers, int from) const {
    return function<int(void*, std::size_t, int, int, void*, void*)>(kNccl, "ncclRecv")(
        numbers.data(), numbers.size(), kInt64, from, communicator_, nullptr);
  }
  void abort() const { function<int(void*)>(kNccl, "ncclCommAbort")(communicator_); }
  void* split(int color, int key) const {
    void* part = nullptr;
    EXPECT_EQ((function<int(void*, int, int, void**, void*)>(kNccl, "ncclCommSplit")(
                  communicator_, color, key, &part, nullptr)),
              kSuccess);
    return part;
  }

 private:
  void* communicator_ = nullptr;
  int status_ = kSuccess;
};

/// Each rank a thread.
void with_ranks(int ranks, const std::function<void(const Rank& own, int rank)>& body) {
  const UniqueId id = unique_id();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      const Rank own(id, ranks, rank);
      ASSERT_EQ(own.status(), kSuccess);
      body(own, rank);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(VirtualNccl, ReducesWhatAllRanksHave) {
  with_ranks(3, [](const Rank& own, int rank) {
    const Numbers from = {rank, 10 * rank};
    Numbers to(2);
    EXPECT_EQ(own.all_reduce(from.data(), to.data(), 2, kInt64, kSum), kSuccess);
    EXPECT_EQ(to, (Numbers{3, 30}));
    EXPECT_EQ(own.all_reduce(from.data(), to.data(), 2, kInt64, kMaximum), kSuccess);
    EXPECT_EQ(to, (Numbers{2, 20}));
    float value = 0.5F;
    EXPECT_EQ(own.all_reduce(&value, &value, 1, kFloat, kSum), kSuccess);
    EXPECT_EQ(value, 1.5F) << "in place";
    Numbers part(1);
    EXPECT_EQ(own.reduce_scatter({1, 2, 3}, part), kSuccess);
    EXPECT_EQ(part, Numbers{3 * (rank + 1)});
  });
}

TEST(VirtualNccl, MovesWhatRanksSend) {
  with_ranks(2, [](const Rank& own, int rank) {
    Numbers all(2);
    EXPECT_EQ(own.all_gather({rank + 7}, all), kSuccess);
    EXPECT_EQ(all, (Numbers{7, 8}));
    Numbers word = {rank};
    EXPECT_EQ(own.broadcast(word, 1), kSuccess);
    EXPECT_EQ(word, Numbers{1});
    // Both send first: within a group nobody waits for the other.
    const Numbers given = {rank + 5};
    Numbers got(1);
    function<int()>(kNccl, "ncclGroupStart")();
    EXPECT_EQ(own.receive(got, 1 - rank), kSuccess);
    EXPECT_EQ(own.send(given, 1 - rank), kSuccess);
    EXPECT_EQ(function<int()>(kNccl, "ncclGroupEnd")(), kSuccess);
    EXPECT_EQ(got, Numbers{1 - rank + 5});
    EXPECT_EQ(own.send(given, rank), kSuccess);
    EXPECT_EQ(own.receive(got, rank), kSuccess);
    EXPECT_EQ(got, given) << "to itself";
  });
}

TEST(VirtualNccl, SplitsRanksByColorInTheOrderOfTheirKeys) {
  with_ranks(4, [](const Rank& own, int rank) {
    const Rank part(own.split(rank % 2, -rank));
    Numbers members(2);
    EXPECT_EQ(part.all_gather({rank}, members), kSuccess);
    EXPECT_EQ(members, (Numbers{rank % 2 + 2, rank % 2}));
    constexpr int kNoColor = -1;
    EXPECT_EQ(own.split(kNoColor, 0), nullptr);
  });
}

TEST(VirtualNccl, ManyPartsComeInTheirOrder) {
  with_ranks(2, [](const Rank& own, int rank) {
    constexpr int kRounds = 40;
    for (int round = 0; round < kRounds; ++round) {
      Numbers numbers(100'000, rank == round % 2 ? round : -1);
      ASSERT_EQ(own.broadcast(numbers, round % 2), kSuccess);
      ASSERT_EQ(numbers.back(), round);
    }
  });
}

TEST(VirtualNccl, RanksAreProcesses) {
  const UniqueId id = unique_id();
  const auto sum_in = [&](int rank) {
    const Rank own(id, 2, rank);
    std::int64_t value = rank + 1;
    const int status = own.all_reduce(&value, &value, 1, kInt64, kSum);
    return status == kSuccess ? static_cast<int>(value) : -1;
  };
  const pid_t child = fork();
  if (child == 0) _exit(sum_in(1));
  EXPECT_EQ(sum_in(0), 3);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

TEST(VirtualNccl, DoesNotWaitForARankThatEnded) {
  const UniqueId id = unique_id();
  const pid_t child = fork();
  if (child == 0) {
    const Rank other(id, 2, 1);
    _exit(other.status());
  }
  const Rank own(id, 2, 0);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), kSuccess);
  Numbers never(1);
  EXPECT_EQ(own.receive(never, 1), kRemoteError);
}

TEST(VirtualNccl, DoesNotWaitInACommunicatorThatIsAborted) {
  with_ranks(2, [](const Rank& own, int rank) {
    if (rank == 1) return;
    std::thread waiting([&] {
      Numbers never(1);
      EXPECT_EQ(own.receive(never, 1), kRemoteError);
    });
    own.abort();
    waiting.join();
  });
}

TEST(VirtualNccl, SaysThatRanksCannotBeReached) {
  testing::internal::CaptureStderr();
  const Rank own(UniqueId(), 2, 1);
  EXPECT_EQ(own.status(), kSystemError);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::StartsWith("ohm: rank 1 of 2 cannot reach the others through /proc/0/fd/"));
}

TEST(VirtualNccl, RanksThatNobodyStartsHoldWhatTheOneHolds) {
  setenv("OHM_ABSENT_RANKS", "1", 1);
  const Rank own(unique_id(), 2, 1);
  unsetenv("OHM_ABSENT_RANKS");
  ASSERT_EQ(own.status(), kSuccess);
  Numbers all(2);
  EXPECT_EQ(own.all_gather({7}, all), kSuccess);
  EXPECT_EQ(all, (Numbers{7, 7}));
  Numbers word = {9};
  EXPECT_EQ(own.broadcast(word, 0), kSuccess);
  EXPECT_EQ(word, Numbers{9});
}

TEST(VirtualNccl, RefusesElementsThatItDoesNotKnow) {
  constexpr int kNoType = 99;
  const Rank own(unique_id(), 1, 0);
  float value = 0;
  EXPECT_EQ(own.all_reduce(&value, &value, 1, kNoType, kSum), kInvalidArgument);
}

}  // namespace
}  // namespace ohm::interpose
