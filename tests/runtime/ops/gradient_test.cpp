// Every op's gradient against central differences, in float64, for the samples in its row.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/ops/activation/softmax.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/loss/loss_ctc.h"
#include "runtime/ops/op_list.h"
#include "runtime/tensor/context.h"
#include "tests/support/op_samples.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

constexpr double kStep = 1e-6;
constexpr double kTolerance = 1e-6;

// Ops that draw random numbers must draw the same ones at each call.
std::vector<Tensor> outputs(const ops::OpDef& op, const Sample& sample) {
  Context::current().seed(7);
  return tensors_in(call_op(op, sample));
}

// A fixed direction in the space of outputs: the gradient checked is that of weights · outputs.
Tensor weights_for(const Tensor& output, std::size_t number) {
  std::vector<double> values;
  const std::int64_t count = output.numel();
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(std::sin(1.0 + static_cast<double>(i) + 10.0 * static_cast<double>(number)));
  }
  return from_values(values, output.shape(), options_of(output));
}

double weighted_sum(const std::vector<Tensor>& results) {
  double sum = 0;
  for (std::size_t number = 0; number < results.size(); ++number) {
    if (!is_differentiable(results[number].dtype())) continue;
    const std::vector<double> weights = to_doubles(weights_for(results[number], number));
    const std::vector<double> values = to_doubles(results[number]);
    for (std::size_t i = 0; i < values.size(); ++i) sum += weights[i] * values[i];
  }
  return sum;
}

void run_backward(const ops::OpDef& op, const Sample& sample) {
  require_gradients(op, sample);
  std::vector<Tensor> roots;
  std::vector<Tensor> grads;
  const std::vector<Tensor> results = outputs(op, sample);
  for (std::size_t number = 0; number < results.size(); ++number) {
    if (!results[number].requires_grad()) continue;
    roots.push_back(results[number]);
    grads.push_back(weights_for(results[number], number));
  }
  ASSERT_FALSE(roots.empty()) << "no output has a gradient";
  backward(roots, grads, GraphRetention::release);
}

double slope_at(const ops::OpDef& op, const Sample& sample, double& element) {
  const double original = element;
  element = original + kStep;
  const double above = weighted_sum(outputs(op, sample));
  element = original - kStep;
  const double below = weighted_sum(outputs(op, sample));
  element = original;
  return (above - below) / (2 * kStep);
}

void check_sample(const ops::OpDef& op, const Sample& sample) {
  const Sample checked = converted(sample, DType::float64, Device::cpu());
  run_backward(op, checked);
  const Sample plain = converted(sample, DType::float64, Device::cpu());
  const std::vector<std::size_t> positions = differentiable(op, sample);
  ASSERT_FALSE(positions.empty()) << "the sample has nothing to differentiate by";
  for (const std::size_t position : positions) {
    const std::vector<Tensor> leaves = tensors_in(checked[position]);
    const std::vector<Tensor> inputs = tensors_in(plain[position]);
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      ASSERT_TRUE(leaves[i].grad().defined()) << "no gradient for " << op.params[position].name;
      const std::vector<double> gradient = to_doubles(leaves[i].grad());
      for (std::size_t k = 0; k < gradient.size(); ++k) {
        const double expected = slope_at(op, plain, inputs[i].data<double>()[k]);
        EXPECT_NEAR(gradient[k], expected, kTolerance * std::max(1.0, std::abs(expected)))
            << op.params[position].name << ", element " << k;
      }
    }
  }
}

// PyTorch's gradient of the CTC loss is that of results of log_softmax alone.
std::vector<std::string> ops_of_any_numbers() {
  std::vector<std::string> names = ops_with_samples();
  names.erase(std::remove(names.begin(), names.end(), "ctc_loss"), names.end());
  return names;
}

class OpTest : public testing::TestWithParam<std::string> {
 private:
  TestMachine machine_{{.values = ValueMode::keeps_values}};
};

class OpGradient : public OpTest {};

TEST_P(OpGradient, EqualsCentralDifferences) {
  const ops::OpDef& op = *ops::find_op(GetParam());
  int number = 0;
  for (const Sample& sample : samples_of(op)) {
    SCOPED_TRACE("sample " + std::to_string(number++));
    check_sample(op, sample);
  }
}

bool is_in_place(const ops::OpDef& op) { return op.info.name.back() == '_'; }

// The op of the same name that makes a new tensor; nullptr when there is none.
const ops::OpDef* out_of_place(const ops::OpDef& op) {
  return ops::find_op(op.info.name.substr(0, op.info.name.size() - 1));
}

std::vector<std::string> in_place_ops() {
  std::vector<std::string> names;
  for (const ops::OpDef& op : ops::all_ops()) {
    const ops::OpDef* const other = is_in_place(op) ? out_of_place(op) : nullptr;
    if (other != nullptr && has_samples(*other)) names.emplace_back(op.info.name);
  }
  return names;
}

std::vector<double> concatenated_gradients(const ops::OpDef& op, const Sample& sample) {
  std::vector<double> gradients;
  for (const std::size_t position : differentiable(op, sample)) {
    for (const Tensor& leaf : tensors_in(sample[position])) {
      const std::vector<double> values = to_doubles(leaf.grad());
      gradients.insert(gradients.end(), values.begin(), values.end());
    }
  }
  return gradients;
}

class InPlace : public OpTest {};

TEST_P(InPlace, ComputesWhatTheFormWithAResultComputes) {
  const ops::OpDef& op = *ops::find_op(GetParam());
  const ops::OpDef& counterpart = *out_of_place(op);
  for (const Sample& given : samples_of(counterpart)) {
    const Sample sample = converted(given, DType::float64, Device::cpu());
    const Sample copy = converted(given, DType::float64, Device::cpu());
    const Tensor expected = outputs(counterpart, copy)[0];
    if (!(expected.shape() == std::get<Tensor>(given[0]).shape()))
      continue;  // it would have to grow
    run_backward(counterpart, copy);
    require_gradients(op, sample);
    Sample written = sample;
    written[0] = ops::clone(std::get<Tensor>(sample[0]));
    const Tensor result = outputs(op, written)[0];
    EXPECT_TRUE(result.is_same(std::get<Tensor>(written[0])));
    EXPECT_EQ(to_doubles(result), to_doubles(expected));
    backward({result}, {weights_for(result, 0)}, GraphRetention::release);
    EXPECT_EQ(concatenated_gradients(op, sample), concatenated_gradients(op, copy));
  }
}

INSTANTIATE_TEST_SUITE_P(AllOps, InPlace, testing::ValuesIn(in_place_ops()),
                         [](const auto& instance) { return instance.param; });

TEST(OpSamples, OnlyOpsWithoutAGradientHaveNone) {
  const std::set<std::string_view> without_gradient = {"eq",
                                                       "ne",
                                                       "lt",
                                                       "le",
                                                       "gt",
                                                       "ge",
                                                       "isclose",
                                                       "isfinite",
                                                       "isnan",
                                                       "isinf",
                                                       "any",
                                                       "all",
                                                       "argmax",
                                                       "argmin",
                                                       "argsort",
                                                       "one_hot",
                                                       "logical_not",
                                                       "logical_and",
                                                       "logical_or",
                                                       "bitwise_not",
                                                       "bitwise_and",
                                                       "bitwise_or",
                                                       "floor_divide",
                                                       "multinomial",
                                                       "bernoulli",
                                                       "normal",
                                                       "nonzero",
                                                       "logical_xor",
                                                       "bitwise_xor",
                                                       "gumbel_softmax",  // draws anew each time
                                                       "heaviside",
                                                       "count_nonzero",
                                                       "searchsorted",
                                                       "bucketize",
                                                       "isin",
                                                       "bincount",
                                                       "histc",
                                                       "argwhere",
                                                       "isposinf",
                                                       "isneginf",
                                                       "unique",
                                                       "unique_consecutive",
                                                       "gcd",
                                                       "lcm",
                                                       "bitwise_left_shift",
                                                       "bitwise_right_shift"};
  for (const ops::OpDef& op : ops::all_ops()) {
    if (has_samples(op) || is_in_place(op) || op.exposure == ops::kUtility) continue;
    EXPECT_TRUE(without_gradient.contains(op.info.name)) << op.info.name;
  }
}

INSTANTIATE_TEST_SUITE_P(AllOps, OpGradient, testing::ValuesIn(ops_of_any_numbers()),
                         [](const auto& instance) { return instance.param; });

TEST(CtcLossGradient, EqualsCentralDifferencesOfWhatLogSoftmaxGives) {
  const TestMachine machine{{.values = ValueMode::keeps_values}};
  const Sample sample = samples_of(*ops::find_op("ctc_loss"))[0];
  const auto loss_of = [&](const Tensor& scores) {
    return ops::ctc_loss(ops::log_softmax(scores, 2, std::nullopt), std::get<Tensor>(sample[1]),
                         std::get<Tensor>(sample[2]), std::get<Tensor>(sample[3]), 0,
                         ops::Reduction::mean, false);
  };
  const Tensor scores = ops::clone(std::get<Tensor>(sample[0]));
  const Tensor leaf = ops::clone(scores);
  leaf.set_requires_grad(true);
  backward({loss_of(leaf)}, {Tensor()}, GraphRetention::release);
  const std::vector<double> gradient = to_doubles(leaf.grad());
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    double& element = scores.data<double>()[i];
    const double original = element;
    element = original + kStep;
    const double above = loss_of(scores).item();
    element = original - kStep;
    const double below = loss_of(scores).item();
    element = original;
    EXPECT_NEAR(gradient[i], (above - below) / (2 * kStep), kTolerance) << "element " << i;
  }
}

}  // namespace
}  // namespace ohm::test
