// Collectives, groups and transfers of ranks: values, what they hold, and what is refused.
#include "runtime/parallel/rank_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/tensor/context.h"
#include "tests/runtime/parallel/replicas.h"
#include "tests/support/test_machine.h"

namespace ohm::parallel {
namespace {

using testing::HasSubstr;
using Direction = RankGroup::Direction;
using Values = std::vector<double>;

Tensor values_of(const Values& values, int rank) {
  return from_values(values, {static_cast<std::int64_t>(values.size())},
                     {DType::float32, Device::cuda(rank)});
}

Tensor zeros_of(std::int64_t count, int rank) {
  return zeros({count}, {DType::float32, Device::cuda(rank)});
}

std::string error_of(int ranks, const std::function<void(int rank)>& body) {
  test::TestMachine machine(kFourGpus);
  try {
    RankGroup::run(ranks, body);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing";
}

RankGroup& world() { return *RankGroup::current(); }

TEST(RankGroup, ReducesInEveryWay) {
  test::TestMachine machine(kFourGpus);
  const auto reduced = [](Reduction reduction) {
    Values result;
    RankGroup::run(3, [&](int rank) {
      const Tensor mine = values_of({rank + 2.0, -1.0 * rank}, rank);
      world().all_reduce(mine, reduction);
      if (rank == 1) result = to_doubles(mine);
    });
    return result;
  };
  EXPECT_EQ(reduced(Reduction::sum), (Values{9, -3}));
  EXPECT_EQ(reduced(Reduction::avg), (Values{3, -1}));
  EXPECT_EQ(reduced(Reduction::product), (Values{24, 0}));
  EXPECT_EQ(reduced(Reduction::min), (Values{2, -2}));
  EXPECT_EQ(reduced(Reduction::max), (Values{4, 0}));
}

TEST(RankGroup, GathersAndScattersPiecesOfDifferentSizes) {
  test::TestMachine machine(kFourGpus);
  RankGroup::run(2, [](int rank) {
    const std::vector<Tensor> pieces = {zeros_of(1, rank), zeros_of(2, rank)};
    world().all_gather(pieces,
                       values_of(Values(static_cast<std::size_t>(rank) + 1, rank + 5.0), rank));
    EXPECT_EQ(to_doubles(pieces[0]), (Values{5}));
    EXPECT_EQ(to_doubles(pieces[1]), (Values{6, 6}));
    const Tensor own = zeros_of(rank + 1, rank);
    world().reduce_scatter(own, pieces);
    EXPECT_EQ(to_doubles(own), rank == 0 ? (Values{10}) : (Values{12, 12}));
  });
}

TEST(RankGroup, ExchangesRowsBySplits) {
  test::TestMachine machine(kFourGpus);
  RankGroup::run(2, [](int rank) {
    // Rank 0 keeps one row and gives two; rank 1 gives none.
    const Tensor input = rank == 0 ? values_of({1, 2, 3}, 0) : values_of({4}, 1);
    const Tensor output = zeros_of(rank == 0 ? 1 : 3, rank);
    const Splits splits = rank == 0 ? Splits{{1, 0}, {1, 2}} : Splits{{2, 1}, {0, 1}};
    world().all_to_all_single(output, input, splits);
    EXPECT_EQ(to_doubles(output), rank == 0 ? (Values{1}) : (Values{2, 3, 4}));
  });
}

TEST(RankGroup, SendsInTheOrderInWhichItIsReceived) {
  test::TestMachine machine(kFourGpus);
  RankGroup::run(2, [](int rank) {
    if (rank == 0) {
      world().transfer({Direction::send, values_of({1, 2}, 0), 1});
      world().transfer({Direction::send, values_of({3}, 0), 1});
      return;
    }
    const Tensor first = zeros_of(2, 1);
    const Tensor second = zeros_of(1, 1);
    world().transfer({Direction::receive, first, 0});
    world().transfer({Direction::receive, second, 0});
    EXPECT_EQ(to_doubles(first), (Values{1, 2}));
    EXPECT_EQ(to_doubles(second), (Values{3}));
  });
}

TEST(RankGroup, PassesTensorsAroundARing) {
  test::TestMachine machine(kFourGpus);
  RankGroup::run(4, [](int rank) {
    const Tensor own = values_of({1.0 * rank}, rank);
    const Tensor before = zeros_of(1, rank);
    const WorkPtr work = world().begin_transfers(
        {{Direction::send, own, (rank + 1) % 4}, {Direction::receive, before, (rank + 3) % 4}});
    work->wait();
    EXPECT_TRUE(work->is_completed());
    EXPECT_EQ(to_doubles(before), (Values{1.0 * ((rank + 3) % 4)}));
  });
}

TEST(RankGroup, ARankMaySendToItself) {
  test::TestMachine machine(kFourGpus);
  RankGroup::run(1, [](int) {
    const Tensor got = zeros_of(1, 0);
    const WorkPtr sent = world().begin_transfer({Direction::send, values_of({7}, 0), 0});
    EXPECT_FALSE(sent->is_completed());
    world().begin_transfer({Direction::receive, got, 0})->wait();
    sent->wait();
    EXPECT_EQ(to_doubles(got), (Values{7}));
  });
}

TEST(RankGroup, AsynchronousCallsGoOnWhileOthersAreMissing) {
  test::TestMachine machine(kFourGpus);
  RankGroup::run(2, [](int rank) {
    const Tensor mine = values_of({rank + 1.0}, rank);
    const Tensor word = zeros_of(1, rank);
    if (rank == 1) {
      world().transfer({Direction::receive, word, 0});
      world().all_reduce(mine);
      return;
    }
    const WorkPtr work = world().all_reduce(mine, Reduction::sum, Mode::async);
    EXPECT_FALSE(work->is_completed());
    world().transfer({Direction::send, word, 1});
    work->wait();
    EXPECT_EQ(to_doubles(mine), (Values{3}));
  });
}

TEST(RankGroup, SubgroupsReduceAmongThemselves) {
  test::TestMachine machine(kFourGpus);
  RankGroup::run(4, [](int rank) {
    const GroupPtr even = world().new_group({2, 0});
    const GroupPtr odd = world().new_group({1, 3});
    RankGroup& own = rank % 2 == 0 ? *even : *odd;
    EXPECT_EQ(own.rank(), rank / 2);
    EXPECT_EQ((rank % 2 == 0 ? *odd : *even).rank(), RankGroup::kNoMember);
    const Tensor mine = values_of({rank + 1.0}, rank);
    own.all_reduce(mine);
    EXPECT_EQ(to_doubles(mine), rank % 2 == 0 ? (Values{4}) : (Values{6}));
    own.broadcast(mine, 1);
    own.barrier();
  });
}

// ---- what cannot end ----------------------------------------------------------------------------

TEST(RankGroup, NamesTheRanksOfADeadlock) {
  EXPECT_EQ(error_of(3,
                     [](int rank) {
                       if (rank == 2) return;
                       const Tensor tensor = zeros_of(1, rank);
                       world().transfer({Direction::receive, tensor, 1 - rank});
                     }),
            "[recv] no rank can go on: rank 0 waits in recv for rank 1, rank 1 waits in recv for "
            "rank 0, rank 2 has ended");
  EXPECT_EQ(
      error_of(2,
               [](int rank) {
                 const Tensor tensor = zeros_of(1, rank);
                 if (rank == 0) world().all_reduce(tensor);
                 if (rank == 1) world().transfer({Direction::send, tensor, 0});
               }),
      "[all_reduce] no rank can go on: rank 0 waits in all_reduce for rank 1, rank 1 waits in "
      "send for rank 0");
}

TEST(RankGroup, NamesTheRanksThatCallOtherCollectives) {
  EXPECT_EQ(
      error_of(3,
               [](int rank) {
                 const Tensor tensor = zeros_of(1, rank);
                 if (rank < 2) world().all_reduce(tensor);
                 if (rank == 2) world().broadcast(tensor, 0);
               }),
      "[broadcast] rank 2 calls it where ranks 0 and 1 called all_reduce: ranks must call the "
      "same collectives in the same order");
}

TEST(RankGroup, RefusesToWaitForARankThatHasEnded) {
  EXPECT_EQ(error_of(2,
                     [](int rank) {
                       if (rank == 0) world().transfer({Direction::receive, zeros_of(1, 0), 1});
                     }),
            "[recv] rank 1 ended without joining it");
  EXPECT_EQ(error_of(2,
                     [](int rank) {
                       if (rank == 1) return;
                       world().all_reduce(zeros_of(1, 0), Reduction::sum, Mode::async)->wait();
                     }),
            "[all_reduce] rank 1 ended without joining it");
}

// ---- what does not fit --------------------------------------------------------------------------

TEST(RankGroup, RefusesTensorsThatDoNotFit) {
  const auto on_both = [](const std::function<void(int rank)>& body) { return error_of(2, body); };
  EXPECT_THAT(
      on_both([](int rank) { world().all_reduce(zeros_of(rank + 1, rank)); }),
      HasSubstr("[all_reduce] rank 0 brings float32 [1] on cuda:0, rank 1 float32 [2] on cuda:1"));
  EXPECT_THAT(
      on_both([](int rank) { world().all_gather({zeros_of(1, rank)}, zeros_of(1, rank)); }),
      HasSubstr("[all_gather] tensor_list has to have 2 tensors, one for each rank, not 1"));
  EXPECT_THAT(
      on_both([](int rank) {
        const Tensor tensor = zeros_of(rank + 1, rank);
        world().transfer({rank == 0 ? Direction::send : Direction::receive, tensor, 1 - rank});
      }),
      HasSubstr("rank 0 sends float32 [1] on cuda:0, but rank 1 receives float32 [2] on cuda:1"));
  EXPECT_THAT(on_both([](int rank) {
                const Tensor wide = zeros({2, 3}, {DType::float32, Device::cuda(rank)});
                world().all_reduce(make_view(wide, {3, 2}, {1, 3}, 0));
              }),
              HasSubstr("[all_reduce] tensors have to be contiguous: float32 [3, 2]"));
  EXPECT_THAT(on_both([](int rank) {
                world().all_reduce(zeros({2}, {DType::int64, Device::cuda(rank)}), Reduction::avg);
              }),
              HasSubstr("[all_reduce] AVG needs elements of a floating dtype, not int64"));
  EXPECT_THAT(on_both([](int rank) {
                world().all_to_all_single(zeros_of(3, rank), zeros_of(3, rank), {{1, 1}, {1, 2}});
              }),
              HasSubstr("[all_to_all_single] the splits have to be 2 numbers of rows"));
  EXPECT_THAT(on_both([](int rank) {
                world().transfer({Direction::send, zeros_of(1, rank), rank});
              }),
              HasSubstr("[send] rank 0 cannot send to itself: isend and irecv can"));
  EXPECT_THAT(on_both([](int rank) { world().new_group({rank}); }),
              HasSubstr("rank 0 asks for ranks [0], rank 1 for [1]"));
  EXPECT_THAT(on_both([](int) {
                world().new_group({1, 1});
              }),
              HasSubstr("[new_group] rank 1 stands there twice"));
  EXPECT_THAT(on_both([](int rank) {
                const GroupPtr group = world().new_group({0});
                if (rank == 1) group->barrier();
              }),
              HasSubstr("[barrier] rank 1 is none of the group's, which are rank 0"));
}

TEST(RankGroup, RefusesAGroupWhoseRanksHaveEnded) {
  test::TestMachine machine(kFourGpus);
  GroupPtr kept;
  RankGroup::run(2, [&](int rank) {
    const GroupPtr group = world().new_group({0, 1});
    if (rank == 0) kept = group;
  });
  EXPECT_THROW(kept->all_reduce(zeros_of(1, 0)), std::invalid_argument);
}

// ---- memory -------------------------------------------------------------------------------------

TEST(RankGroup, AHandleHoldsWhatItsCallUses) {
  for (const bool holds : {false, true}) {
    test::TestMachine machine(kFourGpus);
    Context::current().rules.collectives_hold_tensors = holds;
    RankGroup::run(2, [&](int rank) {
      const auto bytes = [&] { return machine.allocated_bytes(static_cast<std::size_t>(rank)); };
      Tensor output = zeros_of(256, rank);
      Tensor input = zeros_of(128, rank);
      const WorkPtr work = world().all_gather_into(output, input, Mode::async);
      input = Tensor();
      output = Tensor();
      EXPECT_EQ(bytes(), holds ? 1536 : 1024);
      work->wait();
      EXPECT_EQ(bytes(), 1024);
    });
  }
}

}  // namespace
}  // namespace ohm::parallel
