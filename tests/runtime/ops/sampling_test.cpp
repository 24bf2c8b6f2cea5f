// What multinomial and bernoulli draw.
#include "runtime/ops/sampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <vector>

#include "runtime/arithmetic/factories.h"
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

}  // namespace
}  // namespace ohm::test
