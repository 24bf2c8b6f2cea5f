// SyncBatchNorm: ranks with parts of a batch compute what BatchNorm does of the whole.
#include "runtime/parallel/sync_batch_norm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/tensor/context.h"
#include "tests/runtime/parallel/replicas.h"
#include "tests/support/test_machine.h"

namespace ohm::parallel {
namespace {

using testing::HasSubstr;
using Values = std::vector<double>;

constexpr int kChannels = 3;

struct Case {
  Shape pixels;                    ///< behind the channels
  std::vector<std::int64_t> rows;  ///< of each rank
  nn::BatchNormOptions options = {};
};

std::int64_t rows_of(const Case& test) { return test.rows[0] + test.rows[1]; }

// Of rows `first` to `first + count` of the whole.
Tensor part_of(const Case& test, std::int64_t first, std::int64_t count, std::uint64_t seed,
               Device device) {
  Context::current().seed(seed);
  Shape shape{rows_of(test), kChannels};
  for (const std::int64_t size : test.pixels) shape.push_back(size);
  const Tensor whole = randn(shape, {DType::float32, Device::cpu()});
  const std::int64_t row = whole.numel() / shape[0];
  Shape part = shape;
  part[0] = count;
  return transfer(make_view(whole, part, contiguous_strides(part), first * row), device);
}

/// What comes of a training step.
struct Step {
  Values out;
  Values input_gradient;
  Values weight_gradient;
  Values bias_gradient;
  Values running_mean;
  Values running_var;
};

Values gradient_of(const Tensor& tensor) {
  return tensor.defined() ? to_doubles(tensor.grad()) : Values();
}

Step train(nn::Module& norm, const Case& test, std::int64_t first, std::int64_t count,
           Device device) {
  const Tensor input = part_of(test, first, count, 7, device);
  input.set_requires_grad(true);
  const auto out = norm.forward(input);
  backward(ops::sum(ops::mul(out, part_of(test, first, count, 8, device))));
  Step step{to_doubles(out), gradient_of(input), {}, {}, {}, {}};
  const std::vector<Tensor> parameters = norm.parameters();
  if (!parameters.empty()) {
    step.weight_gradient = gradient_of(parameters[0]);
    step.bias_gradient = gradient_of(parameters[1]);
  }
  if (test.options.tracks_running_stats) {
    step.running_mean = to_doubles(norm.own_buffers()[0].tensor);
    step.running_var = to_doubles(norm.own_buffers()[1].tensor);
  }
  return step;
}

Values joined(const Values& a, const Values& b) {
  Values all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

Values summed(const Values& a, const Values& b) {
  Values sums = a;
  for (std::size_t i = 0; i < b.size(); ++i) sums[i] += b[i];
  return sums;
}

void expect_near(const Values& actual, const Values& expected) {
  EXPECT_THAT(actual, testing::Pointwise(testing::DoubleNear(2e-5), expected));
}

void expect_as_of_the_whole(const Case& test) {
  test::TestMachine machine(kTwoGpus);
  nn::BatchNorm whole({"BatchNorm", 2, 64}, kChannels, test.options, {Device::cuda(0)});
  const Step expected = train(whole, test, 0, rows_of(test), Device::cuda(0));
  std::vector<Step> ranks(2);
  RankGroup::run(2, [&](int rank) {
    const auto number = static_cast<std::size_t>(rank);
    const Device device = Device::cuda(rank);
    SyncBatchNorm norm(kChannels, test.options, {device}, nullptr);
    ranks[number] = train(norm, test, rank * test.rows[0], test.rows[number], device);
  });
  expect_near(joined(ranks[0].out, ranks[1].out), expected.out);
  expect_near(joined(ranks[0].input_gradient, ranks[1].input_gradient), expected.input_gradient);
  expect_near(summed(ranks[0].weight_gradient, ranks[1].weight_gradient), expected.weight_gradient);
  expect_near(summed(ranks[0].bias_gradient, ranks[1].bias_gradient), expected.bias_gradient);
  for (const Step& step : ranks) {
    expect_near(step.running_mean, expected.running_mean);
    expect_near(step.running_var, expected.running_var);
  }
}

TEST(SyncBatchNorm, ComputesWhatBatchNormDoesOfTheWhole) {
  expect_as_of_the_whole({{}, {4, 4}});
  expect_as_of_the_whole({{5}, {3, 2}});
  expect_as_of_the_whole({{2, 3}, {2, 4}});
  expect_as_of_the_whole({{}, {1, 5}, {.eps = 0.1, .momentum = 0.5}});
  expect_as_of_the_whole({{2, 2}, {2, 2}, {.is_affine = false, .tracks_running_stats = false}});
}

TEST(SyncBatchNorm, IsBatchNormWhereNothingIsToBeGathered) {
  test::TestMachine machine(kTwoGpus);
  const auto out_of = [&](nn::Module& norm, bool training) {
    norm.set_training(training);
    return to_doubles(norm.forward(part_of({{}, {4, 4}}, 0, 8, 7, Device::cuda(0))));
  };
  SyncBatchNorm sync(kChannels, {}, {Device::cuda(0)}, nullptr);
  nn::BatchNorm plain(nn::BatchNorm::k1d, kChannels, {}, {Device::cuda(0)});
  EXPECT_EQ(out_of(sync, true), out_of(plain, true));
  RankGroup::run(1, [&](int) { EXPECT_EQ(out_of(sync, true), out_of(plain, true)); });
  // Rank 1 is not there.
  RankGroup::run(2, [&](int rank) {
    if (rank == 0) {
      EXPECT_EQ(out_of(sync, false), out_of(plain, false));
    }
  });
}

TEST(SyncBatchNorm, GathersAmongTheRanksOfItsGroup) {
  test::TestMachine machine(kTwoGpus);
  RankGroup::run(2, [](int rank) {
    const GroupPtr first = RankGroup::current()->new_group({0});
    SyncBatchNorm norm(kChannels, {}, {Device::cuda(rank)}, first);
    if (rank == 1) return;  // and rank 0 does not wait for it
    nn::BatchNorm plain(nn::BatchNorm::k1d, kChannels, {}, {Device::cuda(0)});
    const Tensor part = part_of({{}, {4, 4}}, 0, 4, 7, Device::cuda(0));
    EXPECT_EQ(to_doubles(norm.forward(part)), to_doubles(plain.forward(part)));
  });
}

TEST(SyncBatchNorm, TakesThePlaceOfEveryBatchNorm) {
  test::TestMachine machine(kTwoGpus);
  const auto norm = std::make_shared<nn::BatchNorm>(
      nn::BatchNorm::k1d, kChannels, nn::BatchNormOptions(), nn::ParameterOptions{Device::cuda(0)});
  const nn::ModulePtr net = convert_sync_batchnorm(norm, nullptr);
  EXPECT_EQ(net->type_name(), "SyncBatchNorm");
  EXPECT_TRUE(net->parameters()[0].is_same(norm->parameters()[0]));
  EXPECT_TRUE(net->own_buffers()[0].tensor.is_same(norm->own_buffers()[0].tensor));
}

TEST(SyncBatchNorm, RefusesWhatItCannotNormalize) {
  const auto error_of = [](const std::function<Tensor(Device)>& input) -> std::string {
    test::TestMachine machine(kTwoGpus);
    try {
      RankGroup::run(2, [&](int rank) {
        SyncBatchNorm norm(kChannels, {}, {Device::cuda(rank)}, nullptr);
        norm.forward(input(Device::cuda(rank)));
      });
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "nothing";
  };
  const auto of_shape = [&](const Shape& shape) {
    return error_of([&](Device device) { return ones(shape, {DType::float32, device}); });
  };
  EXPECT_THAT(of_shape({3}), HasSubstr("[SyncBatchNorm] expected 2 to 64 dimensions"));
  EXPECT_THAT(of_shape({0, 3}),
              HasSubstr("[SyncBatchNorm] expected an input of floating elements"));
  EXPECT_THAT(of_shape({2, 4}), HasSubstr("[SyncBatchNorm] expected an input of 3 channels"));
  EXPECT_THAT(error_of([](Device) {
                return ones({2, 3}, {DType::float32, Device::cpu()});
              }),
              HasSubstr("[SyncBatchNorm] expected an input on a GPU"));
}

}  // namespace
}  // namespace ohm::parallel
