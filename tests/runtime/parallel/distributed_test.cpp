// DistributedDataParallel: when gradients are averaged, and which.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/checkpoint.h"
#include "runtime/autograd/engine.h"
#include "runtime/nn/linear.h"
#include "runtime/nn/new_parameter.h"
#include "runtime/nn/normalization.h"
#include "runtime/ops/activation/activation.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/parallel/distributed_data_parallel.h"
#include "runtime/tensor/context.h"
#include "tests/runtime/parallel/replicas.h"
#include "tests/support/test_machine.h"

namespace ohm::parallel {
namespace {

// Two layers of which a run uses the first one before the second and maybe once more after it,
// plainly or under a reentrant checkpoint, and the second one or not.
class Net final : public nn::CopyableModule<Net> {
 public:
  explicit Net(Device device) {
    const nn::ParameterOptions options{device};
    add_child("first", std::make_shared<nn::Linear>(4, 4, false, options));
    add_child("second", std::make_shared<nn::Linear>(4, 4, false, options));
  }

  std::string_view type_name() const override { return "Net"; }
  using Module::forward;
  nn::Value forward(const std::vector<nn::Value>& inputs) override {
    const auto layer = [this](std::size_t i) {
      return [module = children()[i].module](const std::vector<Tensor>& values) {
        return std::vector<Tensor>{ops::tanh(module->forward(values[0]))};
      };
    };
    const auto use_first = [&](const std::vector<Tensor>& values) {
      return is_checkpointed ? checkpoint(layer(0), values, {}) : layer(0)(values);
    };
    std::vector<Tensor> value = use_first({std::get<Tensor>(inputs[0])});
    if (uses_second) value = layer(1)(value);
    if (uses_first_again) value = use_first(value);
    return value[0];
  }

  bool uses_first_again = false;
  bool is_checkpointed = false;
  bool uses_second = true;
};

struct DistributedRun {
  DistributedOptions options = {};
  bool uses_first_again = false;
  bool is_checkpointed = false;
  std::vector<bool> uses_second = {true, true};  ///< by rank
  int steps = 1;
};

std::shared_ptr<Net> net_of(const DistributedRun& run, int rank, Device device) {
  Context::current().seed(7);
  auto net = std::make_shared<Net>(device);
  net->uses_first_again = run.uses_first_again;
  net->is_checkpointed = run.is_checkpointed;
  net->uses_second = run.uses_second[static_cast<std::size_t>(rank)];
  return net;
}

Tensor batch_of(int rank, Device device) {
  Context::current().seed(static_cast<std::uint64_t>(rank) + 1);
  const Tensor batch = randn({3, 4}, {DType::float32, device});
  batch.set_requires_grad(true);  // or a reentrant checkpoint would have nothing to do
  return batch;
}

// What both ranks have in the end.
std::vector<Gradients> gradients_of_ranks(const DistributedRun& run) {
  test::TestMachine machine(kTwoGpus);
  std::vector<Gradients> gradients(2);
  RankGroup::run(2, [&](int rank) {
    const auto net = net_of(run, rank, Device::cuda(rank));
    DistributedDataParallel parallel(net, run.options);
    for (int step = 0; step < run.steps; ++step) {
      parallel.zero_grad(true);
      backward(ops::mean(parallel.Module::forward(batch_of(rank, Device::cuda(rank)))));
    }
    gradients[static_cast<std::size_t>(rank)] = gradients_of(*net);
  });
  return gradients;
}

// The mean over what each rank would have alone; a parameter that one rank does not use counts as
// zero there.
Gradients mean_gradients(const DistributedRun& run) {
  test::TestMachine machine(kTwoGpus);
  Gradients mean(2);
  for (int rank = 0; rank < 2; ++rank) {
    const auto net = net_of(run, rank, Device::cuda(0));
    backward(ops::mean(net->Module::forward(batch_of(rank, Device::cuda(0)))));
    const Gradients gradients = gradients_of(*net);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i].empty()) mean[i].resize(gradients[i].size());
      for (std::size_t j = 0; j < gradients[i].size(); ++j) mean[i][j] += gradients[i][j] / 2;
    }
  }
  return mean;
}

void expect_mean_gradients(const DistributedRun& run) {
  const Gradients expected = mean_gradients(run);
  for (const Gradients& gradients : gradients_of_ranks(run)) {
    ASSERT_EQ(gradients.size(), expected.size());
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      EXPECT_THAT(gradients[i], testing::Pointwise(testing::DoubleNear(1e-6), expected[i]));
    }
  }
}

TEST(DistributedDataParallel, AveragesTheGradientsOfAllRanks) {
  for (const bool as_view : {false, true}) {
    for (int steps = 1; steps <= 3; ++steps) {
      expect_mean_gradients({.options = {.gradient_as_bucket_view = as_view}, .steps = steps});
    }
  }
}

TEST(DistributedDataParallel, AveragesThemInSmallBuckets) {
  expect_mean_gradients({.options = {.bucket_cap_bytes = 64}, .steps = 2});
}

TEST(DistributedDataParallel, FindsParametersThatNoRankUses) {
  DistributedRun run{
      .options = {.find_unused_parameters = true}, .uses_second = {false, false}, .steps = 2};
  expect_mean_gradients(run);
  EXPECT_TRUE(gradients_of_ranks(run)[0][1].empty());
}

TEST(DistributedDataParallel, AveragesAGradientThatOneRankHas) {
  for (const bool as_view : {false, true}) {
    expect_mean_gradients(
        {.options = {.gradient_as_bucket_view = as_view, .find_unused_parameters = true},
         .uses_second = {true, false},
         .steps = 2});
  }
}

TEST(DistributedDataParallel, RefusesTheNextPassWhenAGradientDidNotCome) {
  const DistributedRun once{.uses_second = {false, false}};
  EXPECT_NO_THROW(gradients_of_ranks(once));
  const DistributedRun twice{.uses_second = {false, false}, .steps = 2};
  EXPECT_THROW(gradients_of_ranks(twice), std::invalid_argument);
}

TEST(DistributedDataParallel, AcceptsAStaticGraph) {
  for (int steps = 1; steps <= 3; ++steps) {
    expect_mean_gradients({.options = {.static_graph = true}, .steps = steps});
    expect_mean_gradients({.options = {.static_graph = true},
                           .uses_first_again = true,
                           .is_checkpointed = true,
                           .steps = steps});
    expect_mean_gradients(
        {.options = {.static_graph = true}, .uses_second = {false, false}, .steps = steps});
  }
}

// The first layer's gradient comes in the checkpoint's own backward pass, and is the last one.
TEST(DistributedDataParallel, WorksWithReentrantCheckpoints) {
  expect_mean_gradients({.is_checkpointed = true, .steps = 2});
}

TEST(DistributedDataParallel, RefusesAParameterThatTwoReentrantPassesUse) {
  EXPECT_THROW(gradients_of_ranks({.uses_first_again = true, .is_checkpointed = true}),
               std::invalid_argument);
}

TEST(DistributedDataParallel, KeepsGradientsToItselfWhileSyncIsOff) {
  test::TestMachine machine(kTwoGpus);
  const DistributedRun run;
  std::vector<Gradients> alone(2);
  std::vector<Gradients> synced(2);
  RankGroup::run(2, [&](int rank) {
    const auto number = static_cast<std::size_t>(rank);
    const auto net = net_of(run, rank, Device::cuda(rank));
    DistributedDataParallel parallel(net, run.options);
    const auto pass = [&] {
      backward(ops::mean(parallel.Module::forward(batch_of(rank, Device::cuda(rank)))));
    };
    EXPECT_TRUE(parallel.exchange_gradient_sync(false));
    pass();
    alone[number] = gradients_of(*net);
    EXPECT_FALSE(parallel.exchange_gradient_sync(true));
    pass();
    synced[number] = gradients_of(*net);
  });
  EXPECT_NE(alone[0], alone[1]);
  EXPECT_EQ(synced[0], synced[1]);
  // Both passes of a rank gave the same: the averages are of twice the gradients.
  for (std::size_t i = 0; i < synced[0].size(); ++i) {
    for (std::size_t j = 0; j < synced[0][i].size(); ++j) {
      EXPECT_NEAR(synced[0][i][j], alone[0][i][j] + alone[1][i][j], 1e-6);
    }
  }
}

TEST(DistributedDataParallel, GivesRankZerosBuffersToAllBeforeAForwardPass) {
  test::TestMachine machine(kTwoGpus);
  for (const bool broadcasts : {true, false}) {
    RankGroup::run(2, [&](int rank) {
      const nn::ParameterOptions options{Device::cuda(rank)};
      const auto norm =
          std::make_shared<nn::BatchNorm>(nn::BatchNorm::k1d, 4, nn::BatchNormOptions(), options);
      DistributedDataParallel parallel(norm, {.broadcast_buffers = broadcasts});
      parallel.set_training(false);
      const Tensor mean = norm->own_buffers()[0].tensor;
      fill_values(mean, rank);
      parallel.Module::forward(batch_of(rank, Device::cuda(rank)));
      EXPECT_EQ(to_doubles(mean)[0], broadcasts ? 0 : rank);
    });
  }
}

TEST(DistributedDataParallel, HasTheSamePeakOnEveryRank) {
  test::TestMachine machine(kTwoGpus);
  RankGroup::run(2, [&](int rank) {
    DistributedDataParallel parallel(net_of({}, rank, Device::cuda(rank)), {});
    backward(ops::mean(parallel.Module::forward(batch_of(rank, Device::cuda(rank)))));
  });
  EXPECT_EQ(machine.peak_bytes(1), machine.peak_bytes(0));
}

}  // namespace
}  // namespace ohm::parallel
