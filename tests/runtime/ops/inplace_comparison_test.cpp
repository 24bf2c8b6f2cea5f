#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/reduction.h"
#include "tests/runtime/ops/called_op.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

class InplaceComparison : public testing::TestWithParam<std::string> {
 protected:
  InplaceComparison() : machine_({.values = ValueMode::keeps_values}) {}

  TestMachine machine_;
};

TEST_P(InplaceComparison, WritesZerosAndOnesOfTheInputsDtype) {
  const Tensor other = from_values({1, 2, 0}, {3}, kDouble);
  for (const ops::Value& compared : {ops::Value(other), ops::Value(1.0)}) {
    const Tensor x = from_values({1, 1, 1, 2, 0, 0}, {2, 3}, kDouble);
    const Tensor expected = called(GetParam(), x, compared);
    const Tensor result = called(GetParam() + "_", x, compared);
    EXPECT_TRUE(result.is_same(x));
    EXPECT_EQ(result.dtype(), DType::float64);
    EXPECT_EQ(to_doubles(result), to_doubles(expected));
  }
}

TEST_P(InplaceComparison, HasGradientsOfZeros) {
  const Tensor x = from_values({1, 2}, {2}, kDouble);
  const Tensor other = from_values({2}, {1}, kDouble);
  x.set_requires_grad(true);
  other.set_requires_grad(true);
  backward(ops::sum(called(GetParam() + "_", ops::mul(x, 3.0), other)));
  EXPECT_EQ(to_doubles(x.grad()), (std::vector<double>{0, 0}));
  EXPECT_EQ(to_doubles(other.grad()), (std::vector<double>{0}));
}

TEST_P(InplaceComparison, RefusesWhatWouldHaveToGrow) {
  EXPECT_THROW(called(GetParam() + "_", ones({3}, kDouble), ones({2, 3}, kDouble)),
               std::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(AllOps, InplaceComparison,
                         testing::Values("eq", "ne", "lt", "le", "gt", "ge"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace ohm::test
