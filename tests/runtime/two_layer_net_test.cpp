// The two-layer net of the memory arithmetic: Linear(1000,2000)-ReLU-Linear(2000,10), batch 32.

#include <gtest/gtest.h>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/nn/linear.h"
#include "runtime/nn/new_parameter.h"
#include "runtime/nn/sequential.h"
#include "runtime/ops/activation/activation.h"
#include "runtime/ops/reduction/reduction.h"
#include "tests/support/test_machine.h"

namespace ohm {
namespace {

nn::ModulePtr two_layer_net() {
  const nn::ParameterOptions on_gpu{Device::cuda(0)};
  return std::make_shared<nn::Sequential>(
      std::vector<nn::ModulePtr>{std::make_shared<nn::Linear>(1000, 2000, true, on_gpu),
                                 std::make_shared<nn::FunctionModule>("ReLU", &ops::relu),
                                 std::make_shared<nn::Linear>(2000, 10, true, on_gpu)});
}

TEST(TwoLayerNet, AllocatesItsParametersRoundedOneByOne) {
  test::TestMachine machine;
  const auto net = two_layer_net();
  EXPECT_EQ(machine.allocated_bytes(), 8'000'000 + 8'192 + 80'384 + 512);
}

TEST(TwoLayerNet, KeepsTheReluResultAndTheOutputAfterForward) {
  test::TestMachine machine;
  const auto net = two_layer_net();
  const Tensor x = randn({32, 1000}, {DType::float32, Device::cuda(0)});
  EXPECT_EQ(machine.allocated_bytes(), 8'217'088);
  const Tensor out = net->forward(x);
  EXPECT_EQ(machine.allocated_bytes(), 8'217'088 + 256'000 + 1'536);
  EXPECT_EQ(machine.peak_bytes(), 8'217'088 + 2 * 256'000);
}

TEST(TwoLayerNet, HoldsOneGradientForEachParameterAfterBackward) {
  test::TestMachine machine;
  const auto net = two_layer_net();
  Tensor x = randn({32, 1000}, {DType::float32, Device::cuda(0)});
  Tensor loss = ops::sum(net->forward(x));
  backward(loss);
  x = Tensor();
  loss = Tensor();
  EXPECT_EQ(machine.allocated_bytes(), 2 * 8'089'088);
  for (const Tensor& parameter : net->parameters()) {
    EXPECT_EQ(parameter.grad().strides(), parameter.strides());
  }
}

TEST(TwoLayerNet, ComputesTheSameGradientAsADifferenceQuotient) {
  test::TestMachine machine({.values = ValueMode::keeps_values});
  const nn::ParameterOptions options{Device::cuda(0), DType::float64};
  nn::Linear layer(3, 2, true, options);
  const Tensor x = randn({4, 3}, {DType::float64, Device::cuda(0)});
  Tensor loss = ops::sum(ops::relu(layer.Module::forward(x)));
  backward(loss);
  const Tensor weight = layer.own_parameters()[0].tensor;
  const double gradient = to_doubles(weight.grad())[0];
  double* first = weight.data<double>();
  const double step = 1e-6;
  *first += step;
  const double above = ops::sum(ops::relu(layer.Module::forward(x))).item();
  *first -= 2 * step;
  const double below = ops::sum(ops::relu(layer.Module::forward(x))).item();
  EXPECT_NEAR(gradient, (above - below) / (2 * step), 1e-6);
}

}  // namespace
}  // namespace ohm
