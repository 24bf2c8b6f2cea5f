// What multinomial, bernoulli, exponential and gumbel_softmax draw.
#include "runtime/ops/random/sampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <stdexcept>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/ops/image/image_composition.h"
#include "runtime/ops/op_list.h"
#include "runtime/ops/pointwise/pointwise_unary.h"
#include "runtime/ops/reduction/reduction.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

class Sampling : public testing::Test {
 protected:
  static Tensor weights(const std::vector<double>& values, const Shape& shape) {
    return from_values(values, shape, {DType::float32, Device::cuda(0)});
  }

  TestMachine machine_{{.values = ValueMode::keeps_values}};
};

TEST_F(Sampling, DrawsPlacesWithWeightAlone) {
  const Tensor rows = weights({0, 1, 0, 3, 0, 0}, {2, 3});
  EXPECT_EQ(to_integers(ops::multinomial(rows, 1, false)), (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(to_integers(ops::multinomial(rows, 4, true)),
            (std::vector<std::int64_t>{1, 1, 1, 1, 0, 0, 0, 0}));
}

TEST_F(Sampling, DrawsAsOftenAsTheWeightsSay) {
  const Tensor line = weights({1, 3}, {2});
  const std::vector<std::int64_t> places = to_integers(ops::multinomial(line, 4000, true));
  EXPECT_NEAR(static_cast<double>(std::count(places.begin(), places.end(), 1)), 3000, 130);
}

TEST_F(Sampling, DrawsNoPlaceTwiceWithoutReplacement) {
  const Tensor line = ones({50}, {DType::float32, Device::cuda(0)});
  const std::vector<std::int64_t> places = to_integers(ops::multinomial(line, 50, false));
  EXPECT_EQ(std::set<std::int64_t>(places.begin(), places.end()).size(), 50U);
}

TEST_F(Sampling, DrawsEqualPlacesForEqualSeeds) {
  const Tensor line = ones({50}, {DType::float32, Device::cuda(0)});
  const auto drawn = [&](std::uint64_t seed) {
    machine_.context().seed(seed);
    return to_integers(ops::multinomial(line, 10, false));
  };
  EXPECT_EQ(drawn(4), drawn(4));
  EXPECT_NE(drawn(4), drawn(5));
}

TEST_F(Sampling, GumbelChoosesAsOftenAsTheWeightsSay) {
  const Tensor rows = ops::log(from_values({1, 3}, {2}, {DType::float32, Device::cuda(0)}));
  std::vector<double> chosen;
  for (int draw = 0; draw < 1000; ++draw) {
    const std::vector<double> row = to_doubles(ops::gumbel_softmax(rows, 1.0, true, 1e-10, -1));
    chosen.push_back(std::round(row[1]));
    EXPECT_NEAR(row[0] + row[1], 1.0, 1e-6);
  }
  EXPECT_NEAR(static_cast<double>(std::count(chosen.begin(), chosen.end(), 1.0)), 750, 60);
}

TEST_F(Sampling, SoftGumbelsAddUpToOne) {
  const Tensor rows = randn({3, 4}, {DType::float64, Device::cpu()});
  for (const double total :
       to_doubles(ops::sum(ops::gumbel_softmax(rows, 0.5, false, 1e-10, 1), Shape{1}, false, {}))) {
    EXPECT_NEAR(total, 1.0, 1e-12);
  }
}

TEST_F(Sampling, RefusesWhatIsNoWeight) {
  EXPECT_THROW(ops::multinomial(weights({1, -1}, {2}), 1, false), std::invalid_argument);
  EXPECT_THROW(ops::multinomial(weights({0, 0}, {2}), 1, false), std::invalid_argument);
  EXPECT_THROW(ops::multinomial(weights({1, 1}, {2}), 3, false), std::invalid_argument);
  EXPECT_THROW(ops::multinomial(weights({1, 1}, {2}), 0, true), std::invalid_argument);
}

TEST_F(Sampling, BernoulliDrawsOnesAsOftenAsItsInputSays) {
  const Tensor share = full({4000}, 0.25, {DType::float32, Device::cuda(0)});
  const std::vector<double> values = to_doubles(ops::bernoulli(share));
  EXPECT_NEAR(static_cast<double>(std::count(values.begin(), values.end(), 1.0)), 1000, 130);
  EXPECT_EQ(
      std::count(values.begin(), values.end(), 0.0) + std::count(values.begin(), values.end(), 1.0),
      4000);
}

TEST_F(Sampling, BernoulliOverATensorDrawsOnesAsOftenAsIsAsked) {
  const Tensor drawn = zeros({4000}, {DType::float32, Device::cuda(0)});
  ops::find_op("bernoulli_")->call(std::vector<ops::Value>{drawn, 0.25});
  const std::vector<double> values = to_doubles(drawn);
  EXPECT_NEAR(static_cast<double>(std::count(values.begin(), values.end(), 1.0)), 1000, 130);
}

TEST_F(Sampling, ExponentialDrawsHaveTheMeanThatTheirRateSays) {
  const Tensor drawn = zeros({4000}, {DType::float32, Device::cuda(0)});
  ops::find_op("exponential_")->call(std::vector<ops::Value>{drawn, 2.0});
  const std::vector<double> values = to_doubles(drawn);
  EXPECT_GE(*std::min_element(values.begin(), values.end()), 0.0);
  EXPECT_NEAR(std::accumulate(values.begin(), values.end(), 0.0) / 4000, 0.5, 0.05);
}

TEST_F(Sampling, RandomDrawsIntegersUpToWhereItIsAsked) {
  const auto drawn = [](DType dtype, const ops::Value& from, const ops::Value& to) {
    const Tensor tensor = zeros({4000}, {dtype, Device::cuda(0)});
    ops::find_op("random_")->call(std::vector<ops::Value>{tensor, from, to});
    std::vector<double> values = to_doubles(tensor);
    std::sort(values.begin(), values.end());
    return values;
  };
  const std::vector<double> few = drawn(DType::int64, std::int64_t{5}, ops::Value());
  EXPECT_EQ(few.front(), 0.0);
  EXPECT_EQ(few.back(), 4.0);
  EXPECT_NEAR(static_cast<double>(std::count(few.begin(), few.end(), 2.0)), 800, 120);
  const std::vector<double> between = drawn(DType::float32, std::int64_t{-3}, std::int64_t{2});
  EXPECT_EQ(between.front(), -3.0);
  EXPECT_EQ(between.back(), 1.0);
  EXPECT_GT(drawn(DType::uint8, ops::Value(), ops::Value()).back(), 200.0);
  EXPECT_LE(drawn(DType::float16, ops::Value(), ops::Value()).back(), 2048.0);
}

}  // namespace
}  // namespace ohm::test
