// cuDNN's recurrent layers are one call, and compute what the steps compute.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/nn/deep_copy.h"
#include "runtime/nn/recurrent.h"
#include "tests/support/test_machine.h"

namespace ohm::nn {
namespace {

struct Network {
  RecurrentKind kind = RecurrentKind::lstm;
  RecurrentOptions options;
  bool is_packed = false;
};

constexpr std::int64_t kSteps = 3;
constexpr std::int64_t kBatch = 2;
constexpr std::int64_t kInputs = 4;
constexpr std::int64_t kHidden = 5;

class CudnnRecurrent : public testing::Test {
 protected:
  static ModulePtr made(const Network& network) {
    Context::current().seed(7);
    return std::make_shared<Recurrent>(network.kind, kInputs, kHidden, network.options,
                                       ParameterOptions{Device::cuda(0), DType::float64});
  }

  static Tensor input_of(const Network& network) {
    Context::current().seed(8);
    const Shape shape = network.is_packed                ? Shape{5, kInputs}
                        : network.options.is_batch_first ? Shape{kBatch, kSteps, kInputs}
                                                         : Shape{kSteps, kBatch, kInputs};
    Tensor input = randn(shape, {DType::float64, Device::cuda(0)});
    input.set_requires_grad(true);
    return input;
  }

  static std::vector<Tensor> called(const Network& network, Module& module, const Tensor& input) {
    std::vector<Value> given{Value(input)};
    if (network.is_packed) given = {std::vector<Tensor>{input}, std::vector<double>{2, 2, 1}};
    const Value result = module.call(given);
    return std::get<std::vector<Tensor>>(result);
  }

  // Results, and gradients of the input and of all weights.
  static std::vector<double> computed(const Network& network, Module& module) {
    const Tensor input = input_of(network);
    const std::vector<Tensor> results = called(network, module, input);
    std::vector<Tensor> slopes;
    std::vector<double> values;
    const auto append = [&](const Tensor& tensor) {
      const std::vector<double> more = to_doubles(tensor);
      values.insert(values.end(), more.begin(), more.end());
    };
    for (const Tensor& result : results) {
      append(result);
      slopes.push_back(full(result.shape(), 0.5, options_of(result)));
    }
    backward(results, slopes, GraphRetention::release);
    append(input.grad());
    for (const Tensor& parameter : module.parameters()) append(parameter.grad());
    return values;
  }

  void expect_the_steps_values(const Network& network) {
    context().cudnn_enabled = true;
    const ModulePtr module = made(network);
    const std::vector<double> values = computed(network, *module);
    context().cudnn_enabled = false;
    const std::vector<double> expected = computed(network, *made(network));
    ASSERT_EQ(values.size(), expected.size());
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], 1e-12) << i;
  }

  Context& context() { return machine_.context(); }

  test::TestMachine machine_{{.values = ValueMode::keeps_values}};
};

TEST_F(CudnnRecurrent, ComputesWhatTheStepsDo) {
  for (const RecurrentKind kind :
       {RecurrentKind::tanh, RecurrentKind::relu, RecurrentKind::gru, RecurrentKind::lstm}) {
    expect_the_steps_values({kind, {}});
    expect_the_steps_values({kind, {.layers = 2, .has_bias = false, .is_batch_first = true}});
    expect_the_steps_values({kind, {.layers = 2, .is_bidirectional = true}});
    expect_the_steps_values({kind, {.layers = 2, .is_bidirectional = true}, true});
  }
}

TEST_F(CudnnRecurrent, WeightsLieInOneBuffer) {
  const ModulePtr module = made({});
  for (const Tensor& weight : module->parameters()) {
    EXPECT_EQ(&weight.storage(), &module->parameters()[0].storage());
  }
  const ModulePtr copy = deep_copy(*module);
  EXPECT_NE(&copy->parameters()[0].storage(), &copy->parameters()[1].storage());
  EXPECT_EQ(computed({}, *module), computed({}, *copy)) << "in a buffer for each call";
  std::dynamic_pointer_cast<Recurrent>(copy)->flatten_parameters();
  EXPECT_EQ(&copy->parameters()[0].storage(), &copy->parameters()[1].storage());
}

TEST_F(CudnnRecurrent, DropoutIsTheSameInBackward) {
  const Network network{RecurrentKind::lstm, {.layers = 2, .dropout = 0.5}};
  const ModulePtr module = made(network);
  const Tensor input = input_of(network);
  const PhiloxGenerator host = context().host.generator;
  const std::vector<Tensor> results = called(network, *module, input);
  EXPECT_EQ(host.offset, context().host.generator.offset) << "the host's numbers are its own";
  const std::vector<Tensor> again = called(network, *module, input);
  EXPECT_NE(to_doubles(results[0]), to_doubles(again[0]));
  module->set_training(false);
  const std::vector<Tensor> all = called(network, *module, input);
  EXPECT_NE(to_doubles(results[0]), to_doubles(all[0]));
  EXPECT_THROW(backward({all[0]}, {ones_like(all[0])}, GraphRetention::release),
               std::invalid_argument);
}

TEST_F(CudnnRecurrent, KeepsWhatItIsAssumedToKeepForBackward) {
  context().gpus[0].has_recurrent_reserve = true;
  const ModulePtr module = made({});
  const Tensor input = input_of({});
  const auto before = machine_.allocated_bytes();
  const std::vector<Tensor> results = called({}, *module, input);
  // The reserve is 256 bytes and 5 hidden sizes of each row.
  constexpr std::int64_t kReserve =
      256 + kSteps * kBatch * 5 * kHidden * std::int64_t{sizeof(double)};
  EXPECT_GE(machine_.allocated_bytes() - before, kReserve);
  const auto with_graph = machine_.allocated_bytes();
  backward({results[0]}, {ones_like(results[0])}, GraphRetention::release);
  for (const Tensor& weight : module->parameters()) weight.set_grad(Tensor());
  input.set_grad(Tensor());
  EXPECT_LE(machine_.allocated_bytes() + kReserve, with_graph);
}

}  // namespace
}  // namespace ohm::nn
