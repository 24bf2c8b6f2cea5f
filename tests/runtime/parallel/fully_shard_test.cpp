// fully_shard: parts of parameters that train as the whole ones do.
#include "runtime/parallel/fully_shard.h"
#include "runtime/nn/deep_copy.h"
#include "runtime/nn/new_parameter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/nn/linear.h"
#include "runtime/nn/sequential.h"
#include "runtime/ops/activation.h"
#include "runtime/ops/reduction.h"
#include "runtime/optim/sgd.h"
#include "runtime/tensor/context.h"
#include "tests/runtime/parallel/replicas.h"
#include "tests/support/test_machine.h"

namespace ohm::parallel {
namespace {

constexpr int kSteps = 3;

// Rows that two ranks do not share out evenly.
std::shared_ptr<nn::Sequential> net_on(Device device) {
  Context::current().seed(7);
  const nn::ParameterOptions options{device};
  return std::make_shared<nn::Sequential>(
      std::vector<nn::ModulePtr>{std::make_shared<nn::Linear>(4, 5, true, options),
                                 std::make_shared<nn::Linear>(5, 3, true, options),
                                 std::make_shared<nn::Linear>(3, 1, true, options)});
}

Tensor batch_of(int rank, int step, Device device) {
  Context::current().seed(static_cast<std::uint64_t>(10 * step + rank) + 1);
  return randn({3, 4}, {DType::float32, device});
}

optim::OptimizerPtr optimizer_of(const nn::Module& net) {
  optim::SgdOptions options;
  options.lr = 0.1;
  options.momentum = 0.9;
  return std::make_shared<optim::Sgd>(net.parameters(), options);
}

using ValueLists = std::vector<std::vector<double>>;

// One device alone, with the mean of both ranks' losses.
ValueLists trained_whole() {
  test::TestMachine machine(kTwoGpus);
  const Device device = Device::cuda(0);
  const auto net = net_on(device);
  const auto optimizer = optimizer_of(*net);
  for (int step = 0; step < kSteps; ++step) {
    net->zero_grad(true);
    for (int rank = 0; rank < 2; ++rank) {
      const Tensor out = net->call(batch_of(rank, step, device));
      backward({ops::mean(ops::tanh(out))}, {full({}, 0.5, {DType::float32, device})},
               GraphRetention::release);
    }
    optimizer->step();
  }
  ValueLists values;
  for (const Tensor& parameter : net->parameters()) values.push_back(to_doubles(parameter));
  return values;
}

struct ShardedRun {
  FullyShardOptions options = {};
  bool shards_layers = true;
  bool accumulates = false;  ///< both batches on both ranks, one after the other
};

// Both ranks' parts, one after the other.
ValueLists trained_in_parts(const ShardedRun& run) {
  test::TestMachine machine(kTwoGpus);
  std::vector<ValueLists> parts(2);
  RankGroup::run(2, [&](int rank) {
    const Device device = Device::cuda(rank);
    const auto net = net_on(device);
    for (const nn::NamedModule& layer : net->children()) {
      if (run.shards_layers) fully_shard(layer.module, run.options);
    }
    fully_shard(net, run.options);
    const auto optimizer = optimizer_of(*net);
    for (int step = 0; step < kSteps; ++step) {
      net->zero_grad(true);
      for (int pass = run.accumulates ? 0 : 1; pass < 2; ++pass) {
        for (const nn::NamedModule& layer : net->children()) {
          find_sharded_state(*layer.module)->group()->reduces_gradients = pass == 1;
        }
        const int batch = run.accumulates ? pass : rank;
        backward({ops::mean(ops::tanh(net->call(batch_of(batch, step, device))))},
                 {full({}, run.accumulates ? 0.5 : 1.0, {DType::float32, device})},
                 GraphRetention::release);
      }
      optimizer->step();
    }
    ValueLists& own = parts[static_cast<std::size_t>(rank)];
    for (const Tensor& parameter : net->parameters()) own.push_back(to_doubles(parameter));
  });
  ValueLists values = parts[0];
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i].insert(values[i].end(), parts[1][i].begin(), parts[1][i].end());
  }
  return values;
}

void expect_trained_as_whole(const ShardedRun& run) {
  const ValueLists expected = trained_whole();
  const ValueLists values = trained_in_parts(run);
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_THAT(values[i], testing::Pointwise(testing::DoubleNear(1e-6), expected[i])) << i;
  }
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(FullyShard, TrainsAsTheWholeModuleDoes) { expect_trained_as_whole({}); }

TEST(FullyShard, TrainsWithParametersThatStayWholeBehindForward) {
  ShardedRun run;
  run.options.reshard_after_forward = false;
  expect_trained_as_whole(run);
}

TEST(FullyShard, TrainsWithParametersThatTheOutermostModuleLetsGo) {
  ShardedRun run;
  run.options.reshard_after_forward = true;
  expect_trained_as_whole(run);
}

TEST(FullyShard, AddsGradientsUpUntilTheyAreReduced) {
  ShardedRun run;
  run.accumulates = true;
  expect_trained_as_whole(run);
}

TEST(FullyShard, LeavesARankItsRows) {
  test::TestMachine machine(kTwoGpus);
  std::vector<std::vector<Shape>> shapes(2);
  RankGroup::run(2, [&](int rank) {
    const auto net = net_on(Device::cuda(rank));
    fully_shard(net, {});
    for (const Tensor& parameter : net->parameters()) {
      shapes[static_cast<std::size_t>(rank)].push_back(parameter.shape());
    }
  });
  EXPECT_THAT(shapes[0], testing::ElementsAre(Shape{3, 4}, Shape{3}, Shape{2, 5}, Shape{2},
                                              Shape{1, 3}, Shape{1}));
  EXPECT_THAT(shapes[1], testing::ElementsAre(Shape{2, 4}, Shape{2}, Shape{1, 5}, Shape{1},
                                              Shape{0, 3}, Shape{0}));
}

TEST(FullyShard, HasWholeParametersWhereAProgramAsks) {
  test::TestMachine machine(kTwoGpus);
  RankGroup::run(2, [&](int rank) {
    const auto layer =
        std::make_shared<nn::Linear>(2, 4, false, nn::ParameterOptions{Device::cuda(rank)});
    const std::vector<double> before = to_doubles(layer->parameters()[0]);
    fully_shard(layer, {});
    const auto state = find_sharded_state(*layer);
    state->unshard();
    const Tensor whole = layer->parameters()[0];
    EXPECT_EQ(to_doubles(whole).size(), before.size());
    state->reshard();
    EXPECT_EQ(layer->parameters()[0].shape(), (Shape{2, 2}));
    EXPECT_THAT(error_of([&] { to_doubles(whole); }),
                testing::HasSubstr("its memory was given back"));
  });
}

TEST(FullyShard, ComputesInTheDtypeOfItsPolicy) {
  test::TestMachine machine(kTwoGpus);
  RankGroup::run(2, [&](int rank) {
    const Device device = Device::cuda(rank);
    const auto net = net_on(device);
    FullyShardOptions options;
    options.mp_policy = {.param_dtype = DType::bfloat16, .reduce_dtype = DType::float32};
    for (const nn::NamedModule& layer : net->children()) fully_shard(layer.module, options);
    fully_shard(net, options);
    const Tensor out = net->call(batch_of(rank, 0, device));
    EXPECT_EQ(out.dtype(), DType::bfloat16);
    backward(ops::mean(out));
    for (const Tensor& parameter : net->parameters()) {
      EXPECT_EQ(parameter.dtype(), DType::float32);
      EXPECT_EQ(parameter.grad().dtype(), DType::float32);
      EXPECT_EQ(parameter.grad().shape(), parameter.shape());
    }
  });
}

TEST(FullyShard, RefusesWhatCannotBeSharded) {
  test::TestMachine machine(kTwoGpus);
  EXPECT_EQ(error_of([&] { fully_shard(net_on(Device::cuda(0)), {}); }),
            "[fully_shard] there is no process group: call it inside distributed.spawn");
  RankGroup::run(2, [&](int rank) {
    const auto net = net_on(Device::cuda(rank));
    fully_shard(net, {});
    EXPECT_EQ(error_of([&] { fully_shard(net, {}); }),
              "[fully_shard] it was called on this module before");
    EXPECT_THAT(error_of([&] { nn::deep_copy(*net); }), testing::HasSubstr("cannot be copied"));
  });
}

TEST(FullyShard, RefusesAnInnerModuleThatRanBeforeTheOutermost) {
  test::TestMachine machine(kTwoGpus);
  RankGroup::run(2, [&](int rank) {
    const Device device = Device::cuda(rank);
    const auto net = net_on(device);
    const nn::ModulePtr first = net->children()[0].module;
    fully_shard(first, {});
    fully_shard(net, {});
    first->call(batch_of(rank, 0, device));
    EXPECT_THAT(error_of([&] { net->call(batch_of(rank, 0, device)); }),
                testing::HasSubstr("run the outermost module first"));
  });
}

}  // namespace
}  // namespace ohm::parallel
