// Ranks of NCCL: threads of this process, and processes.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "tests/allocator_shim/interpose/client.h"

namespace ohm::interpose {
namespace {

constexpr const char* kNccl = "libnccl.so.2";
constexpr int kSystemError = 2;
constexpr int kInvalidArgument = 4;
constexpr int kRemoteError = 6;
constexpr int kInt64 = 4;
constexpr int kHalf = 6;
constexpr int kFloat = 7;
constexpr int kBrainFloat = 9;
constexpr int kEightBitFloat = 10;
constexpr int kSum = 0;
constexpr int kProduct = 1;
constexpr int kMaximum = 2;
constexpr int kAverage = 4;

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
  /// On the GPU of its number: two on one are refused.
  Rank(const UniqueId& id, int ranks, int rank) {
    function<int(int)>(kRuntime, "cudaSetDevice")(rank);
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
  int scaled_sum(float& value, float scale) const {
    constexpr int kOnHost = 1;
    int operation = 0;
    EXPECT_EQ((function<int(int*, const void*, int, int, void*)>(kNccl, "ncclRedOpCreatePreMulSum")(
                  &operation, &scale, kFloat, kOnHost, communicator_)),
              kSuccess);
    const int status = all_reduce(&value, &value, 1, kFloat, operation);
    function<int(int, void*)>(kNccl, "ncclRedOpDestroy")(operation, communicator_);
    return status;
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

using Halves = std::vector<std::uint16_t>;

TEST(VirtualNccl, ReducesHalvesWithTheirOwnRounding) {
  with_ranks(2, [](const Rank& own, int rank) {
    // 1, 65504, the smallest half above zero, and infinity; of the other rank 2^-11, 0, the same,
    // -1.
    const Halves halves =
        rank == 0 ? Halves{0x3C00, 0x7BFF, 0x0001, 0x7C00} : Halves{0x1000, 0x0000, 0x0001, 0xBC00};
    Halves sums(4);
    EXPECT_EQ(own.all_reduce(halves.data(), sums.data(), 4, kHalf, kSum), kSuccess);
    EXPECT_EQ(sums, (Halves{0x3C00, 0x7BFF, 0x0002, 0x7C00}));
    // 1.5 and 3 in bfloat16.
    const Halves brain = {rank == 0 ? std::uint16_t{0x3FC0} : std::uint16_t{0x4040}};
    Halves result(1);
    EXPECT_EQ(own.all_reduce(brain.data(), result.data(), 1, kBrainFloat, kAverage), kSuccess);
    EXPECT_EQ(result, Halves{0x4010}) << "2.25";
    EXPECT_EQ(own.all_reduce(brain.data(), result.data(), 1, kBrainFloat, kProduct), kSuccess);
    EXPECT_EQ(result, Halves{0x4090}) << "4.5";
  });
}

TEST(VirtualNccl, AddsWhatEachRankMultiplies) {
  with_ranks(2, [](const Rank& own, int rank) {
    float value = 8;
    EXPECT_EQ(own.scaled_sum(value, rank == 0 ? 0.5F : 0.25F), kSuccess);
    EXPECT_EQ(value, 6);
  });
}

/// What libohm_cuda.so knows of the memory of a rank.
struct Memory {
  Numbers numbers;

  explicit Memory(Numbers values) : numbers(std::move(values)) { mark("ohm_mark_unknown"); }
  std::size_t bytes() const { return numbers.size() * sizeof(std::int64_t); }
  void mark(const char* name) const {
    function<void(const void*, std::size_t)>(kDriver, name)(numbers.data(), bytes());
  }
  bool is_known() const {
    return function<int(const void*, std::size_t)>(kDriver, "ohm_is_known")(numbers.data(),
                                                                            bytes()) != 0;
  }
};

constexpr std::size_t kLarge = 300'000;  // of 8 bytes: more than is moved where it is unknown

TEST(VirtualNccl, KnownPartsOfAnySizeArriveAndAreKnown) {
  with_ranks(2, [](const Rank& own, int rank) {
    Memory memory(Numbers(kLarge, rank == 0 ? 17 : 0));
    if (rank == 0) memory.mark("ohm_mark_known");
    EXPECT_EQ(own.broadcast(memory.numbers, 0), kSuccess);
    EXPECT_TRUE(memory.is_known());
    EXPECT_EQ(memory.numbers.back(), 17);
    memory.numbers.assign(kLarge, rank + 1);
    EXPECT_EQ(own.all_reduce(memory.numbers.data(), memory.numbers.data(), kLarge, kInt64, kSum),
              kSuccess);
    EXPECT_TRUE(memory.is_known());
    EXPECT_EQ(memory.numbers.front(), 3);
    EXPECT_EQ(memory.numbers.back(), 3);
  });
}

TEST(VirtualNccl, UnknownPartsArriveUnknown) {
  with_ranks(2, [](const Rank& own, int rank) {
    Memory memory(Numbers(kLarge, rank));
    if (rank == 1) memory.mark("ohm_mark_known");
    EXPECT_EQ(own.broadcast(memory.numbers, 0), kSuccess);
    EXPECT_FALSE(memory.is_known());
    EXPECT_EQ(memory.numbers.back(), rank) << "it is left out";
    Memory word({rank});
    EXPECT_EQ(own.broadcast(word.numbers, 0), kSuccess);
    EXPECT_FALSE(word.is_known());
    EXPECT_EQ(word.numbers.back(), 0) << "a small one is moved";
  });
}

TEST(VirtualNccl, IsKnownWhereAllContributionsAre) {
  with_ranks(2, [](const Rank& own, int rank) {
    Memory part({rank});
    Memory all({0, 0});
    if (rank == 1) part.mark("ohm_mark_known");
    EXPECT_EQ(own.all_gather(part.numbers, all.numbers), kSuccess);
    EXPECT_FALSE(all.is_known());
    const auto known = function<int(const void*, std::size_t)>(kDriver, "ohm_is_known");
    EXPECT_EQ(known(&all.numbers[1], sizeof(std::int64_t)), 1);
    Memory sum({9});
    sum.mark("ohm_mark_known");
    EXPECT_EQ(own.all_reduce(part.numbers.data(), sum.numbers.data(), 1, kInt64, kSum), kSuccess);
    EXPECT_FALSE(sum.is_known());
    part.mark("ohm_mark_known");
    EXPECT_EQ(own.all_reduce(part.numbers.data(), sum.numbers.data(), 1, kInt64, kSum), kSuccess);
    EXPECT_TRUE(sum.is_known());
    EXPECT_EQ(own.all_reduce(part.numbers.data(), sum.numbers.data(), 8, kEightBitFloat, kSum),
              kSuccess);
    EXPECT_FALSE(sum.is_known()) << "nobody adds up floats of eight bits";
  });
}

TEST(VirtualNccl, CommunicatorsOfOneThreadExchangeParts) {
  std::array<void*, 2> communicators = {};
  EXPECT_EQ((function<int(void**, int, const int*)>(kNccl, "ncclCommInitAll")(communicators.data(),
                                                                              2, nullptr)),
            kSuccess);
  const Rank first(communicators[0]);
  const Rank second(communicators[1]);
  Numbers given = {4};
  Numbers taken = {0};
  function<int()>(kNccl, "ncclGroupStart")();
  EXPECT_EQ(first.broadcast(given, 0), kSuccess);
  EXPECT_EQ(second.broadcast(taken, 0), kSuccess);
  EXPECT_EQ(function<int()>(kNccl, "ncclGroupEnd")(), kSuccess);
  EXPECT_EQ(taken, Numbers{4});
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

TEST(VirtualNccl, FailsWhereTheRankThatArrangedTheMeetingHasEnded) {
  std::array<int, 2> pipe_ends = {};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    const UniqueId id = unique_id();
    _exit(write(pipe_ends[1], &id, sizeof(id)) == sizeof(id) ? 0 : 1);
  }
  UniqueId id;
  ASSERT_EQ(read(pipe_ends[0], &id, sizeof(id)), static_cast<ssize_t>(sizeof(id)));
  std::thread reaper([&] {
    usleep(100'000);  // a launcher looks after its ranks now and then
    waitpid(child, nullptr, 0);
  });
  const Rank own(id, 2, 1);
  reaper.join();
  EXPECT_EQ(own.status(), kRemoteError);
  EXPECT_STREQ(function<const char*(int)>(kNccl, "ncclGetErrorString")(own.status()),
               "remote process exited or there was a network error");
}

TEST(VirtualNccl, DoesNotWaitForRanksThatWillNotJoin) {
  const UniqueId id = unique_id();
  const pid_t child = fork();
  if (child == 0) {
    alarm(1);  // while it waits for rank 2
    const Rank other(id, 3, 1);
    _exit(other.status());
  }
  std::thread reaper([&] { waitpid(child, nullptr, 0); });
  const Rank own(id, 3, 0);
  reaper.join();
  EXPECT_EQ(own.status(), kRemoteError);
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
  EXPECT_EQ(own.all_reduce(word.data(), word.data(), 1, kInt64, kSum), kSuccess);
  EXPECT_EQ(word, Numbers{18});
}

TEST(VirtualNccl, ARankAloneSendsToItself) {
  const Rank own(unique_id(), 1, 0);
  Numbers got(1);
  EXPECT_EQ(own.send({6}, 0), kSuccess);
  EXPECT_EQ(own.receive(got, 0), kSuccess);
  EXPECT_EQ(got, Numbers{6});
}

TEST(VirtualNccl, RefusesElementsThatItDoesNotKnow) {
  constexpr int kNoType = 99;
  const Rank own(unique_id(), 1, 0);
  float value = 0;
  EXPECT_EQ(own.all_reduce(&value, &value, 1, kNoType, kSum), kInvalidArgument);
}

}  // namespace
}  // namespace ohm::interpose
