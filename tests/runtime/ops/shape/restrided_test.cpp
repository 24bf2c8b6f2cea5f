#include "runtime/ops/shape/restrided.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/view.h"
#include "tests/runtime/ops/called_op.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

class Restrided : public testing::Test {
 protected:
  TestMachine machine_{{.values = ValueMode::keeps_values}};
  Tensor x_ = from_values({1, 2, 3, 4, 5, 6}, {2, 3}, kDouble);
};

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
