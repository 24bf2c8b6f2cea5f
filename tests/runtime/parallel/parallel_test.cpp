#include <gtest/gtest.h>

#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/nn/linear.h"
#include "runtime/nn/new_parameter.h"
#include "runtime/nn/sequential.h"
#include "runtime/ops/activation/activation.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/view.h"
#include "runtime/parallel/coalesced.h"
#include "runtime/parallel/data_parallel.h"
#include "runtime/parallel/rank_group.h"
#include "runtime/tensor/context.h"
#include "tests/runtime/parallel/replicas.h"
#include "tests/support/test_machine.h"

namespace ohm::parallel {
namespace {

nn::ModulePtr small_net(Device device) {
  Context::current().seed(7);
  const nn::ParameterOptions options{Device::cpu()};
  auto net = std::make_shared<nn::Sequential>(
      std::vector<nn::ModulePtr>{std::make_shared<nn::Linear>(6, 5, true, options),
                                 std::make_shared<nn::FunctionModule>("Tanh", &ops::tanh),
                                 std::make_shared<nn::Linear>(5, 3, true, options)});
  net->move_to(device, std::nullopt);
  return net;
}

Tensor batch_of(std::int64_t size) {
  Context::current().seed(11);
  return randn({size, 6}, {DType::float32, Device::cpu()});
}

void expect_equal(const std::vector<std::vector<double>>& a,
                  const std::vector<std::vector<double>>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < a[i].size(); ++j) EXPECT_NEAR(a[i][j], b[i][j], 1e-6);
  }
}

std::vector<std::vector<double>> gradients_on_one_gpu() {
  const nn::ModulePtr net = small_net(Device::cuda(0));
  backward(ops::mean(net->forward(ops::to_device(batch_of(8), Device::cuda(0)))));
  return gradients_of(*net);
}

TEST(DataParallel, GivesTheGradientsOfOneGpu) {
  test::TestMachine machine(kFourGpus);
  const nn::ModulePtr net = small_net(Device::cuda(0));
  DataParallel parallel(net, {}, std::nullopt);
  const Tensor out = parallel.Module::forward(batch_of(8));
  EXPECT_EQ(out.device(), Device::cuda(0));
  backward(ops::mean(out));
  expect_equal(gradients_of(*net), gradients_on_one_gpu());
}

TEST(DataParallel, SharesTheParametersWithTheFirstReplicaAndCopiesThemToTheOthers) {
  test::TestMachine machine(kFourGpus);
  const nn::ModulePtr net = small_net(Device::cuda(0));
  DataParallel parallel(net, {}, std::nullopt);
  const Tensor out = parallel.Module::forward(batch_of(8));
  EXPECT_GT(machine.peak_bytes(1), 0);
  EXPECT_EQ(machine.peak_bytes(1), machine.peak_bytes(3));
}

TEST(DataParallel, RefusesAModuleThatIsNotOnItsFirstDevice) {
  test::TestMachine machine(kFourGpus);
  DataParallel parallel(small_net(Device::cuda(1)), {}, std::nullopt);
  EXPECT_THROW(parallel.Module::forward(batch_of(8)), std::invalid_argument);
}

TEST(DataParallel, UsesFewerGpusForABatchThatIsTooSmall) {
  test::TestMachine machine(kFourGpus);
  DataParallel parallel(small_net(Device::cuda(0)), {}, std::nullopt);
  EXPECT_EQ(parallel.Module::forward(batch_of(2)).shape(), (Shape{2, 3}));
  EXPECT_EQ(machine.peak_bytes(2), 0);
}

class InputAndTanh final : public nn::CopyableModule<InputAndTanh> {
 public:
  std::string_view type_name() const override { return "InputAndTanh"; }
  using Module::forward;
  nn::Value forward(const std::vector<nn::Value>& inputs) override {
    const Tensor input = std::get<Tensor>(inputs[0]);
    return std::vector<Tensor>{input, ops::tanh(input)};
  }
};

TEST(DataParallel, GathersListsElementByElement) {
  test::TestMachine machine(kFourGpus);
  DataParallel parallel(std::make_shared<InputAndTanh>(), {}, std::nullopt);
  const Tensor batch = batch_of(8);
  const nn::Value output = parallel.forward({nn::Value(batch)});
  const auto& elements = std::get<std::vector<Tensor>>(output);
  ASSERT_EQ(elements.size(), 2U);
  EXPECT_EQ(elements[1].device(), Device::cuda(0));
  EXPECT_EQ(to_doubles(elements[0]), to_doubles(batch));
}

TEST(DataParallel, BroadcastsWhatIsLeftOfEachDtypeInPyTorchsOrder) {
  test::TestMachine machine(kFourGpus);
  std::vector<Tensor> tensors;
  for (const DType dtype : {DType::bfloat16, DType::float32, DType::boolean, DType::int64}) {
    tensors.push_back(empty({4}, {dtype, Device::cuda(0)}));
  }
  using Chunks = std::vector<std::vector<std::size_t>>;
  EXPECT_EQ(chunks_of(tensors, kCoalescedBytes, ChunkRule::may_exceed),
            (Chunks{{3}, {1}, {2}, {0}}));
  EXPECT_EQ(chunks_of(tensors, kCoalescedBytes, ChunkRule::stays_below),
            (Chunks{{0}, {1}, {2}, {3}}));
}

TEST(RankGroup, SumsOverAllRanks) {
  test::TestMachine machine(kFourGpus);
  RankGroup::run(4, [](int rank) {
    const Tensor mine = full({2}, rank + 1.0, {DType::float32, Device::cuda(rank)});
    RankGroup::current()->all_reduce(mine);
    EXPECT_EQ(to_doubles(mine), (std::vector<double>{10, 10}));
  });
}

TEST(RankGroup, RunsOneRankAtATimeInRankOrder) {
  test::TestMachine machine(kFourGpus);
  std::vector<int> order;
  RankGroup::run(3, [&](int rank) {
    order.push_back(rank);
    RankGroup::current()->barrier();
    order.push_back(rank);
  });
  // The last one to arrive lets the first one go on.
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 0, 1, 2}));
}

TEST(RankGroup, EndsTheCollectiveOnTheOthersWhenOneRankFails) {
  test::TestMachine machine(kFourGpus);
  int refused = 0;
  const auto body = [&](int rank) {
    if (rank == 1) throw std::invalid_argument("rank 1 has had enough");
    try {
      RankGroup::current()->barrier();
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "[barrier] rank 1 failed");
      ++refused;
    }
  };
  EXPECT_THROW(RankGroup::run(3, body), std::invalid_argument);
  EXPECT_EQ(refused, 2);
}

TEST(RankGroup, RefusesACollectiveThatARankNeverJoins) {
  test::TestMachine machine(kFourGpus);
  const auto body = [](int rank) {
    if (rank == 0) RankGroup::current()->barrier();
  };
  EXPECT_THROW(RankGroup::run(2, body), std::runtime_error);
}

}  // namespace
}  // namespace ohm::parallel
