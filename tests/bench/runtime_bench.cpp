// What one eager op, one small training step and a large size-only step cost.

#include <benchmark/benchmark.h>

#include "runtime/autograd/engine.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/nn/linear.h"
#include "runtime/nn/sequential.h"
#include "runtime/ops/activation.h"
#include "runtime/ops/loss_cross_entropy.h"
#include "runtime/ops/pointwise.h"
#include "runtime/optim/adam.h"
#include "runtime/optim/sgd.h"
#include "runtime/tensor/factories.h"
#include "tests/support/test_machine.h"

namespace ohm {
namespace {

constexpr TensorOptions kOnGpu{DType::float32, Device::cuda(0)};

nn::ModulePtr mlp(const std::vector<std::int64_t>& widths) {
  std::vector<nn::ModulePtr> layers;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    if (i > 0) layers.push_back(std::make_shared<nn::FunctionModule>("ReLU", &ops::relu));
    layers.push_back(std::make_shared<nn::Linear>(widths[i], widths[i + 1], true,
                                                  nn::ParameterOptions{Device::cuda(0)}));
  }
  return std::make_shared<nn::Sequential>(std::move(layers));
}

void add_of_four_elements(benchmark::State& state) {
  test::TestMachine machine({.values = ValueMode::keeps_values});
  const Tensor a = randn({4}, kOnGpu);
  const Tensor b = randn({4}, kOnGpu);
  for (auto _ : state) benchmark::DoNotOptimize(ops::add(a, b));
}
BENCHMARK(add_of_four_elements);

void train(benchmark::State& state, const nn::ModulePtr& net, const Tensor& x, const Tensor& y) {
  optim::Sgd sgd(net->parameters(), {.form = optim::Form::foreach_list});
  for (auto _ : state) {
    sgd.zero_grad(true);
    const Tensor loss =
        ops::cross_entropy(net->forward(x), y, std::nullopt, -100, ops::Reduction::mean);
    backward(loss);
    sgd.step();
  }
}

void small_training_step(benchmark::State& state) {
  test::TestMachine machine({.values = ValueMode::keeps_values});
  train(state, mlp({8, 8, 8}), randn({4, 8}, kOnGpu),
        randint(0, 8, {4}, {DType::int64, Device::cuda(0)}));
}
BENCHMARK(small_training_step);

void two_layer_training_step(benchmark::State& state) {
  test::TestMachine machine({.values = ValueMode::keeps_values});
  train(state, mlp({1000, 2000, 10}), randn({32, 1000}, kOnGpu),
        randint(0, 10, {32}, {DType::int64, Device::cuda(0)}));
}
BENCHMARK(two_layer_training_step)->Unit(benchmark::kMillisecond);

void size_only_training_step(benchmark::State& state) {
  test::TestMachine machine;
  const std::vector<std::int64_t> widths(static_cast<std::size_t>(state.range(0)) + 1, 512);
  train(state, mlp(widths), randn({32, 512}, kOnGpu),
        randint(0, 8, {32}, {DType::int64, Device::cuda(0)}));
  state.counters["layers"] = static_cast<double>(state.range(0));
}
BENCHMARK(size_only_training_step)->Arg(10)->Arg(100)->Arg(1000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace ohm
