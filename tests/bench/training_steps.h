// The nets whose training steps are timed, on whatever the GPU is.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/nn/linear.h"
#include "runtime/nn/new_parameter.h"
#include "runtime/nn/sequential.h"
#include "runtime/ops/activation/activation.h"
#include "runtime/ops/loss/loss_cross_entropy.h"
#include "runtime/optim/sgd.h"

namespace ohm::bench {

inline constexpr TensorOptions kOnGpu{DType::float32, Device::cuda(0)};

inline nn::ModulePtr mlp(const std::vector<std::int64_t>& widths) {
  std::vector<nn::ModulePtr> layers;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    if (i > 0) layers.push_back(std::make_shared<nn::FunctionModule>("ReLU", &ops::relu));
    layers.push_back(std::make_shared<nn::Linear>(widths[i], widths[i + 1], true,
                                                  nn::ParameterOptions{Device::cuda(0)}));
  }
  return std::make_shared<nn::Sequential>(std::move(layers));
}

/// One batch for a net that tells `classes` apart.
struct Batch {
  Tensor x;
  Tensor y;
};
inline Batch random_batch(std::int64_t size, std::int64_t width, std::int64_t classes) {
  return {randn({size, width}, kOnGpu),
          randint(0, classes, {size}, {DType::int64, Device::cuda(0)})};
}

/// Calls `wait` after each step, which has to be over then.
template <class Wait>
void train(benchmark::State& state, const nn::ModulePtr& net, const Batch& batch, Wait&& wait) {
  optim::Sgd sgd(net->parameters(), {.form = optim::Form::foreach_list});
  for (auto _ : state) {
    sgd.zero_grad(true);
    const Tensor loss = ops::cross_entropy(net->forward(batch.x), batch.y, std::nullopt, -100,
                                           ops::Reduction::mean);
    backward(loss);
    sgd.step();
    wait();
  }
}

/// Values are there as soon as an op returns.
inline void train(benchmark::State& state, const nn::ModulePtr& net, const Batch& batch) {
  train(state, net, batch, [] {});
}

}  // namespace ohm::bench
