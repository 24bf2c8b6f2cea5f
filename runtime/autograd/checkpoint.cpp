#include "runtime/autograd/checkpoint.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/autograd_state.h"
#include "runtime/autograd/custom_function.h"
#include "runtime/autograd/engine.h"
#include "runtime/autograd/forward_environment.h"
#include "runtime/autograd/recomputation.h"
#include "runtime/autograd/saving_node.h"
#include "runtime/autograd/variable.h"
#include "runtime/autograd/view_tracking.h"
#include "runtime/tensor/context.h"

namespace ohm {
namespace {

// Stands in the graph for a function that ran without one.
class CheckpointNode final : public SavingNode {
 public:
  CheckpointNode(CheckpointedFunction function, const std::vector<Tensor>& inputs,
                 bool keeps_random_state)
      : SavingNode("CheckpointFunctionBackward", next_sequence_number()),
        function_(std::move(function)),
        environment_(inputs, keeps_random_state) {
    EdgeList edges;
    SavedList saved;
    for (const Tensor& input : inputs) {
      edges.push_back(gradient_edge(input));
      saved.emplace_back(input, SavedTensor::Kind::input);
    }
    set_python();
    set_edges(std::move(edges));
    set_saved(std::move(saved));
  }

  // The gradients come back in those of the detached inputs; gradients of parameters are
  // accumulated on the way.
  TensorList apply(TensorList& grads) override {
    if (autograd_state().gradient_selection != nullptr) {
      throw std::invalid_argument(
          "[checkpoint] when use_reentrant is true, checkpoint is incompatible with "
          "autograd.grad: use backward(), or use_reentrant = false");
    }
    const std::vector<Tensor> inputs = detached_inputs();
    const std::vector<Tensor> outputs = run_again(inputs);
    std::vector<Tensor> roots;
    std::vector<Tensor> root_grads;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].requires_grad()) continue;
      roots.push_back(outputs[i]);
      root_grads.push_back(gradient_of(i, grads));
    }
    if (roots.empty()) {
      throw std::invalid_argument(
          "[checkpoint] no output of the function requires a gradient: the checkpoint is not "
          "needed");
    }
    backward(roots, std::move(root_grads), GraphRetention::release);
    TensorList results;
    for (const Tensor& input : inputs) results.push_back(input.grad());
    return results;
  }

 private:
  ~CheckpointNode() override = default;

  std::vector<Tensor> detached_inputs() const {
    std::vector<Tensor> inputs;
    for (const SavedTensor& saved : saved()) {
      const Tensor input = saved.unpack(*this);
      inputs.push_back(detach(input));
      if (input.requires_grad()) inputs.back().set_requires_grad(true);
    }
    return inputs;
  }

  std::vector<Tensor> run_again(const std::vector<Tensor>& inputs) const {
    const ForwardEnvironment::Scope environment(environment_);
    std::vector<Tensor> outputs = function_(inputs);
    if (outputs.size() == this->inputs().size()) return outputs;
    throw std::invalid_argument(
        fmt::format("[checkpoint] the function returned {} tensors, but when it ran again {}",
                    this->inputs().size(), outputs.size()));
  }

  // An output that was not used has a gradient of zeros.
  Tensor gradient_of(std::size_t output, const TensorList& grads) const {
    if (grads[output].defined()) return grads[output];
    const TensorMeta& meta = inputs()[output];
    return zeros(meta.shape, {meta.dtype, meta.device});
  }

  CheckpointedFunction function_;
  ForwardEnvironment environment_;
};

bool is_differentiable(const Tensor& output) { return is_differentiable(output.dtype()); }

std::vector<Tensor> checkpoint_with_nested_backward(const CheckpointedFunction& function,
                                                    const std::vector<Tensor>& inputs,
                                                    const CheckpointOptions& options) {
  const bool is_recorded = Context::current().state.grad_enabled &&
                           std::any_of(inputs.begin(), inputs.end(),
                                       [](const Tensor& input) { return input.requires_grad(); });
  IntrusivePtr<Node> node;
  if (is_recorded) {
    node = IntrusivePtr<Node>(new CheckpointNode(function, inputs, options.preserves_random_state));
  }
  std::vector<Tensor> outputs;
  {
    const NoGradGuard no_grad;
    outputs = function(inputs);
  }
  if (!is_recorded) return outputs;
  const bool is_alone = std::count_if(outputs.begin(), outputs.end(), is_differentiable) == 1;
  for (Tensor& output : outputs) {
    output = own_output(output, inputs);
    const std::uint32_t number = node->add_input(output);
    if (!is_differentiable(output)) continue;
    set_history(output, node, number);
    set_view_origin(output, is_alone ? ViewOrigin::custom_function : ViewOrigin::several_outputs);
  }
  return outputs;
}

}  // namespace

std::vector<Tensor> checkpoint(const CheckpointedFunction& function,
                               const std::vector<Tensor>& inputs,
                               const CheckpointOptions& options) {
  if (options.variant == Checkpointing::reentrant) {
    return checkpoint_with_nested_backward(function, inputs, options);
  }
  if (!Context::current().state.grad_enabled) return function(inputs);
  return checkpoint_by_recomputation(function, inputs, options);
}

}  // namespace ohm
