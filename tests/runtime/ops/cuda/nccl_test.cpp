// Collectives of several cards through NCCL, and without it.
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/nn/linear.h"
#include "runtime/nn/new_parameter.h"
#include "runtime/ops/collective/cuda/collective.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/parallel/rank_group.h"
#include "runtime/parallel/replicate.h"
#include "runtime/tensor/context.h"
#include "tests/runtime/ops/cuda/library_support.h"
#include "tests/support/cuda_machine.h"

namespace ohm::test {
namespace {

const std::string kTwoDevices = "devices=2 capacity=268435456";

/// What each of two ranks has after the sum of all, a broadcast, and one list of each kind.
std::vector<std::vector<double>> after_collectives() {
  std::vector<std::vector<double>> values(2);
  parallel::RankGroup::run(2, [&](int rank) {
    const TensorOptions here{DType::float32, Device::cuda(rank)};
    const Tensor sum = from_values({1.0 + rank, 10}, {2}, here);
    const Tensor sent = from_values({5.0 * rank}, {1}, here);
    parallel::RankGroup::current()->all_reduce(sum);
    parallel::RankGroup::current()->broadcast(sent, 1);
    const std::vector<Tensor> all = {zeros({2}, here), zeros({2}, here)};
    parallel::RankGroup::current()->all_gather(all, from_values({7.0 + rank, 8.0}, {2}, here));
    const Tensor part = zeros({2}, here);
    parallel::RankGroup::current()->reduce_scatter(
        part,
        {from_values({100.0 + rank, 1}, {2}, here), from_values({200, 2.0 + rank}, {2}, here)});
    auto& found = values[static_cast<std::size_t>(rank)];
    for (const Tensor& tensor : {sum, sent, all[0], all[1], part}) {
      for (const double value : to_doubles(tensor)) found.push_back(value);
    }
  });
  return values;
}

const std::vector<std::vector<double>> kAfterCollectives = {{3, 20, 5, 7, 8, 8, 8, 201, 2},
                                                            {3, 20, 5, 7, 8, 8, 8, 400, 5}};

TEST(NcclCollectives, CollectivesOfSeveralCardsGoThroughNccl) {
  CudaMachine machine(2, kTwoDevices);
  machine.context().rules = find_rule_set("pytorch-2.6");
  EXPECT_EQ(after_collectives(), kAfterCollectives);
  EXPECT_EQ(machine.stand_in().calls("ncclCommInitAll"), 1);
  EXPECT_EQ(machine.stand_in().calls("ncclAllReduce"), 2);
  EXPECT_EQ(machine.stand_in().calls("ncclBroadcast"), 2);
  EXPECT_EQ(machine.stand_in().calls("ncclAllGather"), 2);
  EXPECT_EQ(machine.stand_in().calls("ncclReduceScatter"), 2);
}

// Lists have no buffer in PyTorch 2.15: each piece goes by itself.
TEST(NcclCollectives, ListsWithoutABufferGoThroughNcclPieceByPiece) {
  CudaMachine machine(2, kTwoDevices);
  ASSERT_TRUE(machine.context().rules.collectives_hold_tensors);
  EXPECT_EQ(after_collectives(), kAfterCollectives);
  EXPECT_EQ(machine.stand_in().calls("ncclCommInitAll"), 1);
  EXPECT_EQ(machine.stand_in().calls("ncclBroadcast"), 2 + 2 * 2);
  EXPECT_EQ(machine.stand_in().calls("ncclReduce"), 2 * 2);
}

TEST(NcclCollectives, TheSourceOfABroadcastIsARankAndNoCard) {
  const CudaMachine machine(2, kTwoDevices);
  const auto on = [](int gpu, double value) {
    return from_values({value}, {1}, {DType::float32, Device::cuda(gpu)});
  };
  const std::vector<Tensor> tensors = {on(1, 10), on(0, 20)};
  ASSERT_EQ(ops::broadcast_by_nccl(tensors, 0), ops::CudaResult::done);
  for (const Tensor& tensor : tensors) EXPECT_EQ(to_doubles(tensor), std::vector<double>{10});
}

TEST(NcclCollectives, CollectivesDoWithoutNccl) {
  cuda::LibraryPlaces places = stand_in::StandIn::libraries();
  places.nccl = {"libthere-is-none.so.1"};
  const CudaMachine machine(2, kTwoDevices, ValueMode::keeps_values, places);
  EXPECT_EQ(after_collectives(), kAfterCollectives);
  EXPECT_EQ(machine.stand_in().calls("ncclAllReduce"), 0);
}

/// The gradient of a layer's weight that was copied to two cards, and the batch split between them.
std::vector<double> gradient_of_replicas() {
  Context::current().seed(1);
  const auto layer =
      std::make_shared<nn::Linear>(2, 1, false, nn::ParameterOptions{kCard, DType::float32});
  const auto replicas = parallel::replicate(layer, {kCard, Device::cuda(1)});
  std::vector<Tensor> losses;
  for (int card = 0; card < 2; ++card) {
    const Tensor batch =
        from_values({1.0 + card, 10}, {1, 2}, {DType::float32, Device::cuda(card)});
    losses.push_back(ops::sum(replicas.at(static_cast<std::size_t>(card))->call(batch)));
  }
  backward(losses, {ones_like(losses[0]), ones_like(losses[1])}, GraphRetention::release);
  return to_doubles(layer->parameters()[0].grad());
}

TEST(NcclCollectives, GradientsOfReplicasAreAddedUpByNccl) {
  const CudaMachine machine(2, kTwoDevices);
  EXPECT_EQ(gradient_of_replicas(), (std::vector<double>{3, 20}));
  EXPECT_EQ(machine.stand_in().calls("ncclReduce"), 2);
}

TEST(NcclCollectives, GradientsOfReplicasDoWithoutNccl) {
  cuda::LibraryPlaces places = stand_in::StandIn::libraries();
  places.nccl = {"libthere-is-none.so.1"};
  const CudaMachine machine(2, kTwoDevices, ValueMode::keeps_values, places);
  EXPECT_EQ(gradient_of_replicas(), (std::vector<double>{3, 20}));
}

TEST(NcclCollectives, ACollectiveThatFailsEndsItsGroup) {
  const CudaMachine machine(2, kTwoDevices + " fail=ncclAllReduce:1:1");
  EXPECT_EQ(library_error_of([] { after_collectives(); }),
            "NCCL: ncclAllReduce: unhandled cuda error");
  EXPECT_EQ(machine.stand_in().calls("ncclGroupEnd"), 1);
  EXPECT_EQ(after_collectives(), kAfterCollectives) << "the cards are as usable as before";
}

}  // namespace
}  // namespace ohm::test
