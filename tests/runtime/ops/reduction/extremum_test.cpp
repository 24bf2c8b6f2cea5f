// Extrema of what is not all numbers, as PyTorch has them.
#include "runtime/ops/reduction/extremum.h"
#include "runtime/ops/shape/view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/ops/op_list.h"
#include "runtime/ops/sorting/order_statistics.h"
#include "runtime/ops/sorting/searching.h"
#include "runtime/ops/sorting/sorting.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

using testing::ElementsAre;
using testing::IsNan;

class Extremum : public testing::Test {
 protected:
  TestMachine machine_{{.values = ValueMode::keeps_values}};
  Tensor rows_ = from_values({3, std::nan(""), 1, std::nan(""), 5, 4, 4, 5}, {2, 4},
                             {DType::float32, Device::cuda(0)});
};

TEST_F(Extremum, TheFirstNanIsBothTheLargestAndTheSmallestOfItsLine) {
  for (const bool largest : {true, false}) {
    const auto [values, places] = largest ? ops::max(rows_, 1, false) : ops::min(rows_, 1, false);
    EXPECT_THAT(to_doubles(values), ElementsAre(IsNan(), largest ? 5 : 4));
    EXPECT_THAT(to_doubles(places), ElementsAre(1, largest ? 0 : 1));
    const Tensor found = largest ? ops::argmax(rows_, 1, false) : ops::argmin(rows_, 1, false);
    EXPECT_THAT(to_doubles(found), ElementsAre(1, largest ? 0 : 1));
  }
}

// Beyond 2^53 doubles have no odd numbers.
TEST_F(Extremum, LargeIntegersAreOrderedExactly) {
  constexpr std::int64_t kLarge = std::int64_t{1} << 53;
  const Tensor odd = full({3}, static_cast<double>(kLarge), {DType::int64, Device::cuda(0)});
  for (std::int64_t i = 0; i < 3; ++i) odd.data<std::int64_t>()[i] += (i * 2 + 1) % 4;  // 1, 3, 1
  const Tensor sorted = ops::sort(odd, 0, true).first;
  EXPECT_THAT(to_integers(sorted), ElementsAre(kLarge + 3, kLarge + 1, kLarge + 1));
  EXPECT_THAT(to_integers(ops::topk(odd, 1, 0, true).first), ElementsAre(kLarge + 3));
  EXPECT_THAT(to_integers(ops::kthvalue(odd, 3, 0, false).first), ElementsAre(kLarge + 3));
  EXPECT_THAT(to_integers(ops::mode(odd, 0, false).first), ElementsAre(kLarge + 1));
  const Tensor row = ops::sort(odd, 0, false).first;
  EXPECT_THAT(to_integers(ops::bucketize(odd, row, false, false)), ElementsAre(0, 2, 0));
  EXPECT_THAT(to_integers(ops::bucketize(odd, row, false, true)), ElementsAre(2, 3, 2));
}

TEST_F(Extremum, NanIsTheLargestForSorts) {
  EXPECT_THAT(to_doubles(ops::sort(rows_, 1, false).second), ElementsAre(2, 0, 1, 3, 1, 2, 0, 3));
  EXPECT_THAT(to_doubles(ops::topk(rows_, 2, 1, false).second), ElementsAre(2, 0, 1, 2));
  EXPECT_THAT(to_doubles(ops::topk(rows_, 2, 1, true).second), ElementsAre(1, 3, 0, 3));
}

// The result has the layout of what is sorted.
TEST_F(Extremum, SortsATransposedMatrix) {
  const Tensor matrix = from_values({3, 1, 2, 5}, {2, 2}, {DType::float32, Device::cuda(0)});
  const auto [sorted, places] = ops::sort(ops::transpose(matrix, 0, 1), 1, false);
  EXPECT_THAT(to_doubles(sorted), ElementsAre(2, 3, 1, 5));
  EXPECT_THAT(to_doubles(places), ElementsAre(1, 0, 0, 1));
}

/// The gradients of x = 0, 1, 2, 3, 4 and its bounds, one after the other, where that of the
/// result is 2.
std::vector<double> clamp_gradients(double min, double max) {
  const TensorOptions options{DType::float32, Device::cuda(0)};
  const std::vector<Tensor> leaves = {from_values({0, 1, 2, 3, 4}, {5}, options),
                                      full({1}, min, options), full({5}, max, options)};
  for (const Tensor& leaf : leaves) leaf.set_requires_grad(true);
  const Tensor bounds = ops::expand(leaves[1], {5});
  const ops::Value out =
      ops::find_op("clamp")->call(std::vector<ops::Value>{leaves[0], bounds, leaves[2]});
  backward({std::get<Tensor>(out)}, {full({5}, 2.0, options)}, GraphRetention::release);
  std::vector<double> gradients;
  for (const Tensor& leaf : leaves) {
    for (const double gradient : to_doubles(leaf.grad())) gradients.push_back(gradient);
  }
  return gradients;
}

TEST_F(Extremum, WhatEqualsABoundSharesItsGradientWithItFromPyTorch215On) {
  machine_.context().rules = find_rule_set("pytorch-2.15");
  EXPECT_THAT(clamp_gradients(1, 3), ElementsAre(0, 1, 2, 1, 0, /**/ 3, /**/ 0, 0, 0, 1, 2));
  EXPECT_THAT(clamp_gradients(2, 2), ElementsAre(0, 0, 2, 0, 0, /**/ 4, /**/ 0, 0, 0, 2, 2));
  EXPECT_THAT(clamp_gradients(3, 1), ElementsAre(0, 0, 0, 0, 0, /**/ 0, /**/ 2, 2, 2, 2, 2));
  machine_.context().rules = find_rule_set("pytorch-2.6");
  EXPECT_THAT(clamp_gradients(1, 3), ElementsAre(0, 2, 2, 2, 0, /**/ 2, /**/ 0, 0, 0, 0, 2));
  EXPECT_THAT(clamp_gradients(2, 2), ElementsAre(0, 0, 2, 0, 0, /**/ 0, /**/ 0, 0, 0, 2, 2));
}

}  // namespace
}  // namespace ohm::test
