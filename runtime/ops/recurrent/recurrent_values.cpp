#include "runtime/ops/recurrent/recurrent_values.h"

#include <utility>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

/// The host's generator draws other numbers while the guard lives: those of the network's dropout.
class DropoutDraws {
 public:
  explicit DropoutDraws(const PhiloxGenerator& generator)
      : previous_(std::exchange(Context::current().host.generator, generator)) {}
  ~DropoutDraws() { Context::current().host.generator = previous_; }
  DropoutDraws(const DropoutDraws&) = delete;
  DropoutDraws& operator=(const DropoutDraws&) = delete;

 private:
  PhiloxGenerator previous_;
};

Tensor on_host(const Tensor& tensor, bool requires_grad) {
  if (!tensor.defined()) return tensor;
  Tensor copy = transfer(detached_alias(tensor), Device::cpu());
  copy.set_requires_grad(requires_grad);
  return copy;
}

RecurrentInputs inputs_on_host(const RecurrentInputs& inputs, bool require_grad) {
  RecurrentInputs copies{on_host(inputs.input, require_grad),
                         on_host(inputs.hidden, require_grad),
                         on_host(inputs.cell, require_grad),
                         {}};
  for (const Tensor& weight : inputs.weights) {
    copies.weights.push_back(on_host(weight, require_grad));
  }
  return copies;
}

}  // namespace

void compute_on_host(const RecurrentInputs& inputs, const CudnnRecurrent& network,
                     const PhiloxGenerator& draws, const std::vector<Tensor>& targets) {
  if (!targets.front().has_values()) return;
  const NoGradGuard no_graph;
  const DropoutDraws guard(draws);
  const std::vector<Tensor> results = network.compute(inputs_on_host(inputs, false));
  for (std::size_t i = 0; i < results.size(); ++i) copy_into(targets[i], results[i]);
}

RecurrentGradients gradients_on_host(const RecurrentInputs& inputs, const CudnnRecurrent& network,
                                     const PhiloxGenerator& draws,
                                     const std::vector<Tensor>& grads) {
  const GradModeGuard with_graph(true);
  const DropoutDraws guard(draws);
  const RecurrentInputs leaves = inputs_on_host(inputs, true);
  const std::vector<Tensor> results = network.compute(leaves);
  std::vector<Tensor> root_grads;
  for (std::size_t i = 0; i < results.size(); ++i) root_grads.push_back(on_host(grads[i], false));
  std::vector<Tensor> wanted{leaves.input, leaves.hidden};
  if (leaves.cell.defined()) wanted.push_back(leaves.cell);
  const std::vector<Tensor> weights = defined_ones(leaves.weights);
  wanted.insert(wanted.end(), weights.begin(), weights.end());
  std::vector<Tensor> found =
      gradients(results, std::move(root_grads), wanted, {.allows_unused = true});
  RecurrentGradients sorted;
  auto take = [place = found.begin()]() mutable { return std::move(*place++); };
  sorted.input = take();
  sorted.hidden = take();
  if (leaves.cell.defined()) sorted.cell = take();
  for (const Tensor& weight : leaves.weights) {
    sorted.weights.push_back(weight.defined() ? take() : Tensor());
  }
  return sorted;
}

}  // namespace ohm::ops
