// Which elements dropout drops, and what becomes of the others.
#include "runtime/ops/random/dropout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/ops/conversion/convert.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

class Dropout : public testing::Test {
 protected:
  Tensor dropped(double p, std::uint64_t seed) {
    machine_.context().seed(seed);
    return ops::dropout(ones_, p, true);
  }

  TestMachine machine_{{.values = ValueMode::keeps_values}};
  Tensor ones_ = ones({100, 100}, {DType::float32, Device::cuda(0)});
};

TEST_F(Dropout, DrawsEqualElementsForEqualSeeds) {
  EXPECT_EQ(to_doubles(dropped(0.3, 5)), to_doubles(dropped(0.3, 5)));
  EXPECT_NE(to_doubles(dropped(0.3, 5)), to_doubles(dropped(0.3, 6)));
}

TEST_F(Dropout, ScalesWhatStaysSoThatTheMeanStays) {
  const std::vector<double> values = to_doubles(dropped(0.25, 1));
  const auto zeros = std::count(values.begin(), values.end(), 0.0);
  EXPECT_NEAR(static_cast<double>(zeros), 2500, 200);  // 4.6 standard deviations
  for (const double value : values) {
    EXPECT_TRUE(value == 0.0 || static_cast<float>(value) == 4.0F / 3.0F) << value;
  }
}

TEST_F(Dropout, EveryFormDrawsTheSameElements) {
  const std::vector<double> expected = to_doubles(dropped(0.4, 3));
  machine_.context().seed(3);
  const Tensor copy = ops::clone(ones_);
  EXPECT_EQ(to_doubles(ops::dropout_(copy, 0.4, true)), expected);
}

TEST_F(Dropout, OfSelusKeepsMeanAndVariance) {
  machine_.context().seed(7);
  const Tensor normal = randn({100, 100}, options_of(ones_));
  const std::vector<double> values = to_doubles(ops::alpha_dropout(normal, 0.3, true));
  double sum = 0;
  double squares = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / 10000.0, 0.0, 0.05);
  EXPECT_NEAR(squares / 10000.0, 1.0, 0.05);
  EXPECT_TRUE(ops::alpha_dropout(normal, 0.3, false).is_same(normal));
}

// So many channels of 9 elements, each of which is whole or dropped.
void expect_whole_channels(const Tensor& images) {
  const std::vector<double> values = to_doubles(images);
  const std::size_t channels = values.size() / 9;
  std::size_t dropped_channels = 0;
  for (std::size_t channel = 0; channel < channels; ++channel) {
    const double first = values[channel * 9];
    for (std::size_t i = 0; i < 9; ++i) ASSERT_EQ(values[channel * 9 + i], first);
    if (first == 0.0) ++dropped_channels;
  }
  EXPECT_NEAR(static_cast<double>(dropped_channels), static_cast<double>(channels) / 2.0, 26.0);
}

TEST_F(Dropout, DropsWholeChannels) {
  const TensorOptions options{DType::float32, Device::cuda(0)};
  expect_whole_channels(ops::dropout2d(ones({8, 16, 3, 3}, options), 0.5, true));
  expect_whole_channels(ops::dropout3d(ones({8, 16, 1, 3, 3}, options), 0.5, true));
  expect_whole_channels(ops::dropout1d(ones({8, 16, 9}, options), 0.5, true));
  const Tensor line = ops::dropout1d(ones({128, 9}, options), 0.5, true);
  EXPECT_EQ(line.shape(), (Shape{128, 9}));
  expect_whole_channels(line);
  // One volume has no N.
  const Tensor volume = ops::dropout3d(ones({128, 1, 3, 3}, options), 0.5, true);
  EXPECT_EQ(volume.shape(), (Shape{128, 1, 3, 3}));
  expect_whole_channels(volume);
}

TEST_F(Dropout, MovesTheGeneratorOnSizeOnlyDevicesToo) {
  dropped(0.3, 5);
  const std::uint64_t offset = machine_.context().gpus[0].generator.offset;
  TestMachine size_only;
  size_only.context().seed(5);
  ops::dropout(ones({100, 100}, {DType::float32, Device::cuda(0)}), 0.3, true);
  EXPECT_EQ(size_only.context().gpus[0].generator.offset, offset);
}

}  // namespace
}  // namespace ohm::test
