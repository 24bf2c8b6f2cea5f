// Gradients as values, and gradients of gradients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/ops/activation/activation.h"
#include "runtime/ops/activation/piecewise.h"
#include "runtime/ops/loss/loss_multi_margin.h"
#include "runtime/ops/op_list.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/power.h"
#include "runtime/ops/reduction/reduction.h"
#include "tests/support/op_samples.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Tensor leaf(const std::vector<double>& values) {
  const Tensor tensor = from_values(values, {static_cast<std::int64_t>(values.size())},
                                    {DType::float64, Device::cpu()});
  tensor.set_requires_grad(true);
  return tensor;
}

GradientRequest with_graph() {
  GradientRequest request;
  request.retention = GraphRetention::retain;
  request.graph = GradientGraph::record;
  return request;
}

class Gradients : public testing::Test {
 protected:
  TestMachine machine_{{.values = ValueMode::keeps_values}};
};

TEST_F(Gradients, AreReturnedAndNothingIsAccumulated) {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = leaf({4, 5, 6});
  const std::vector<Tensor> found = gradients({ops::sum(ops::mul(x, y))}, {}, {y}, {});
  EXPECT_EQ(to_doubles(found[0]), (std::vector<double>{1, 2, 3}));
  EXPECT_FALSE(x.grad().defined());
  EXPECT_FALSE(y.grad().defined());
}

TEST_F(Gradients, AreTakenByTensorsInsideTheGraph) {
  const Tensor x = leaf({1, 2});
  const Tensor inner = ops::mul(x, 3.0);
  const Tensor result = ops::sum(ops::mul(inner, inner));
  const std::vector<Tensor> found = gradients({result}, {}, {inner, x}, {});
  EXPECT_EQ(to_doubles(found[0]), (std::vector<double>{6, 12}));
  EXPECT_EQ(to_doubles(found[1]), (std::vector<double>{18, 36}));
}

TEST_F(Gradients, RunOnlyTheNodesThatLeadToAnInput) {
  const Tensor x = leaf({1, 2});
  const Tensor y = leaf({3, 4});
  const Tensor square = ops::mul(y, y);
  const Tensor result = ops::sum(ops::add(x, square));
  gradients({result}, {}, {x}, {});
  // The node of the square did not run: what it saved is still there.
  const std::vector<Tensor> found = gradients({ops::sum(square)}, {}, {y}, {});
  EXPECT_EQ(to_doubles(found[0]), (std::vector<double>{6, 8}));
}

TEST_F(Gradients, OfAnUnusedInputAreAnErrorUnlessAllowed) {
  const Tensor x = leaf({1, 2});
  const Tensor unused = leaf({3});
  const auto take = [&](bool allows_unused) {
    GradientRequest request;
    request.allows_unused = allows_unused;
    return gradients({ops::sum(ops::mul(x, 2.0))}, {}, {x, unused}, request);
  };
  EXPECT_THAT([&] { take(false); }, ThrowsMessage<std::invalid_argument>(
                                        HasSubstr("(number 2) appears to not have been used")));
  EXPECT_FALSE(take(true)[1].defined());
}

TEST_F(Gradients, OfATensorWithoutAGraphAreAnError) {
  const Tensor x = leaf({1});
  const Tensor plain = ones({1}, {DType::float64, Device::cpu()});
  EXPECT_THAT([&] { gradients({ops::mul(x, x)}, {}, {plain}, {}); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("does not require grad")));
}

TEST_F(Gradients, HaveNoGraphUnlessItIsAskedFor) {
  const Tensor x = leaf({1, 2});
  EXPECT_FALSE(gradients({ops::sum(ops::mul(x, x))}, {}, {x}, {})[0].requires_grad());
  EXPECT_TRUE(gradients({ops::sum(ops::mul(x, x))}, {}, {x}, with_graph())[0].requires_grad());
}

TEST_F(Gradients, CanBeDifferentiatedAnyNumberOfTimes) {
  const Tensor x = leaf({2});
  Tensor derivative = ops::sum(ops::pow(x, 4.0));
  std::vector<double> found;
  for (int order = 1; order <= 3; ++order) {
    derivative = gradients({derivative}, {}, {x}, with_graph())[0];
    found.push_back(to_doubles(derivative)[0]);
  }
  EXPECT_EQ(found, (std::vector<double>{32, 48, 48}));
}

TEST_F(Gradients, AccumulateOutOfPlaceWhereTheirGraphIsWanted) {
  const Tensor x = leaf({3});
  const auto run = [&] {
    backward({ops::sum(ops::mul(x, x))}, {}, GraphRetention::retain, GradientGraph::record);
  };
  run();
  const Tensor first = x.grad();
  run();
  EXPECT_FALSE(x.grad().is_same(first));
  EXPECT_EQ(to_doubles(first)[0], 6);
  EXPECT_EQ(to_doubles(x.grad())[0], 12);
  EXPECT_TRUE(x.grad().requires_grad());
  x.set_grad(Tensor());  // parameter and gradient hold each other
}

TEST_F(Gradients, NameTheOpThatCannotBeDifferentiatedTwice) {
  const Tensor x = leaf({1, 2});
  const Tensor target = zeros({1}, {DType::int64, Device::cpu()});
  const auto of_margins = [&] {
    return ops::multi_margin_loss(x, target, 1, 1.0, std::nullopt, ops::Reduction::mean);
  };
  EXPECT_THAT([&] { gradients({of_margins()}, {}, {x}, with_graph()); },
              ThrowsMessage<std::invalid_argument>(
                  testing::AllOf(HasSubstr("create_graph"), HasSubstr("MultiMarginLossBackward"))));
}

TEST_F(Gradients, OfHardsigmoidHaveNoGradient) {
  const Tensor x = leaf({2});
  const Tensor first = gradients({ops::sum(ops::hardsigmoid(x))}, {}, {x}, with_graph())[0];
  EXPECT_DOUBLE_EQ(to_doubles(first)[0], 1.0 / 6.0);
  EXPECT_THAT([&] { gradients({ops::sum(first)}, {}, {x}, {}); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("hardsigmoid")));
}

// Second gradients of an op that writes over its input are those of the op that does not.
void expect_same_second_gradients(Tensor (*of)(const Tensor&, bool)) {
  const auto second = [of](bool inplace) {
    const Tensor x = from_values({-1.3, -0.2, 0.4, 0.9}, {4}, {DType::float64, Device::cpu()});
    x.set_requires_grad(true);
    const Tensor y = of(ops::mul(x, 1.5), inplace);
    const Tensor first = gradients({ops::sum(ops::mul(y, y))}, {}, {x}, with_graph())[0];
    return to_doubles(gradients({ops::sum(ops::mul(first, first))}, {}, {x}, {})[0]);
  };
  const std::vector<double> expected = second(false);
  const std::vector<double> found = second(true);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-12) << i;
}

TEST_F(Gradients, HaveGradientsWhereTheInputWasWrittenOver) {
  expect_same_second_gradients([](const Tensor& x, bool inplace) { return ops::silu(x, inplace); });
  expect_same_second_gradients([](const Tensor& x, bool inplace) { return ops::selu(x, inplace); });
  expect_same_second_gradients(
      [](const Tensor& x, bool inplace) { return ops::elu(x, 0.7, inplace); });
  expect_same_second_gradients(
      [](const Tensor& x, bool inplace) { return ops::celu(x, 0.7, inplace); });
  expect_same_second_gradients(
      [](const Tensor& x, bool inplace) { return ops::hardtanh(x, -1.0, 1.0, inplace); });
  expect_same_second_gradients(
      [](const Tensor& x, bool inplace) { return ops::leaky_relu(x, 0.1, inplace); });
}

// ---- every op whose formula is recorded ---------------------------------------------------------

constexpr double kStep = 1e-6;
constexpr double kTolerance = 1e-5;

// Fixed directions: sums of products with them are what is differentiated.
Tensor direction_for(const Tensor& tensor, double phase) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    values.push_back(std::sin(phase + static_cast<double>(i)));
  }
  return from_values(values, tensor.shape(), options_of(tensor));
}

std::vector<Tensor> leaves_of(const ops::OpDef& op, const Sample& sample) {
  std::vector<Tensor> leaves;
  for (const std::size_t position : differentiable(op, sample)) {
    for (const Tensor& tensor : tensors_in(sample[position])) leaves.push_back(tensor);
  }
  return leaves;
}

std::vector<Tensor> first_gradients(const ops::OpDef& op, const Sample& sample,
                                    const GradientRequest& request) {
  const Tensor result = tensors_in(call_op(op, sample))[0];
  return gradients({result}, {direction_for(result, 1.0)}, leaves_of(op, sample), request);
}

double weighted(const std::vector<Tensor>& tensors) {
  double sum = 0;
  for (const Tensor& tensor : tensors) {
    const std::vector<double> values = to_doubles(tensor);
    const std::vector<double> weights = to_doubles(direction_for(tensor, 2.0));
    for (std::size_t i = 0; i < values.size(); ++i) sum += values[i] * weights[i];
  }
  return sum;
}

double slope_of_gradients(const ops::OpDef& op, const Sample& sample, double& element) {
  const double original = element;
  element = original + kStep;
  const double above = weighted(first_gradients(op, sample, {}));
  element = original - kStep;
  const double below = weighted(first_gradients(op, sample, {}));
  element = original;
  return (above - below) / (2 * kStep);
}

void check_second_gradients(const ops::OpDef& op, const Sample& given) {
  const Sample sample = converted(given, DType::float64, Device::cpu());
  require_gradients(op, sample);
  std::vector<Tensor> roots;
  std::vector<Tensor> root_grads;
  for (const Tensor& gradient : first_gradients(op, sample, with_graph())) {
    if (!gradient.requires_grad()) continue;
    roots.push_back(gradient);
    root_grads.push_back(direction_for(gradient, 2.0));
  }
  GradientRequest request;
  request.allows_unused = true;
  const std::vector<Tensor> leaves = leaves_of(op, sample);
  std::vector<Tensor> second(leaves.size());
  if (!roots.empty()) second = gradients(roots, std::move(root_grads), leaves, request);
  const Sample moved = converted(given, DType::float64, Device::cpu());
  require_gradients(op, moved);
  const std::vector<Tensor> inputs = leaves_of(op, moved);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    for (std::int64_t k = 0; k < leaves[i].numel(); ++k) {
      const double expected = slope_of_gradients(op, moved, inputs[i].data<double>()[k]);
      const double found =
          second[i].defined() ? to_doubles(second[i])[static_cast<std::size_t>(k)] : 0.0;
      EXPECT_NEAR(found, expected, kTolerance * std::max(1.0, std::abs(expected)))
          << "input " << i << ", element " << k;
    }
  }
}

class SecondGradient : public testing::TestWithParam<std::string> {
 private:
  TestMachine machine_{{.values = ValueMode::keeps_values}};
};

TEST_P(SecondGradient, EqualsCentralDifferencesOfTheFirst) {
  const ops::OpDef& op = *ops::find_op(GetParam());
  int number = 0;
  for (const Sample& sample : samples_of(op)) {
    SCOPED_TRACE("sample " + std::to_string(number++));
    check_second_gradients(op, sample);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ops, SecondGradient,
    testing::Values("add", "sub", "rsub", "mul", "div", "neg", "exp", "log", "sqrt", "abs", "pow",
                    "square", "clamp", "where", "reciprocal", "rsqrt", "sin", "cos", "tan", "erf",
                    "log2", "log10", "log1p", "expm1", "floor", "sign", "asin", "acos", "atan",
                    "exp2", "mm", "bmm", "baddbmm", "addmm", "matmul", "linear", "dot", "mv",
                    "einsum", "view", "reshape", "flatten", "transpose", "t", "permute", "expand",
                    "unsqueeze", "squeeze", "select", "narrow", "cat", "stack", "sum", "mean",
                    "logsumexp", "relu", "sigmoid", "tanh", "leaky_relu", "hardtanh", "relu6",
                    "softmax", "log_softmax", "nll_loss", "mse_loss", "l1_loss", "masked_fill",
                    "gather", "scatter_add", "clone", "contiguous", "normalize", "rms_norm",
                    "outer", "softsign", "repeat_interleave", "remainder", "diagonal",
                    "take_along_dim", "silu", "gelu", "layer_norm", "flip", "roll", "triu", "tril",
                    "pad", "cumsum", "max", "min", "sort", "topk", "unfold", "broadcast_to",
                    "ravel", "reshape_as", "batch_norm", "group_norm", "binary_cross_entropy",
                    "binary_cross_entropy_with_logits", "var", "std", "index_select", "embedding",
                    "interpolate", "maximum", "minimum", "softplus", "logsigmoid", "mish", "conv2d",
                    "repeat", "conv1d", "elu", "selu", "celu", "hardswish", "hardshrink",
                    "softshrink", "threshold", "prelu", "glu", "smooth_l1_loss", "huber_loss",
                    "soft_margin_loss", "prod", "cumprod", "amax", "amin", "norm",
                    "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "conv3d", "scatter",
                    "index_add", "index", "masked_select"),
    [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace ohm::test
