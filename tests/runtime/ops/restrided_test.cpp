#include "runtime/ops/restrided.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/reduction.h"
#include "runtime/ops/view.h"
#include "tests/runtime/ops/called_op.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

class Restrided : public testing::Test {
 protected:
  TestMachine machine_{{.values = ValueMode::keeps_values}};
  Tensor x_ = from_values({1, 2, 3, 4, 5, 6}, {2, 3}, kDouble);
};

TEST_F(Restrided, BecomesTheViewItself) {
  EXPECT_TRUE(called("t_", {x_}).is_same(x_));
  EXPECT_EQ(x_.shape(), (Shape{3, 2}));
  EXPECT_EQ(to_doubles(x_), (std::vector<double>{1, 4, 2, 5, 3, 6}));
  called("unsqueeze_", {x_, std::int64_t{-1}});
  EXPECT_EQ(x_.shape(), (Shape{3, 2, 1}));
  called("transpose_", {x_, std::int64_t{0}, std::int64_t{2}});
  called("squeeze_", {x_, ops::Value()});
  EXPECT_EQ(x_.shape(), (Shape{2, 3}));
  EXPECT_TRUE(x_.is_contiguous());
}

TEST_F(Restrided, GradientsComeInTheShapeThatWas) {
  x_.set_requires_grad(true);
  const Tensor y = ops::mul(x_, 2.0);
  called("t_", {y});
  called("unsqueeze_", {y, std::int64_t{0}});
  called("squeeze_", {y, std::int64_t{0}});
  backward(ops::sum(ops::mul(y, from_values({1, 2, 3, 4, 5, 6}, {3, 2}, kDouble))));
  EXPECT_EQ(to_doubles(x_.grad()), (std::vector<double>{2, 6, 10, 4, 8, 12}));
}

TEST_F(Restrided, CountsAsAWrite) {
  x_.set_requires_grad(true);
  const Tensor y = ops::mul(x_, 2.0);
  const Tensor z = ops::sum(ops::mul(y, y));
  called("t_", {y});
  EXPECT_THROW(backward(z), std::invalid_argument);
}

TEST_F(Restrided, LeavesAndViewsOfAGraphKeepTheirShape) {
  x_.set_requires_grad(true);
  EXPECT_THROW(called("t_", {x_}), std::invalid_argument);
  const Tensor y = ops::mul(x_, 2.0);
  EXPECT_THROW(called("t_", {ops::view(y, {3, 2})}), std::invalid_argument);
}

TEST_F(Restrided, WhatLiesOutsideOfTheStorageIsRefused) {
  for (const auto& [size, stride] : std::vector<std::pair<Shape, Shape>>{
           {{7}, {1}}, {{2, 2}, {5, 1}}, {{2}, {1, 1}}, {{2}, {-1}}, {{2}, {INT64_MAX}}}) {
    EXPECT_THROW(ops::as_strided(x_, size, stride, std::int64_t{0}), std::invalid_argument);
  }
  EXPECT_THROW(ops::as_strided(x_, {2}, {1}, std::int64_t{5}), std::invalid_argument);
  EXPECT_EQ(ops::as_strided(x_, {0}, {1}, std::int64_t{9}).numel(), 0);
}

TEST_F(Restrided, GradientsOfWindowsAreAddedUp) {
  x_.set_requires_grad(true);
  backward(ops::sum(ops::as_strided(x_, {4, 3}, {1, 1}, std::nullopt)));
  EXPECT_EQ(to_doubles(x_.grad()), (std::vector<double>{1, 2, 3, 3, 2, 1}));
}

}  // namespace
}  // namespace ohm::test
