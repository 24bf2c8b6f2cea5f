#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/op_list.h"
#include "runtime/ops/reduction.h"
#include "tests/runtime/ops/called_op.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

const TensorOptions kWhole{DType::int64, Device::cpu()};

struct InplacePair : testing::TestWithParam<std::string> {
  TestMachine machine{{.values = ValueMode::keeps_values}};
};

struct WholePair : InplacePair {};

TEST_P(WholePair, WritesWhatThePlainOneGives) {
  const Tensor x = from_values({6, -9, 12, 3}, {2, 2}, kWhole);
  const Tensor y = from_values({4, 3}, {2}, kWhole);
  const std::vector<double> expected = to_doubles(called(GetParam(), x, y));
  EXPECT_TRUE(called(GetParam() + "_", x, y).is_same(x));
  EXPECT_EQ(to_doubles(x), expected);
}

INSTANTIATE_TEST_SUITE_P(AllOps, WholePair,
                         testing::Values("bitwise_and", "bitwise_or", "bitwise_xor",
                                         "bitwise_left_shift", "bitwise_right_shift", "gcd", "lcm",
                                         "remainder", "floor_divide"),
                         [](const auto& instance) { return instance.param; });

struct RemainderPair : InplacePair {};

TEST_P(RemainderPair, HasTheGradientsOfThePlainOne) {
  const auto gradients = [](const std::string& op) {
    const Tensor x = from_values({5.5, -7.25}, {2}, kDouble);
    const Tensor y = from_values({2.0, 3.0}, {2}, kDouble);
    x.set_requires_grad(true);
    y.set_requires_grad(true);
    backward(ops::sum(ops::mul(called(op, ops::mul(x, 1.0), y), 3.0)));
    std::vector<double> both = to_doubles(x.grad());
    for (const double each : to_doubles(y.grad())) both.push_back(each);
    return both;
  };
  EXPECT_EQ(gradients(GetParam() + "_"), gradients(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(AllOps, RemainderPair, testing::Values("remainder", "fmod"),
                         [](const auto& instance) { return instance.param; });

TEST_F(InplacePair, BoolsStayBools) {
  const Tensor mask = from_values({1, 1, 0, 0}, {4}, {DType::boolean, Device::cpu()});
  const Tensor other = from_values({1, 0, 1, 0}, {4}, {DType::boolean, Device::cpu()});
  called("bitwise_xor_", mask, other);
  EXPECT_EQ(to_doubles(mask), (std::vector<double>{0, 1, 1, 0}));
  EXPECT_THROW(called("bitwise_and_", mask, from_values({1}, {1}, kWhole)), std::invalid_argument);
  EXPECT_THROW(called("mul_", mask, 1.5), std::invalid_argument);
}

TEST_F(InplacePair, BitsAreFlipped) {
  const Tensor x = from_values({0, 5}, {2}, kWhole);
  ops::find_op("bitwise_not_")->call(std::vector<ops::Value>{x});
  EXPECT_EQ(to_doubles(x), (std::vector<double>{-1, -6}));
}

}  // namespace
}  // namespace ohm::test
