// Random numbers are a function of seed, place in the sequence and element: nothing else.
#include "runtime/base/philox.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <thread>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/ops/random/dropout.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

constexpr TensorOptions kOnGpu{DType::float32, Device::cuda(0)};

std::vector<double> everything_drawn(std::uint64_t seed) {
  TestMachine machine({.values = ValueMode::keeps_values});
  machine.context().seed(seed);
  std::vector<double> drawn;
  const auto add = [&](const Tensor& tensor) {
    const std::vector<double> values = to_doubles(tensor);
    drawn.insert(drawn.end(), values.begin(), values.end());
  };
  add(randn({1001}, kOnGpu));
  add(rand({7, 11}, kOnGpu));
  add(randint(-5, 1000, {64}, {DType::int64, Device::cuda(0)}));
  add(ops::dropout(ones({999}, kOnGpu), 0.3, true));
  return drawn;
}

// The first known answer of the generator's authors.
TEST(Philox, GivesThePublishedWords) {
  const std::array<std::uint32_t, 4> published = {0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU,
                                                  0x9b00dbd8U};
  EXPECT_EQ(philox_block(0, 0), published);
}

TEST(Philox, GivesTheSameBitsOnEveryThreadWhateverTheOthersDraw) {
  const std::vector<double> expected = everything_drawn(42);
  std::vector<std::vector<double>> drawn(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    threads.emplace_back([&drawn, i] {
      if (i % 2 == 1) everything_drawn(i);
      drawn[i] = everything_drawn(42);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<double>& each : drawn) EXPECT_EQ(each, expected);
  EXPECT_NE(everything_drawn(43), expected);
}

// Any part of a draw can be computed by itself: that is what lets threads share one.
TEST(Philox, NeedsNoEarlierElementForALaterOne) {
  TestMachine machine({.values = ValueMode::keeps_values});
  machine.context().seed(5);
  const std::vector<double> all = to_doubles(rand({1000}, kOnGpu));
  for (const std::uint64_t i : {0U, 1U, 6U, 513U, 999U}) {
    EXPECT_EQ(all[i], uniform_from_word(philox_word(5, 0, i)));
  }
  machine.context().seed(5);
  const std::vector<double> few = to_doubles(rand({10}, kOnGpu));
  EXPECT_TRUE(std::equal(few.begin(), few.end(), all.begin()));
}

TEST(Philox, GivesDevicesSequencesOfTheirOwn) {
  TestMachine machine({.gpus = 2, .values = ValueMode::keeps_values});
  machine.context().seed(9);
  const std::vector<double> first = to_doubles(randn({8}, {DType::float32, Device::cuda(1)}));
  machine.context().seed(9);
  randn({100}, kOnGpu);
  EXPECT_EQ(to_doubles(randn({8}, {DType::float32, Device::cuda(1)})), first);
}

TEST(Philox, GivesNormalsOfMeanZeroAndVarianceOne) {
  TestMachine machine({.values = ValueMode::keeps_values});
  constexpr double kCount = 1'000'000;
  const std::vector<double> drawn = to_doubles(randn({1'000'000}, kOnGpu));
  const double mean = std::accumulate(drawn.begin(), drawn.end(), 0.0) / kCount;
  double squares = 0;
  for (const double value : drawn) squares += value * value;
  EXPECT_NEAR(mean, 0.0, 5e-3);
  EXPECT_NEAR(squares / kCount, 1.0, 1e-2);
}

}  // namespace
}  // namespace ohm::test
